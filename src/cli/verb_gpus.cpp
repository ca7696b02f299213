// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/lower_case.h"
#include "cli/gpu_text.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace joulecast::cli {
namespace {

struct GpusOptions {
  std::optional<std::string> name, vendor, architecture;
  bool mig = false, markdown = false;
  std::optional<double> min_memory_gb;
  std::vector<std::string> gpu_files;
  Form form;
};

// A finite number, or nothing.
std::optional<double> parse_decimal(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Fails where no GPU has the word at all: a misspelt filter must not read as "there is none".
Outcome check_word(const Catalogue& catalogue, std::string_view what, const std::optional<std::string>& word,
                   std::string_view Gpu::*member) {
  if (!word) return {};
  std::set<std::string_view> known;
  for (const Gpu& gpu : catalogue.all()) {
    if (lower_case(gpu.*member) == lower_case(*word)) return {};
    known.insert(gpu.*member);
  }
  return tl::unexpected<Failure>(Failure{{ErrorCode::kNotFound, fmt::format("no GPU of {} '{}'", what, *word)},
                                         fmt::format("there are {}", fmt::join(known, ", "))});
}

bool matches(const Gpu& gpu, const GpusOptions& options) {
  if (options.vendor && lower_case(gpu.vendor) != lower_case(*options.vendor)) return false;
  if (options.architecture && lower_case(gpu.architecture) != lower_case(*options.architecture)) return false;
  if (options.mig && gpu.mig_profiles.empty()) return false;
  return !options.min_memory_gb || gpu.memory.value() >= *options.min_memory_gb * 1e9;
}

tl::expected<std::vector<const Gpu*>, Failure> chosen(const Catalogue& catalogue, const GpusOptions& options) {
  std::vector<const Gpu*> out;
  if (options.name) {
    const auto gpu = catalogue.find(*options.name);
    if (!gpu) return tl::unexpected<Failure>(Failure{gpu.error(), "joulecast gpus lists all of them"});
    out.push_back(*gpu);
    return out;
  }
  if (auto ok = check_word(catalogue, "vendor", options.vendor, &Gpu::vendor); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_word(catalogue, "architecture", options.architecture, &Gpu::architecture); !ok) {
    return tl::unexpected(ok.error());
  }
  for (const Gpu& gpu : catalogue.all()) {
    if (matches(gpu, options)) out.push_back(&gpu);
  }
  return out;
}

Outcome run_gpus(const GpusOptions& options, Output& output) {
  const auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(catalogue.error());
  const auto gpus = chosen(*catalogue, options);
  if (!gpus) return tl::unexpected(gpus.error());
  if (options.form.json) {
    output.write(gpus_json(*gpus));
  } else if (options.form.csv) {
    output.write(gpus_csv(*gpus));
  } else if (options.markdown) {
    output.write(gpus_markdown(*gpus));
  } else if (options.name) {
    output.write(gpu_text(*gpus->front()));
  } else if (gpus->empty()) {
    output.note("no GPU fits all filters");
  } else {
    output.write(gpu_list_text(*gpus));
  }
  return {};
}

}  // namespace

Action define_gpus(CLI::App& app) {
  auto options = std::make_shared<GpusOptions>();
  auto* name =
      app.add_option("NAME", options->name, "show this one with every figure")->type_name(kGpu)->option_text(" ");
  auto* vendor = app.add_option("--vendor", options->vendor, "only of this vendor")->type_name("NAME");
  auto* architecture = app.add_option("--architecture", options->architecture, "only of this one")->type_name("NAME");
  auto* mig = app.add_flag("--mig", options->mig, "only those that can be sliced");
  auto* memory = app.add_option("--min-memory-gb", options->min_memory_gb, "only with so much memory")->type_name("N");
  memory->check([](const std::string& text) {
    const auto value = parse_decimal(text);
    return value && *value >= 0.0 ? std::string() : fmt::format("'{}' is no amount of memory", text);
  });
  for (auto* filter : {vendor, architecture, mig, memory}) filter->excludes(name);
  vendor->option_text("NAME");
  architecture->option_text("NAME");
  mig->option_text(" ");
  memory->option_text("N");
  add_gpu_files(app, options->gpu_files);
  add_form(app, options->form);
  app.add_flag("--markdown", options->markdown)->group("");  // for docs/gpus.md
  add_examples(app,
               {"joulecast gpus --architecture hopper", "joulecast gpus a100",
                "joulecast gpus --mig --min-memory-gb 40 --csv", "joulecast gpus my-board --gpu-file my-board.toml"});
  return [options](Output& output) { return run_gpus(*options, output); };
}

}  // namespace joulecast::cli
