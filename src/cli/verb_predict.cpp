// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/assumptions.h"
#include "cli/options.h"
#include "cli/predict_text.h"
#include "cli/setting_options.h"
#include "cli/verbs.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast::cli {
namespace {

struct PredictVerb {
  std::string model, mode = "inference", precision, runtime = "pytorch-eager", layout = "channels-first", host,
                     optimizer, pack;
  std::vector<std::string> gpus{"all"}, batches, shapes, gpu_files;
  std::size_t top = 0;
  bool breakdown = false;
  SettingOptions settings;
  Form form;
};

tl::expected<std::vector<const Gpu*>, Failure> chosen(const Catalogue& catalogue, const PredictVerb& options) {
  std::vector<const Gpu*> out;
  const auto add = [&](const Gpu* gpu) {  // an id and its alias are one GPU
    if (std::find(out.begin(), out.end(), gpu) == out.end()) out.push_back(gpu);
  };
  for (const std::string& name : list_words(options.gpus)) {
    if (name == "all") {
      for (const Gpu& gpu : catalogue.all()) add(&gpu);
      continue;
    }
    const auto gpu = catalogue.find(name);
    if (!gpu) return tl::unexpected<Failure>(Failure{gpu.error(), "joulecast gpus lists all of them"});
    add(*gpu);
  }
  if (out.empty()) {
    return tl::unexpected<Failure>(
        Failure{{ErrorCode::kInvalidInput, "--gpu names no GPU"}, "--gpu a100,h100, or --gpu all", kUsage});
  }
  return out;
}

tl::expected<PrepareOptions, Failure> prepare_options(const PredictVerb& options) {
  PrepareOptions out;
  out.mode = *parse_mode(options.mode);
  if (!options.precision.empty()) out.precision = parse_precision(options.precision);
  out.runtime = *parse_runtime(options.runtime);
  out.layout = *parse_layout(options.layout);
  if (out.runtime == Runtime::kTensorflow && out.layout != Layout::kChannelsFirst)
    return usage("--layout: TensorFlow chooses how images lie in memory by itself", "leave it out");
  if (options.optimizer.empty()) return out;
  if (out.mode != Mode::kTraining)
    return usage("--optimizer: inference takes no step of an optimizer", "add --mode training, or leave it out");
  out.optimizer = *parse_optimizer(options.optimizer);
  return out;
}

// The network at one batch. What is assumed of its open dimensions stands among its notes.
tl::expected<Workload, Failure> prepare_batch(const PredictVerb& options, const Graph& network, Binding bound,
                                              std::optional<std::int64_t> batch, const PrepareOptions& how) {
  bound.batch = batch.value_or(1);
  auto assumed = assume_open_dimensions(network, bound);
  if (!assumed) return tl::unexpected(std::move(assumed).error());
  auto load = prepare(network, bound, how);
  if (!load) return tl::unexpected<Failure>(std::move(load).error().in(options.model));
  if (batch && load->batch != *batch) {
    return usage(fmt::format("--batch {}: the model or --shapes fixes the batch to {}", *batch, load->batch),
                 "leave one of them out");
  }
  for (Assumption& assumption : *assumed) load->notes.push_back(std::move(assumption.text));
  return std::move(*load);
}

struct Asked {
  PredictOptions how;
  std::optional<SettingRequest> settings;
};

Result<std::vector<Prediction>> predict_one(const Workload& load, const Predictor& predictor, const Gpu& gpu,
                                            const Asked& asked) {
  if (asked.settings) return predictor.predict(load, gpu, asked.how, *asked.settings);
  JC_ASSIGN_OR_RETURN(Prediction prediction, predictor.predict(load, gpu, asked.how));
  return std::vector<Prediction>{std::move(prediction)};
}

// One batch on every GPU. A GPU that lacks what the precision needs is left out with a word, unless it is the only one.
Outcome predict_all(const Workload& load, const Predictor& predictor, const std::vector<const Gpu*>& gpus,
                    const Asked& asked, Output& output, PredictionReport& report) {
  for (const Gpu* gpu : gpus) {
    auto predictions = predict_one(load, predictor, *gpu, asked);
    if (predictions) {
      for (Prediction& prediction : *predictions) report.add(load, std::move(prediction));
    } else if (gpus.size() == 1) {
      return tl::unexpected<Failure>(predictions.error());
    } else {
      output.note(predictions.error().text());
    }
  }
  return {};
}

tl::expected<PredictOptions, Failure> predict_options(const PredictVerb& options) {
  PredictOptions out;
  out.breakdown = options.breakdown || options.top > 0;
  if (options.host.empty()) return out;
  const auto host = parse_host(options.host);
  if (!host) {
    return usage(fmt::format("--host: '{}' is no host", printable(options.host)),
                 "modern, older, or a factor on what calls cost on a modern one: --host 1.8");
  }
  out.host = *host;
  return out;
}

// What was measured was measured on one GPU with one batch, and the breakdown is that of the default setting.
Outcome check_settings(const PredictVerb& options, std::size_t gpus, std::size_t batches) {
  const SettingOptions& s = options.settings;
  const bool any = !s.clocks.empty() || !s.limits.empty() || !s.measured.empty();
  if (any && (options.breakdown || options.top > 0))
    return usage("the breakdown is that of the default setting", "leave out --breakdown and --top, or the settings");
  if (!s.measured.empty() && (gpus != 1 || batches != 1))
    return usage("--measured holds for one GPU and one batch", "-g with one GPU, -b with one batch");
  return {};
}

tl::expected<Asked, Failure> asked_for(const PredictVerb& options, std::size_t gpus, std::size_t batches) {
  if (auto ok = check_settings(options, gpus, batches); !ok) return tl::unexpected(std::move(ok).error());
  auto how = predict_options(options);
  if (!how) return tl::unexpected(std::move(how).error());
  auto settings = setting_request(options.settings);
  if (!settings) return tl::unexpected(std::move(settings).error());
  return Asked{.how = *how, .settings = std::move(*settings)};
}

Outcome run_predict(const PredictVerb& options, Output& output) {
  const auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(catalogue.error());
  const auto gpus = chosen(*catalogue, options);
  if (!gpus) return tl::unexpected(gpus.error());
  const auto sizes = parse_batches(options.batches);
  if (!sizes) return tl::unexpected(sizes.error());
  const auto bound = binding({.batch = {}, .shapes = options.shapes});
  if (!bound) return tl::unexpected(bound.error());
  const auto how = prepare_options(options);
  if (!how) return tl::unexpected(how.error());
  const auto asked = asked_for(options, gpus->size(), sizes->size());
  if (!asked) return tl::unexpected(asked.error());
  auto graph = import_model(options.model);
  if (!graph) return tl::unexpected<Failure>(std::move(graph).error());
  const Graph network = simplify(std::move(*graph));
  const auto pack = options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack);
  if (!pack) return tl::unexpected<Failure>(pack.error());
  const auto predictor = Predictor::open(*pack);
  if (!predictor) return tl::unexpected<Failure>(predictor.error());
  PredictionReport report(
      options.model, {.top = options.top, .breakdown = options.breakdown, .settings = asked->settings.has_value()});
  for (const auto& batch : *sizes) {
    const auto load = prepare_batch(options, network, *bound, batch, *how);
    if (!load) return tl::unexpected(load.error());
    if (auto ok = predict_all(*load, *predictor, *gpus, *asked, output, report); !ok) return ok;
  }
  output.write(options.form.json ? report.json() : options.form.csv ? report.csv() : report.text());
  if (options.form.csv) {
    for (const std::string& note : report.notes()) output.note(note);
  }
  return {};
}

}  // namespace

Action define_predict(CLI::App& app) {
  auto options = std::make_shared<PredictVerb>();
  app.add_option("MODEL", options->model, "model file (ONNX, or joulecast's own graph text)")
      ->required()
      ->type_name(kModel);
  app.add_option("-g,--gpu", options->gpus, "GPUs by id or alias, with commas between, or all (default all)")
      ->type_name(kGpu)
      ->expected(1)
      ->take_all()
      ->default_str("");
  app.add_option("-b,--batch", options->batches, "batch sizes, with commas between (default 1)")
      ->type_name("N,..")
      ->expected(1)
      ->take_all();
  app.add_option("--shapes", options->shapes,
                 "shape of an input, name:AxBxC (repeatable); lengths are else taken as 128, images as 224x224")
      ->type_name("SHAPE")
      ->expected(1)
      ->take_all();
  add_choice(app, "-m,--mode", options->mode, "what to predict (default inference)", {"inference", "training"});
  add_choice(app, "--precision", options->precision, "of the matrix work (default tf32: PyTorch's own)",
             {"fp64", "fp32", "tf32", "tf32-all", "fp16", "bf16", "fp8", "amp"});
  add_choice(app, "--runtime", options->runtime, "what executes the network (default pytorch-eager)",
             {"pytorch-eager", "pytorch-compiled", "cuda-graph", "tensorflow"});
  add_choice(app, "--layout", options->layout, "how images lie in memory (default channels-first)",
             {"channels-first", "channels-last"});
  app.add_option("--host", options->host,
                 "what launches kernels: modern, older, or a factor on modern's cost of a call (default: modern, with "
                 "bounds for others)")
      ->type_name("HOST");
  add_choice(app, "--optimizer", options->optimizer, "of training (default sgd)", {"sgd", "sgd-momentum", "adam"});
  add_settings(app, options->settings);
  add_count(app, "--top", options->top, "the N operations that take longest");
  app.add_flag("--breakdown", options->breakdown, "every operation with its time and energy")->option_text(" ");
  app.add_option("--pack", options->pack, "predictor pack instead of the shipped one")->type_name(kFile);
  add_gpu_files(app, options->gpu_files);
  add_form(app, options->form);
  add_examples(app, {"joulecast predict resnet50.onnx --gpu a30 --batch 32",
                     "joulecast predict resnet50.onnx --gpu a100,h100 --batch 1,32 --mode training",
                     "joulecast predict resnet50.onnx --gpu a30 --sm-clock 600,900,1200,1440",
                     "joulecast predict bert.onnx --gpu t4 --shapes input_ids:8x128 --top 5"});
  return [options](Output& output) { return run_predict(*options, output); };
}

}  // namespace joulecast::cli
