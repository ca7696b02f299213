// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/profile_options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "cli/verbs.h"

namespace joulecast::cli {

namespace {

void define_subjects(CLI::App& app, ProfileOptions& options) {
  app.add_option("MODEL", options.models,
                 "model files, or folders of them, whose operations, and which themselves, are measured")
      ->type_name(kModel);
  app.add_option("--zoo", options.zoo, "networks of a library: torchvision, timm, ..., or torchvision:resnet18")
      ->type_name("NAME");
  app.add_option("--operations", options.operations, "measure the operations of a table, as dataset export writes it")
      ->type_name(kFile);
  app.add_option("--module", options.modules,
                 "a torch.nn.Module, by what makes it: PACKAGE.MODULE:CALLABLE or FILE.py:CALLABLE (repeatable)")
      ->type_name("MODULE")
      ->expected(1)
      ->take_all();
  app.add_option("-o,--output", options.output, "folder of the campaign; an interrupted one goes on there")
      ->required()
      ->type_name(kFolder);
}

void define_conditions(CLI::App& app, ProfileOptions& options) {
  app.add_option("--gpu", options.gpu, "the GPU to measure, or cpu")->type_name("GPU");
  app.add_option("--name", options.name, "what rows call the device, instead of what its driver says")
      ->type_name("NAME");
  app.add_option("-b,--batch", options.batches, "batch sizes, as 1,32")->type_name("N,..");
  app.add_option("--mode", options.modes, "inference, training, or both with a comma")->type_name("MODE,..");
  app.add_option("--precision", options.precisions, "fp32, tf32, tf32-all, fp16, bf16, fp64; several with commas")
      ->type_name("P,..");
  app.add_option("--power-limit", options.power_limits, "limits in watts to measure at, or found; with commas between")
      ->type_name("W,..");
  app.add_option("--sm-clock", options.sm_clocks, "clocks in MHz to lock the SMs to, or found; with commas between")
      ->type_name("MHZ,..");
  app.add_option("--shapes", options.shapes,
                 "whole shape of an input, as input:1x3x224x224, or of a module's, ids:8x128:i64")
      ->type_name("NAME:SHAPE");
  add_choice(app, "--only", options.only, "measure only these", {"operations", "networks"});
  app.add_option("--for", options.budget, "stop after that time, as 30m; what the predictor knows least comes first")
      ->type_name("TIME");
  app.add_option("--pack", options.pack, "with --for: predictor pack instead of the shipped one")->type_name(kFile);
  add_gpu_files(app, options.gpu_files);
}

void define_machines(CLI::App& app, ProfileOptions& options) {
  app.add_option("--shard", options.shard, "measure that part alone, in a folder in FOLDER, as 3/8")->type_name("K/N");
  app.add_option("--slurm", options.slurm, "submit a job array of that many shards; with -n print it")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000).description(""));
  app.add_option("--sbatch", options.sbatch, "an option for sbatch, as --sbatch=--partition=gpu")->type_name("OPTION");
  app.add_option("--store", options.store, "then import the rows there: a file, or the URL of a PostgreSQL database")
      ->type_name(kStore);
  app.add_option("--runner", options.runner,
                 "what runs the work: torch, python-torch, onnxruntime, or the path of a runner")
      ->type_name("RUNNER");
  add_choice(app, "--runtime", options.runtime, "how the runner is to run it",
             {"pytorch-eager", "pytorch-compiled", "cuda-graph", "tensorflow"});
  add_count(app, "--threads", options.threads, "of a processor's work");
}

void define_protocol(CLI::App& app, ProfileOptions& options) {
  app.add_option("--target", options.target, "repeat until the relative standard error of the time is this")
      ->type_name("X");
  app.add_option("--noisy", options.noisy, "measure again what was left with a larger one")->type_name("X");
  app.add_option("--window", options.window_s, "seconds of work between two looks at the clock, 0.1 or more")
      ->type_name("S");
  app.add_option("--span", options.span_s, "seconds of all windows of a case, at least")->type_name("S");
  app.add_option("--patience", options.patience_s, "seconds after which a silent runner is given up (120)")
      ->type_name("S");
  add_count(app, "--seed", options.seed, "of the random order");
}

void define_flags(CLI::App& app, ProfileOptions& options) {
  const auto flag = [&](const char* name, bool& out, const char* text) {
    app.add_flag(name, out, text)->option_text(" ");
  };
  flag("--retry-failed", options.retry_failed, "measure again what failed");
  flag("--retry-shared", options.retry_shared, "measure again what others had the processor beside");
  flag("--validate", options.validate, "hold sums of measured operations against the measured networks");
  flag("--check-proportionality", options.check_proportionality, "how short a run may be before its time lies");
  flag("-n,--dry-run", options.dry_run, "only say what would be measured; networks of --zoo are made for that");
  flag("--json", options.json, "print JSON");
  flag("-q,--quiet", options.quiet, "no progress");
}

// Variables of a script that were never set. What is left out is not typed at all.
void refuse_empty_words(CLI::App& app) {
  for (const char* name : {"--gpu", "--name", "--for", "--shard"}) {
    app.get_option(name)->check([](const std::string& text) { return std::string(text.empty() ? "is empty" : ""); });
  }
}

}  // namespace

void define_profile_options(CLI::App& app, ProfileOptions& options) {
  define_subjects(app, options);
  define_conditions(app, options);
  define_machines(app, options);
  define_protocol(app, options);
  define_flags(app, options);
  refuse_empty_words(app);
  add_examples(
      app,
      {"joulecast profile resnet50.onnx --batch 32 -o a100",
       "joulecast profile --zoo torchvision --gpu cpu --for 10m -o cpu", "joulecast profile *.onnx --validate -o cpu",
       "joulecast profile --module torchvision.models:resnet18 --shapes x:8x3x224x224 --runner python-torch -o net"});
}

std::optional<double> parse_seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !(value > 0)) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr double kMinute = 60, kHour = 3600, kLongest = 1e9;
  if (unit == "m" || unit == "min") {
    value *= kMinute;
  } else if (unit == "h") {
    value *= kHour;
  } else if (!unit.empty() && unit != "s") {
    return std::nullopt;
  }
  return value <= kLongest ? std::optional(value) : std::nullopt;
}

Action define_profile(CLI::App& app) {
  auto options = std::make_shared<ProfileOptions>();
  define_profile_options(app, *options);
  return [options](Output&) { return Outcome(); };
}

}  // namespace joulecast::cli
