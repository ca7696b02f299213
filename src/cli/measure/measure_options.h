// SPDX-License-Identifier: Apache-2.0
// The options of the verbs that joulecast-measure obeys; `joulecast` completes them and shows their help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"

namespace joulecast::cli {

// Which sensors: of measure, watch and doctor.
struct SensorChoice {
  std::optional<std::string> gpu;
  std::vector<std::string> meters;
  std::optional<double> interval_ms;
  std::optional<std::string> replay;
};

struct MeasureOptions {
  SensorChoice sensors;
  std::optional<std::string> output, summary;
  bool force = false;
  std::size_t repeats = 1, warmups = 0;
  double baseline_s = 0;
  bool keep_going = false, no_hook = false, quiet = false, json = false, csv = false, progress = false,
       calibrated = false;
};
void define_measure_options(CLI::App& app, MeasureOptions& options);

struct AnalyzeOptions {
  std::vector<std::string> runs;
  std::string phase;
  bool json = false, sampling = false, steady = false, curves = false, save = false, calibrated = false;
  std::optional<double> idle_power_w;
  std::optional<double> expected_interval_ms;
  std::size_t iterations = 0;  // 0: not asked for
  std::string per_iteration;   // name of phases; empty: not asked for
  double rate_hz = 10;
  std::string resample = "linear";
  std::string output = "-";  // of the curves
  std::vector<std::string> fit_calibration;
};
void define_analyze_options(CLI::App& app, AnalyzeOptions& options);

struct ExportRunOptions {
  std::string run, as, output = "-";
  std::optional<std::string> merge, columns, utc_offset;
  bool samples = false, force = false;
};
void define_export_options(CLI::App& app, ExportRunOptions& options);

struct ReportOptions {
  std::vector<std::string> runs;
  std::optional<std::string> output;
  bool force = false, no_charts = false;
};
void define_report_options(CLI::App& app, ReportOptions& options);

struct WatchOptions {
  SensorChoice sensors;
  double delay_s = 1;
  std::size_t count = 0;  // 0: until stopped
  bool json = false;
};
void define_watch_options(CLI::App& app, WatchOptions& options);

struct DoctorOptions {
  SensorChoice sensors;
  bool json = false;
};
void define_doctor_options(CLI::App& app, DoctorOptions& options);

struct MarkOptions {
  std::string what, name;
  std::vector<std::string> details;
};
void define_mark_options(CLI::App& app, MarkOptions& options);

}  // namespace joulecast::cli
