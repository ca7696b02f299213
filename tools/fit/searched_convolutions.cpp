// SPDX-License-Identifier: Apache-2.0
// The constants of TensorFlow's convolutions without tensor cores in src/predict/conv_kernels.cpp (kAutotuned, and
// kKepler), from single layers in TensorFlow 1 (cde_conv) and training steps of whole networks (PROFET).
//
//     build/release/fit_searched_convolutions searched|kepler PACK GRAPHS cde_conv.csv profet_train.csv
//
// GRAPHS has NAME_SIZE.onnx as tools/accuracy/graphs.py --list profet makes them. Everything but the convolutions is
// taken from the predictor as it is, and so are the machines' hosts. Makes the mean of |log(predicted / measured)|
// small, of layers and twice that of networks, one constant after the other in steps that become smaller; each error
// counts for 1.5 at most. Then does the same without each GPU, and without each network, and tells how far off that one
// is: with the constants of before, with all rows and without its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/table.h"
#include "joulecast/gpu.h"
#include "joulecast/predict.h"
#include "predict/compose.h"
#include "predict/conv_simt.h"
#include "predict/law.h"
#include "predict/lower.h"
#include "predict/measured_work.h"
#include "predict/network_graphs.h"

namespace joulecast {
namespace {

const double kSharpness = ComposeConstants{}.sharpness;  // how host and GPU meet; packs have the same
constexpr double kMostError = 1.5, kNetworks = 2.0;
constexpr double kMostEfficient = 1.1;                      // of implicit products, relative to the peak
constexpr double kFastest = 5.0;                            // of what other kernels gain over these
constexpr std::size_t kEveryLayer = 12, kEveryNetwork = 3;  // rows are many, and alike

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().text());
  std::exit(1);
}

struct CountedConv {
  ConvWork work;
  double count = 1;
  bool no_data_gradient = false;
};

// A measured row; seconds. `rest`: what the GPU needs beside the convolutions.
struct Case {
  std::string gpu;
  std::string model;  // of a network
  bool training = false;
  Device device;
  std::vector<CountedConv> convolutions;
  double measured = 0, rest = 0, host = 0, beside = 0;
};

double busy(const Case& one, const ConvKernels& kernels) {
  double out = 0.0;
  for (const CountedConv& conv : one.convolutions) {
    const SimtPasses found = simt_passes(conv.work, one.device, one.training, false, kernels);
    out += conv.count * (found.forward.time + found.weight.time + (conv.no_data_gradient ? 0.0 : found.data.time));
  }
  return out;
}

double log_error(const Case& one, const ConvKernels& kernels) {
  const double gpu = one.rest + busy(one, kernels);
  return std::log((joined(gpu, one.host, kSharpness) + one.beside) / one.measured);
}

const ConvKernels& kernels_now(const Case& one) {
  return conv_kernels(one.convolutions.front().work, one.device, false);
}

class Rows {
 public:
  Rows(const std::string& pack, std::string graphs, bool kepler)
      : predictor_(must(Predictor::open(pack))), graphs_(std::move(graphs)), kepler_(kepler) {}

  void read(const std::string& table, bool networks, std::size_t every) {
    std::size_t seen = 0;
    TableSink sink;
    sink.network = [&](const MeasuredNetwork& row) {
      const Gpu* gpu = must(Catalogue::shipped().find(row.at.gpu));
      const Device device = must(make_device(*gpu, {}));
      if (device.kepler != kepler_ || seen++ % every != 0) return;
      if (auto made = make(row, *gpu, device)) {
        if (networks) made->model = row.model;
        cases.push_back(std::move(*made));
      }
    };
    (void)must(read_table(table, sink));
  }

  std::vector<Case> cases;

 private:
  std::optional<Case> make(const MeasuredNetwork& row, const Gpu& gpu, const Device& device) {
    const Result<Workload> load = graphs_.workload(row);
    if (!load || !row.readings.time) return std::nullopt;
    Case out{.gpu = std::string(gpu.id),
             .model = {},
             .training = row.at.mode == Mode::kTraining,
             .device = device,
             .convolutions = {}};
    for (const LoweredOperation& operation : load->operations) {
      const auto* conv = std::get_if<ConvWork>(&operation.work);
      const bool depthwise = conv != nullptr && conv->groups > 1 && conv->groups == conv->in_channels;
      if (conv != nullptr && !depthwise)
        out.convolutions.push_back({*conv, static_cast<double>(operation.count), operation.no_input_gradient});
    }
    if (out.convolutions.empty()) return std::nullopt;
    const MeasuredHost host = measured_host(row, gpu);
    PredictOptions options;
    options.host = host.machine;
    const Prediction found = must(predictor_.predict(*load, gpu, options));
    out.measured = row.readings.time->value();
    out.host = found.host_busy.value();
    out.rest = found.gpu_busy.value() - busy(out, kernels_now(out));
    const double gpu_busy = found.gpu_busy.value();
    out.beside = found.time.value.value() - joined(gpu_busy, out.host, kSharpness);
    return out;
  }

  Predictor predictor_;
  NetworkGraphs graphs_;
  bool kepler_;
};

// Mean errors of layers and networks, and their bias.
struct Errors {
  std::array<double, 2> mean{}, bias{};
  std::array<std::size_t, 2> rows{};

  [[nodiscard]] double loss() const { return mean[0] + kNetworks * mean[1]; }
};

using Cases = std::vector<Case>;

Errors errors(const Cases& cases, const ConvKernels& kernels) {
  Errors out;
  for (const Case& one : cases) {
    const double error = log_error(one, kernels);
    const std::size_t kind = one.model.empty() ? 0 : 1;
    out.mean[kind] += std::min(kMostError, std::abs(error));
    out.bias[kind] += error;
    ++out.rows[kind];
  }
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (out.rows[kind] == 0) continue;
    out.mean[kind] /= static_cast<double>(out.rows[kind]);
    out.bias[kind] /= static_cast<double>(out.rows[kind]);
  }
  return out;
}

struct Constant {
  const char* name;
  double ConvKernels::*at;
};
constexpr std::array<Constant, 13> kOfAll{{{"implicit_fill", &ConvKernels::implicit_fill},
                                           {"forward", &ConvKernels::forward},
                                           {"data", &ConvKernels::data},
                                           {"weight", &ConvKernels::weight},
                                           {"strided", &ConvKernels::strided},
                                           {"square", &ConvKernels::square},
                                           {"square_gradient", &ConvKernels::square_gradient},
                                           {"line", &ConvKernels::line},
                                           {"line_weight", &ConvKernels::line_weight},
                                           {"one_by_one", &ConvKernels::one_by_one},
                                           {"first_forward", &ConvKernels::first_forward},
                                           {"first_weight", &ConvKernels::first_weight},
                                           {"filters", &ConvKernels::filters}}};
constexpr std::array<Constant, 9> kNotKeplers{{{"fft", &ConvKernels::fft},
                                               {"fft_transforms", &ConvKernels::fft_transforms},
                                               {"hold", &ConvKernels::hold},
                                               {"fused_fill", &ConvKernels::fused_fill},
                                               {"fused_filters", &ConvKernels::fused_filters},
                                               {"fused", &ConvKernels::fused},
                                               {"tiled", &ConvKernels::tiled},
                                               {"transforms", &ConvKernels::transforms},
                                               {"tiled_gradient", &ConvKernels::tiled_gradient}}};

std::vector<Constant> constants(bool kepler) {
  std::vector<Constant> out(kOfAll.begin(), kOfAll.end());
  if (!kepler) out.insert(out.end(), kNotKeplers.begin(), kNotKeplers.end());
  return out;
}

bool is_possible(const ConvKernels& kernels) {
  const double fastest = std::max({kernels.square, kernels.square_gradient, kernels.line, kernels.line_weight,
                                   kernels.first_forward, kernels.first_weight});
  return std::max({kernels.forward, kernels.data, kernels.weight, kernels.fft}) <= kMostEfficient &&
         fastest <= kFastest;
}

ConvKernels fitted(const Cases& cases, ConvKernels kernels, bool kepler) {
  double best = errors(cases, kernels).loss();
  const auto walk = [&](const Constant& constant, double factor) {
    for (int steps = 0; steps < 12; ++steps) {
      ConvKernels tried = kernels;
      tried.*constant.at *= factor;
      if (!is_possible(tried)) return;
      const double found = errors(cases, tried).loss();
      if (found >= best - 2e-5) return;
      best = found;
      kernels = tried;
    }
  };
  for (const double step : {1.3, 1.3, 1.15, 1.15, 1.06, 1.06}) {
    for (const Constant& constant : constants(kepler)) walk(constant, step), walk(constant, 1.0 / step);
  }
  return kernels;
}

void print(std::string_view what, const Errors& errors) {
  fmt::print("{:34} layers {:6} rows {:5.1f} % ({:+5.1f})   networks {:5} rows {:5.1f} % ({:+5.1f})\n", what,
             errors.rows[0], 100 * errors.mean[0], 100 * errors.bias[0], errors.rows[1], 100 * errors.mean[1],
             100 * errors.bias[1]);
  std::fflush(stdout);
}

// What the fits start from, and what came out.
struct Fit {
  ConvKernels before, start, all;
  bool kepler = false;
};

// Each group of cases as one that the fit without it never saw.
template <typename Key>
void print_left_out(const Cases& cases, const Fit& fit, Key key) {
  std::map<std::string, Cases> groups;
  for (const Case& one : cases) {
    if (!(one.*key).empty()) groups[one.*key].push_back(one);
  }
  for (const auto& group : groups) {
    const auto& [name, own] = group;
    Cases others;
    std::copy_if(cases.begin(), cases.end(), std::back_inserter(others),
                 [&](const Case& one) { return one.*key != group.first; });
    print(name + ", before", errors(own, fit.before));
    print(name + ", fitted", errors(own, fit.all));
    print(name + ", left out", errors(own, fitted(others, fit.start, fit.kepler)));
  }
}

int run(const std::vector<std::string>& words) {
  Fit fit;
  fit.kepler = words[1] == "kepler";
  Rows rows(words[2], words[3], fit.kepler);
  rows.read(words[4], false, kEveryLayer);
  rows.read(words[5], true, kEveryNetwork);
  if (rows.cases.empty()) return 1;
  fit.before = fit.start = kernels_now(rows.cases.front());
  if (fit.start.filters <= 0.0) fit.start.filters = 0.5;  // a constant of 0 would stay one
  if (!fit.kepler && fit.start.fft <= 0.0) fit.start.fft = 0.5;
  print("before", errors(rows.cases, fit.before));
  fit.all = fitted(rows.cases, fit.start, fit.kepler);
  print("fitted", errors(rows.cases, fit.all));
  for (const Constant& constant : constants(fit.kepler))
    fmt::print("  .{} = {:.4g}\n", constant.name, fit.all.*constant.at);
  print_left_out(rows.cases, fit, &Case::gpu);
  print_left_out(rows.cases, fit, &Case::model);
  return 0;
}

}  // namespace
}  // namespace joulecast

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() != 6 || (words[1] != "searched" && words[1] != "kepler")) {
    fmt::print(stderr, "usage: fit_searched_convolutions searched|kepler PACK GRAPHS cde_conv.csv profet_train.csv\n");
    return 2;
  }
  return joulecast::run(words);
}
