// SPDX-License-Identifier: Apache-2.0
#include "cli/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/assumptions.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/output.h"

namespace joulecast::cli {
namespace {

tl::unexpected<Failure> no_gpu() {
  return usage("--gpu names no GPU", "--gpu a100,h100, or --gpu all");
}

tl::expected<std::vector<const Gpu*>, Failure> chosen(const Catalogue& catalogue, const PredictionRequest& request) {
  std::vector<const Gpu*> out;
  const auto add = [&](const Gpu* gpu) {  // an id and its alias are one GPU
    if (std::find(out.begin(), out.end(), gpu) == out.end()) out.push_back(gpu);
  };
  for (const std::string& name : list_words(request.gpus)) {
    if (name.empty()) return no_gpu();
    if (name == "all") {
      for (const Gpu& gpu : catalogue.all()) add(&gpu);
      continue;
    }
    const auto gpu = catalogue.find(name);
    if (!gpu) return tl::unexpected<Failure>(Failure{gpu.error(), "joulecast gpus lists all of them"});
    add(*gpu);
  }
  if (out.empty()) return no_gpu();
  return out;
}

// A word of an option that was parsed, or the failure that it is none.
template <typename T>
tl::expected<T, Failure> word(const std::optional<T>& parsed, const char* option, const std::string& text) {
  if (parsed) return *parsed;
  return usage(fmt::format("{}: '{}' is none of its words", option, printable(text)),
               "joulecast predict --help lists them");
}

tl::expected<PrepareOptions, Failure> prepare_options(const PredictionRequest& request) {
  PrepareOptions out;
  JC_ASSIGN_OR_FAIL(out.mode, word(parse_mode(request.mode), "--mode", request.mode));
  if (!request.precision.empty()) {
    JC_ASSIGN_OR_FAIL(out.precision, word(parse_precision(request.precision), "--precision", request.precision));
  }
  JC_ASSIGN_OR_FAIL(out.runtime, word(parse_runtime(request.runtime), "--runtime", request.runtime));
  JC_ASSIGN_OR_FAIL(out.layout, word(parse_layout(request.layout), "--layout", request.layout));
  if (out.runtime == Runtime::kTensorflow && out.layout != Layout::kChannelsFirst)
    return usage("--layout: TensorFlow chooses how images lie in memory by itself", "leave it out");
  if (request.optimizer.empty()) return out;
  if (out.mode != Mode::kTraining)
    return usage("--optimizer: inference takes no step of an optimizer", "add --mode training, or leave it out");
  JC_ASSIGN_OR_FAIL(out.optimizer, word(parse_optimizer(request.optimizer), "--optimizer", request.optimizer));
  return out;
}

// The network at one batch. What is assumed of its open dimensions stands among its notes.
tl::expected<Workload, Failure> prepare_batch(const std::string& model, const Graph& network, Binding bound,
                                              std::optional<std::int64_t> batch, const PrepareOptions& how) {
  bound.batch = batch.value_or(1);
  JC_ASSIGN_OR_FAIL(std::vector<Assumption> assumed, assume_open_dimensions(network, bound));
  auto load = prepare(network, bound, how);
  if (!load) return tl::unexpected(misfit(std::move(load).error(), model, network, bound));
  if (batch && load->batch != *batch) {
    return usage(
        fmt::format("--batch {}: the model or --shapes fixes the batch to {}", *batch, load->batch),
        bound.shapes.empty() ? "ask for that batch, or save the model with an open one" : "leave one of them out");
  }
  for (Assumption& assumption : assumed) load->notes.push_back(std::move(assumption.text));
  return std::move(*load);
}

Result<std::vector<Prediction>> predict_one(const Workload& load, const Predictor& predictor, const Gpu& gpu,
                                            const PreparedRequest& asked) {
  if (asked.settings) return predictor.predict(load, gpu, asked.how, *asked.settings);
  JC_ASSIGN_OR_RETURN(Prediction prediction, predictor.predict(load, gpu, asked.how));
  return std::vector<Prediction>{std::move(prediction)};
}

// The same, but settings among several that the GPU does not have are left out with a word, unless no other is left.
Result<std::vector<Prediction>> predict_some(const Workload& load, const Predictor& predictor, const Gpu& gpu,
                                             const PreparedRequest& asked, PredictionReport& report) {
  auto all = predict_one(load, predictor, gpu, asked);
  const bool several = asked.settings && asked.settings->settings.size() > 1;
  if (all || !several || all.error().code() != ErrorCode::kInvalidInput) return all;
  std::vector<Prediction> out;
  std::vector<std::string> lacking;
  for (const Setting& setting : asked.settings->settings) {
    auto one = predictor.predict(load, gpu, asked.how, {{setting}, asked.settings->measured});
    if (one) {
      out.push_back(std::move(one->front()));
    } else {
      lacking.push_back(one.error().text());
    }
  }
  if (out.empty()) return all;
  for (std::string& why : lacking) report.leave_out(std::move(why));
  return out;
}

constexpr std::string_view kNoPower =
    "the pack was trained on rows without power: power, energy and their bounds mean nothing (the power is that of a "
    "GPU that waits)";

// Every batch on every GPU. A GPU that lacks what the precision needs is left out with a word, unless no other is left.
Outcome predict_all(const PreparedRequest& asked, const Predictor& predictor, PredictionReport& report) {
  std::optional<Error> first;
  bool wrong = false;
  for (const Workload& load : asked.loads) {
    for (const Gpu* gpu : asked.gpus) {
      auto predictions = predict_some(load, predictor, *gpu, asked, report);
      if (!predictions) {
        if (!first) first = predictions.error();
        wrong = wrong || predictions.error().code() == ErrorCode::kInvalidInput;
        report.leave_out(predictions.error().text());
        continue;
      }
      for (Prediction& prediction : *predictions) report.add(load, std::move(prediction));
    }
  }
  if (wrong) JC_RETURN_IF_FAILURE(predictor.verify());  // a damaged pack is no GPU's fault
  if (!report.empty()) return {};
  if (asked.gpus.size() == 1) return tl::unexpected<Failure>(std::move(*first));
  return tl::unexpected<Failure>(Error{first->code(), fmt::format("none of {} GPUs can be predicted for; the first: {}",
                                                                  asked.gpus.size(), first->text())});
}

tl::expected<PredictOptions, Failure> predict_options(const PredictionRequest& request) {
  PredictOptions out;
  out.breakdown = request.breakdown || request.top > 0;
  if (request.host.empty()) return out;
  const auto host = parse_host(request.host);
  if (!host) {
    return usage(fmt::format("--host: '{}' is no host", printable(request.host)),
                 "modern, older, or a factor on what calls cost on a modern one: --host 1.8");
  }
  out.host = *host;
  return out;
}

void name_unknown_kinds(PreparedRequest& asked) {
  for (const Gpu* gpu : asked.gpus) {
    const bool unknown_vendor = gpu->vendor != "NVIDIA" && gpu->vendor != "AMD";
    if (!unknown_vendor && (gpu->vendor == "AMD" || !gpu->compute_capability.empty())) continue;
    const std::string why =
        unknown_vendor
            ? fmt::format("of '{}' no kernels are known; the vendor is NVIDIA or AMD", printable(gpu->vendor))
            : std::string("compute_capability is not given, by which a board's kernels and clocks go");
    for (Workload& load : asked.loads) load.notes.push_back(fmt::format("{}: {}", gpu->id, why));
  }
}

// What was measured was measured on one GPU with one batch, and the breakdown is that of the default setting.
Outcome check_settings(const PredictionRequest& request, std::size_t gpus, std::size_t batches) {
  const SettingOptions& s = request.settings;
  const bool any = !s.clocks.empty() || !s.limits.empty() || !s.measured.empty();
  if (any && (request.breakdown || request.top > 0))
    return usage("the breakdown is that of the default setting", "leave out --breakdown and --top, or the settings");
  if (!s.measured.empty() && (gpus != 1 || batches != 1))
    return usage("--measured holds for one GPU and one batch", "-g with one GPU, -b with one batch");
  return {};
}

}  // namespace

Outcome check_gpus(const PredictionRequest& request, const Catalogue& catalogue) {
  if (auto gpus = chosen(catalogue, request); !gpus) return tl::unexpected(std::move(gpus).error());
  return {};
}

std::vector<std::string> few(const std::vector<std::string>& left_out) {
  constexpr std::size_t kFew = 8;
  if (left_out.size() <= kFew + 1) return left_out;
  std::vector<std::string> out(left_out.begin(), left_out.begin() + kFew);
  out.push_back(fmt::format("and {} more are left out; --json lists them", left_out.size() - kFew));
  return out;
}

tl::expected<PreparedRequest, Failure> prepared(const PredictionRequest& request, const std::string& model,
                                                const Graph& network, const Catalogue& catalogue) {
  PreparedRequest out;
  JC_ASSIGN_OR_FAIL(out.gpus, chosen(catalogue, request));
  JC_ASSIGN_OR_FAIL(const auto batches, parse_batches(request.batches));
  JC_ASSIGN_OR_FAIL(const Binding bound, binding({.batch = {}, .shapes = request.shapes}));
  JC_ASSIGN_OR_FAIL(const PrepareOptions how, prepare_options(request));
  JC_RETURN_IF_FAILURE(check_settings(request, out.gpus.size(), batches.size()));
  JC_ASSIGN_OR_FAIL(out.how, predict_options(request));
  JC_ASSIGN_OR_FAIL(out.settings, setting_request(request.settings));
  for (const auto& batch : batches) {
    JC_ASSIGN_OR_FAIL(Workload load, prepare_batch(model, network, bound, batch, how));
    out.loads.push_back(std::move(load));
  }
  name_unknown_kinds(out);
  return out;
}

void doubt_measured_times(PreparedRequest& asked, const Predictor& predictor) {
  constexpr double kFar = 20;  // the lowest clock is a tenth of the highest
  if (!asked.settings || asked.settings->measured.empty()) return;
  Workload& load = asked.loads.front();
  const auto usual = predictor.predict(load, *asked.gpus.front(), asked.how);
  if (!usual) return;  // whoever asks for the prediction is told why
  for (const MeasuredRun& run : asked.settings->measured) {
    const double times = run.time ? *run.time / usual->time.value : 1.0;
    if (times < kFar && times > 1.0 / kFar) continue;
    load.notes.push_back(fmt::format(
        "--measured: {:g} s is {} what is predicted, {}: is it of one batch of {}, in seconds?", run.time->value(),
        times > 1.0 ? fmt::format("{:.0f} times", times) : fmt::format("1/{:.0f} of", 1.0 / times),
        with_prefix(usual->time.value.value(), "s"), load.batch));
    return;
  }
}

tl::expected<PredictionReport, Failure> predictions(const PredictionRequest& request, const std::string& model,
                                                    const Graph& network, const PredictionContext& context) {
  JC_ASSIGN_OR_FAIL(PreparedRequest asked, prepared(request, model, network, context.catalogue));
  doubt_measured_times(asked, context.predictor);
  for (Workload& load : asked.loads) {
    if (!context.predictor.knows_power(load)) load.notes.emplace_back(kNoPower);
  }
  PredictionReport report(model,
                          {.top = request.top, .breakdown = request.breakdown, .settings = asked.settings.has_value()});
  JC_RETURN_IF_FAILURE(predict_all(asked, context.predictor, report));
  return report;
}

}  // namespace joulecast::cli
