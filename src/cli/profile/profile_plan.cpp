// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "cli/assumptions.h"
#include "cli/profile/profile_commands.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"
#include "profile/model_names.h"
#include "profile/operation_list.h"

namespace joulecast::cli {
namespace {

constexpr std::uint32_t kMostWatts = 100'000, kMilliwatts = 1000;

tl::expected<std::vector<Mode>, Failure> modes_of(const ProfileOptions& options) {
  std::vector<Mode> out;
  for (const std::string& text : list_words(options.modes)) {
    const auto mode = parse_mode(text);
    if (!mode)
      return usage(fmt::format("--mode: '{}' is no mode", printable(text)),
                   "inference, training, or inference,training");
    out.push_back(*mode);
  }
  return out;
}

tl::expected<std::vector<Precision>, Failure> precisions_of(const ProfileOptions& options) {
  std::vector<Precision> out;
  for (const std::string& text : list_words(options.precisions)) {
    const auto precision = parse_precision(text);
    if (!precision || *precision == Precision::kFp8 || *precision == Precision::kNvfp4 || is_autocast(*precision)) {
      return usage(fmt::format("--precision: '{}' is none that is measured", printable(text)),
                   "fp32, tf32, tf32-all, fp16, bf16, fp64");
    }
    out.push_back(*precision);
  }
  return out;
}

// A number above 0; absent for "found".
tl::expected<std::vector<std::optional<std::uint32_t>>, Failure> steps_of(const std::vector<std::string>& lists,
                                                                          const char* option) {
  std::vector<std::optional<std::uint32_t>> out;
  for (const std::string& text : list_words(lists)) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = error == std::errc{} && end == text.data() + text.size() && value > 0 && value < kMostWatts;
    if (!number && text != "found") {
      return usage(fmt::format("{}: '{}' is no setting", option, printable(text)), "whole numbers above 0, or found");
    }
    out.push_back(number ? std::optional(value) : std::nullopt);
  }
  if (out.empty()) out.emplace_back();
  return out;
}

// Every limit at every clock.
tl::expected<std::vector<GpuSettings>, Failure> settings_of(const ProfileOptions& options) {
  auto limits = steps_of(options.power_limits, "--power-limit");
  if (!limits) return tl::unexpected(std::move(limits).error());
  auto clocks = steps_of(options.sm_clocks, "--sm-clock");
  if (!clocks) return tl::unexpected(std::move(clocks).error());
  std::vector<GpuSettings> out;
  for (const auto& limit : *limits) {
    for (const auto& clock : *clocks) {
      GpuSettings settings;
      if (limit) settings.power_limit_mw = *limit * kMilliwatts;
      if (clock) settings.sm_lock = ClockRange{*clock, *clock};
      out.push_back(settings);
    }
  }
  if (options.gpu == "cpu" && (out.size() > 1 || !out.front().empty())) {
    return usage("--power-limit and --sm-clock are settings of a GPU", "--gpu 0");
  }
  return out;
}

tl::expected<std::vector<profile::Conditions>, Failure> conditions_of(const ProfileOptions& options) {
  auto modes = modes_of(options);
  if (!modes) return tl::unexpected(std::move(modes).error());
  auto precisions = precisions_of(options);
  if (!precisions) return tl::unexpected(std::move(precisions).error());
  auto settings = settings_of(options);
  if (!settings) return tl::unexpected(std::move(settings).error());
  std::vector<profile::Conditions> out;
  for (const Mode mode : *modes) {
    for (const Precision precision : *precisions) {
      for (const GpuSettings& one : *settings) out.push_back({mode, precision, one});
    }
  }
  return out;
}

struct Wanted {
  std::vector<std::optional<std::int64_t>> batches;
  std::vector<profile::Conditions> conditions;
  Binding binding;
};

// It would be measured at the one and be a row of the other.
Outcome other_batch(const std::string& file, std::int64_t asked, std::int64_t fixed, const Binding& bound) {
  return usage(
      fmt::format("{}: --batch {}: the model or --shapes fixes the batch to {}", printable(file), asked, fixed),
      bound.shapes.empty() ? "ask for that batch, or save the model with an open one" : "leave one of them out");
}

// What a model file that the user named was measured at and does not say. Batches do not change it.
void tell_assumptions(const std::string& file, const std::vector<Assumption>& assumed, Output& output) {
  for (const Assumption& one : assumed) output.note(fmt::format("{}: {}", file, one.text));
}

Outcome add_model(const std::string& file, const std::string& name, const Wanted& wanted, profile::Plan& plan,
                  Output* notes) {
  auto graph = import_model(file, {}, wanted.binding.shapes);
  if (!graph) return tl::unexpected<Failure>(std::move(graph).error());
  const Graph network = simplify(std::move(*graph));
  for (const auto& batch : wanted.batches) {
    Binding bound = wanted.binding;
    bound.batch = batch.value_or(1);
    auto assumed = assume_open_dimensions(network, bound);
    if (!assumed) return tl::unexpected(std::move(assumed).error());
    if (notes != nullptr && batch == wanted.batches.front()) tell_assumptions(file, *assumed, *notes);
    for (const profile::Conditions& at : wanted.conditions) {
      auto added = plan.add_network(name, network, bound, at);
      if (!added) return tl::unexpected<Failure>(std::move(added).error().in(file));
      if (const std::int64_t fixed = plan.networks().back().batch; batch && fixed != *batch)
        return other_batch(file, *batch, fixed, bound);
    }
  }
  return {};
}

struct Models {
  std::vector<std::string> files;
  // By file: of a folder or of a library, which nobody named: where it cannot be planned it is told and left out.
  std::vector<bool> found;
};

Outcome add_models(const Models& models, const Wanted& wanted, profile::Plan& plan, Output* notes) {
  const std::vector<std::string> names = profile::model_names(models.files);
  for (std::size_t i = 0; i < models.files.size(); ++i) {
    auto added = add_model(models.files[i], names[i], wanted, plan, notes);
    if (!added && !models.found[i]) return added;
    if (!added) plan.leave_out(added.error().error.text());
  }
  return {};
}

Failure none_planned(const profile::Plan& plan) {
  const std::size_t count = plan.left_out().size();
  if (count == 1) return Failure{{ErrorCode::kInvalidInput, plan.left_out().front()}};
  return Failure{{ErrorCode::kInvalidInput,
                  fmt::format("none of {} models can be measured; the first: {}", count, plan.left_out().front())}};
}

tl::expected<Models, Failure> named_models(const std::vector<std::string>& paths) {
  Models out;
  for (const std::string& path : paths) {
    auto files = find_models(path);
    if (!files) return tl::unexpected<Failure>(std::move(files).error());
    out.found.insert(out.found.end(), files->size(), *files != std::vector{path});
    out.files.insert(out.files.end(), files->begin(), files->end());
  }
  return out;
}

// A list that says no mode or precision gets those of the options.
Outcome add_list(const std::string& file, const Wanted& wanted, profile::Plan& plan) {
  auto list = profile::read_operation_list(file);
  if (!list) return tl::unexpected<Failure>(std::move(list).error());
  for (const profile::ListedOperation& one : *list) {
    for (profile::Conditions at : wanted.conditions) {
      at.mode = one.mode.value_or(at.mode);
      at.precision = one.precision.value_or(at.precision);
      auto added = plan.add_operation(one.text, at, true);  // again: it is there once
      if (!added) {
        return tl::unexpected<Failure>(std::move(added).error().in(fmt::format("{}: line {}", file, one.line)));
      }
    }
  }
  return {};
}

void keep_wanted(const ProfileOptions& options, profile::Plan& plan) {
  if (options.only == "operations") plan.keep(profile::Plan::Only::kOperations);
  if (options.only == "networks") plan.keep(profile::Plan::Only::kNetworks);
  if (const auto shard = profile::parse_shard(options.shard)) plan.keep(*shard);
}

// What a table's operations have of their own would pass over it in silence.
Outcome check_lists(const ProfileOptions& options) {
  if (options.operations.empty() || !options.models.empty() || !options.zoo.empty()) return {};
  const char* hint = "leave it out, or add the model that it is for";
  if (!options.batches.empty()) return usage("--batch: a table's operations have whole shapes", hint);
  if (!options.shapes.empty()) return usage("--shapes: a table's operations have their own", hint);
  if (options.only == "networks") return usage("--only networks: of a table only operations are measured", hint);
  return {};
}

// "ids:8x128:i64": a name for people, the shape, and the element type, else f32.
tl::expected<profile::Module::Input, Failure> module_input(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto element = colon == std::string::npos ? std::nullopt : parse_element_type(text.substr(colon + 1));
  auto bound = binding({std::nullopt, {element ? text.substr(0, colon) : text}});
  if (!bound) {
    return usage(fmt::format("--shapes: '{}' is no shape", printable(text)),
                 "write it like --shapes x:8x3x224x224 or --shapes ids:8x128:i64");
  }
  return profile::Module::Input{bound->shapes.begin()->second, element.value_or(ElementType::kFloat32)};
}

// Their inputs' shapes are given whole, so batches and a model's own inputs have no place beside them.
Outcome check_modules(const ProfileOptions& options) {
  for (const std::string& where : options.modules) {
    const std::size_t colon = where.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == where.size()) {
      return usage(fmt::format("--module: '{}' names no callable", printable(where)),
                   "PACKAGE.MODULE:CALLABLE or FILE.py:CALLABLE");
    }
  }
  if (!options.models.empty() || !options.zoo.empty() || !options.operations.empty())
    return usage("--module: not beside model files, --zoo or --operations", "a start of its own for either");
  if (!options.batches.empty()) return usage("--batch: a module's shapes are whole", "--shapes x:8x3x224x224");
  if (options.shapes.empty()) return usage("--module: its inputs are not known", "--shapes x:8x3x224x224");
  return {};
}

tl::expected<profile::Plan, Failure> plan_of_modules(const ProfileOptions& options,
                                                     const std::vector<profile::Conditions>& conditions) {
  JC_RETURN_IF_FAILURE(check_modules(options));
  std::vector<profile::Module::Input> inputs;
  for (const std::string& text : options.shapes) {
    auto input = module_input(text);
    if (!input) return tl::unexpected(std::move(input).error());
    inputs.push_back(*input);
  }
  profile::Plan plan;
  for (const std::string& where : options.modules) {
    for (const profile::Conditions& at : conditions) plan.add_module({where, inputs}, at);
  }
  keep_wanted(options, plan);
  return plan;
}

}  // namespace

tl::expected<profile::Plan, Failure> plan_of(const ProfileOptions& options, Output& output) {
  if (options.models.empty() && options.zoo.empty() && options.operations.empty() && options.modules.empty()) {
    return usage("profile: nothing to measure",
                 "joulecast profile MODEL... -o FOLDER, or --zoo, or --operations, or --module");
  }
  JC_RETURN_IF_FAILURE(check_lists(options));
  auto batches = parse_batches(options.batches);
  if (!batches) return tl::unexpected(std::move(batches).error());
  auto conditions = conditions_of(options);
  if (!conditions) return tl::unexpected(std::move(conditions).error());
  if (!options.modules.empty()) return plan_of_modules(options, *conditions);
  auto bound = binding({std::nullopt, options.shapes});
  if (!bound) return tl::unexpected(std::move(bound).error());
  const Wanted wanted{std::move(*batches), std::move(*conditions), std::move(*bound)};
  profile::Plan plan;
  auto models = named_models(options.models);
  if (!models) return tl::unexpected(std::move(models).error());
  JC_RETURN_IF_FAILURE(add_models(*models, wanted, plan, &output));
  for (const std::string& file : options.operations) JC_RETURN_IF_FAILURE(add_list(file, wanted, plan));
  auto made = zoo_files(options, output);
  if (!made) return tl::unexpected(std::move(made).error());
  const std::vector<bool> nobody_named(made->size(), true);
  JC_RETURN_IF_FAILURE(add_models({std::move(*made), nobody_named}, wanted, plan, nullptr));
  if (plan.cases().empty() && !plan.left_out().empty()) return tl::unexpected(none_planned(plan));
  keep_wanted(options, plan);
  return plan;
}

}  // namespace joulecast::cli
