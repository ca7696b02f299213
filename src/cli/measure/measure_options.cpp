// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/measure_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <string>
#include <system_error>

#include "cli/verbs.h"

namespace joulecast::cli {
namespace {

// CLI11's own check lets "nan" pass.
std::function<std::string(const std::string&)> between(double low, double high) {
  return [low, high](const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc{} && end == text.data() + text.size() && value >= low && value <= high;
    return good ? std::string() : fmt::format("'{}' is no number from {} to {}", text, low, high);
  };
}

void add_sensors(CLI::App& app, SensorChoice& sensors) {
  app.add_option("--gpu", sensors.gpu,
                 "GPUs: indices, beginnings of UUIDs, PCI ids, MIG UUIDs, or all; without it those CUDA shows")
      ->type_name("LIST")
      ->envname("JOULECAST_GPU");
  app.add_option("--meter", sensors.meters, "a command that prints watts, each second (repeatable)")
      ->type_name("[NAME=]CMD")
      ->expected(1)
      ->take_all();
  app.add_option("--replay", sensors.replay, "play a recording in the place of all sensors")->type_name(kFile);
  app.add_option(
         "-I,--interval", sensors.interval_ms,
         "between readings of power, in ms, and of energy counters too up to 100; without it half of the period "
         "the sensor is seen to have")
      ->type_name("MS")
      ->envname("JOULECAST_INTERVAL")
      ->check(between(1.0, 60'000.0));
}

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print JSON")->option_text(" ");
}

void add_calibrated(CLI::App& app, bool& calibrated) {
  app.add_flag("--calibrated", calibrated, "correct by the cards' stored lines (analyze --fit-calibration --save)")
      ->option_text(" ");
}

void add_curves(CLI::App& app, AnalyzeOptions& options) {
  auto* curves =
      app.add_flag("--curves", options.curves,
                   "write mean power and energy over time as CSV, with deviation and 95 % band over all runs given")
          ->option_text(" ");
  app.add_option("--rate", options.rate_hz, "moments a second of the curves")
      ->type_name("HZ")
      ->check(CLI::Range(0.001, 1e6).description(""))
      ->capture_default_str()
      ->needs(curves);
  add_choice(
      app, "--resample", options.resample,
      "between readings; linear is safer: a cubic swings beyond the readings at each change of load (power below "
      "0 is possible), and what it adds there nobody measured. monotone: a cubic that stays between neighbours",
      {"linear", "cubic", "monotone"})
      ->capture_default_str()
      ->needs(curves);
  app.add_option("-o,--output", options.output,
                 "file for the curves, replaced where it is there; - is standard output, without the summary")
      ->type_name(kFile)
      ->capture_default_str()
      ->needs(curves);
}

void add_calibration(CLI::App& app, AnalyzeOptions& options) {
  auto* fit = app.add_option("--fit-calibration", options.fit_calibration,
                             "fit the line between a card's readings and a meter's, over steady stretches (repeatable)")
                  ->type_name("GPU=METER")
                  ->expected(1)
                  ->take_all();
  app.add_flag("--save", options.save, "store the line for the card in $XDG_CONFIG_HOME/joulecast/calibration.toml")
      ->option_text(" ")
      ->needs(fit);
  add_calibrated(app, options.calibrated);
}

}  // namespace

void define_measure_options(CLI::App& app, MeasureOptions& options) {
  // Everything from the first word that is no option of ours belongs to the command, its options too.
  app.prefix_command();
  app.description(app.get_description() + "\njoulecast measure [OPTIONS] [--] COMMAND [ARGUMENTS]\n");
  add_sensors(app, options.sensors);
  app.add_option("-o,--output", options.output,
                 "record the run there, readable whatever happens; {rank} is the rank's number in a job of many")
      ->type_name(kFile);
  app.add_flag("-f,--force", options.force, "replace an existing recording")->option_text(" ");
  auto* summary = app.add_option("--summary", options.summary,
                                 "file for the summary, replaced where it is there, instead of standard error, where "
                                 "the command's own messages go")
                      ->type_name(kFile);
  add_count(app, "-r,--repeat", options.repeats, "run the command that often; mean and deviation are given");
  add_count(app, "-w,--warmup", options.warmups, "runs before the measured ones, without output");
  app.add_option("--baseline", options.baseline_s, "record that long before, idle, and tell idle energy apart")
      ->type_name("SECONDS")
      ->check(between(0.0, 86'400.0));
  app.add_flag("-i,--ignore-failure", options.keep_going, "go on with repeats after one that failed")->option_text(" ");
  app.add_flag("--no-hook", options.no_hook, "do not look for epochs and batches in Python programs")->option_text(" ");
  app.add_flag("--progress", options.progress,
               "say how far the run is, and what epochs are still to take; a line a second where that is no terminal")
      ->option_text(" ");
  auto* quiet = app.add_flag("-q,--quiet", options.quiet, "no summary: only the recording")->option_text(" ");
  add_calibrated(app, options.calibrated);
  add_json(app, options.json);
  app.add_flag("--csv", options.csv, "print CSV: a line a device, run and source of its energy")
      ->option_text(" ")
      ->excludes("--json");
  quiet->excludes("--json")->excludes("--csv")->excludes(summary);
  add_examples(app, {"joulecast measure -- python train.py", "joulecast measure -r 5 -w 1 -- ./infer --batch 32",
                     "joulecast measure --baseline 60 -o run.jcrun -- ./train"});
}

void define_analyze_options(CLI::App& app, AnalyzeOptions& options) {
  app.add_option("RUN", options.runs, "recordings, or what export reads; of the ranks of one job, all of them")
      ->required()
      ->type_name(kFile);
  app.add_option("--phase", options.phase, "list each phase of that name")->type_name("NAME");
  app.add_flag("--sampling", options.sampling, "list rate, jitter, gaps and losses of each source")->option_text(" ");
  app.add_flag("--steady", options.steady,
               "also without start-up and tail, by change points of power; says what was cut, and the readings outside "
               "three deviations")
      ->option_text(" ");
  app.add_option("--idle-power", options.idle_power_w, "of a GPU, where no baseline was recorded: gives the idle share")
      ->type_name("W")
      ->check(CLI::Range(0.0, 10'000.0).description(""));
  app.add_option(
         "--expected-interval", options.expected_interval_ms,
         "between readings of power, as it was asked for (nvidia-smi -lms): says how many are missing, which a log "
         "does not tell where they are missing regularly")
      ->type_name("MS")
      ->check(between(1.0, 3'600'000.0));
  auto* iterations = add_count(app, "--iterations", options.iterations,
                               "iterations that the command makes: time, energy and errors of one");
  iterations->option_text("N")->check(between(1, 1e6));
  app.add_option("--per-iteration", options.per_iteration, "the same for marked phases of that name, such as batch")
      ->excludes(iterations)
      ->option_text("NAME");
  add_curves(app, options);
  add_calibration(app, options);
  add_json(app, options.json);
  add_examples(app, {"joulecast analyze run.jcrun --phase epoch", "joulecast analyze rank*.jcrun --json",
                     "joulecast analyze run.jcrun --steady --idle-power 55 --sampling",
                     "joulecast analyze run*.jcrun --curves --rate 20 -o curves.csv",
                     "joulecast analyze idle-and-load.jcrun --fit-calibration gpu0=wall --save"});
}

void define_export_options(CLI::App& app, ExportRunOptions& options) {
  app.add_option("RUN", options.run, "a recording, a folder of GPyJoules, or a CSV log of nvidia-smi --query-gpu")
      ->required()
      ->type_name(kFile);
  add_choice(app, "--as", options.as, "what to write; trace is for Perfetto and chrome://tracing",
             {"csv", "json", "trace", "openmetrics", "jcrun"})
      ->required();
  app.add_option("-o,--output", options.output, "file to write; - is standard output")
      ->type_name(kFile)
      ->capture_default_str();
  app.add_flag("-f,--force", options.force, "replace an existing file")->option_text(" ");
  app.add_option("--merge", options.merge, "put the trace into this one of PyTorch's profiler")->type_name(kFile);
  app.add_flag("--samples", options.samples, "all readings in the JSON")->option_text(" ");
  app.add_option("--columns", options.columns, "of a log without header, as they were given to --query-gpu")
      ->type_name("A,B,...");
  app.add_option("--utc-offset", options.utc_offset, "of clocks whose zone no file says, such as +02:00")
      ->type_name("OFFSET");
  add_examples(app, {"joulecast export run.jcrun --as csv -o run.csv",
                     "joulecast export run.jcrun --as trace --merge torch.json -o both.json",
                     "joulecast export smi.csv --utc-offset +02:00 --as jcrun -o run.jcrun"});
}

void define_report_options(CLI::App& app, ReportOptions& options) {
  app.add_option("RUN", options.runs, "recordings (of the ranks of one job, all of them) and folders of sweeps")
      ->required()
      ->type_name(kFile);
  app.add_option("-o,--output", options.output, "write the page there; without it to standard output")
      ->type_name(kFile);
  app.add_flag("-f,--force", options.force, "replace an existing file")->option_text(" ");
  app.add_flag("--no-charts", options.no_charts, "words and tables alone: small, and without a script")
      ->option_text(" ");
  add_examples(app, {"joulecast report run.jcrun -o report.html", "joulecast report rank*.jcrun -o job.html",
                     "joulecast report limits/ -o limits.html"});
}

void define_watch_options(CLI::App& app, WatchOptions& options) {
  add_sensors(app, options.sensors);
  app.add_option("-d,--delay", options.delay_s, "between lines")
      ->type_name("SECONDS")
      ->check(between(0.1, 3600.0))
      ->capture_default_str();
  add_count(app, "-c,--count", options.count, "stop after that many; 0 goes on until stopped");
  add_json(app, options.json);
  add_examples(app, {"joulecast watch", "joulecast watch --gpu 0,1 -d 0.5 -c 20 --json"});
}

void define_doctor_options(CLI::App& app, DoctorOptions& options) {
  add_sensors(app, options.sensors);
  add_json(app, options.json);
  add_examples(app, {"joulecast doctor"});
}

void define_mark_options(CLI::App& app, MarkOptions& options) {
  app.add_option("WHAT", options.what, "begin, end, or a NAME to mark")->required()->type_name(" ");
  app.add_option("NAME", options.name, "of the phase that begins or ends")->type_name(" ");
  app.add_option("--with", options.details, "what belongs to it (repeatable)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  add_examples(app, {"joulecast mark begin warm-up", "joulecast mark end warm-up", "joulecast mark checkpoint"});
}

// The program itself never runs them: verbs.cpp sends them elsewhere.
template <typename Options>
Action define_only(CLI::App& app, void (*define)(CLI::App&, Options&)) {
  auto options = std::make_shared<Options>();
  define(app, *options);
  return [options](Output&) { return Outcome(); };
}

Action define_measure(CLI::App& app) {
  return define_only(app, define_measure_options);
}
Action define_analyze(CLI::App& app) {
  return define_only(app, define_analyze_options);
}
Action define_export(CLI::App& app) {
  return define_only(app, define_export_options);
}
Action define_report(CLI::App& app) {
  return define_only(app, define_report_options);
}
Action define_watch(CLI::App& app) {
  return define_only(app, define_watch_options);
}
Action define_doctor(CLI::App& app) {
  return define_only(app, define_doctor_options);
}
Action define_mark(CLI::App& app) {
  return define_only(app, define_mark_options);
}

}  // namespace joulecast::cli
