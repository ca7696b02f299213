// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "cli/output.h"
#include "joulecast/import.h"

namespace joulecast::cli {
namespace {

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;

std::optional<std::int64_t> extent(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > kMaxExtent) return std::nullopt;
  return value;
}

// "1x3x224x224". Nothing for what is no shape.
std::optional<Shape> shape(std::string_view text) {
  Shape out;
  while (true) {
    const std::size_t end = std::min(text.find('x'), text.size());
    const auto value = extent(text.substr(0, end));
    if (!value || out.full()) return std::nullopt;
    out.push_back(*value);
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string user_folder() {
  const char* config = std::getenv("XDG_CONFIG_HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (config != nullptr && *config == '/') return std::string(config) + "/joulecast/gpus";
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  return home != nullptr && *home != '\0' ? std::string(home) + "/.config/joulecast/gpus" : std::string();
}

namespace {

// Subcommands' too.
template <typename Visit>
void for_each_option(CLI::App& app, const Visit& visit) {
  for (CLI::Option* option : app.get_options()) visit(*option);
  const auto every = [](const CLI::App*) { return true; };
  for (CLI::App* subcommand : app.get_subcommands(every)) for_each_option(*subcommand, visit);
}

}  // namespace

void refuse_empty_names(CLI::App& app) {
  for_each_option(app, [](CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (type != kFile && type != kModel && type != kFolder && type != kStore) return;
    option.check([](const std::string& name) { return std::string(name.empty() ? "is empty" : ""); });
  });
}

void take_one_word_each(CLI::App& app) {
  for_each_option(app, [](CLI::Option& option) {
    if (option.nonpositional()) option.allow_extra_args(false);
  });
}

void add_form(CLI::App& app, Form& form) {
  auto* json = app.add_flag("--json", form.json, "print JSON");
  auto* csv = app.add_flag("--csv", form.csv, "print CSV (RFC 4180)");
  csv->excludes(json)->option_text(" ");
  json->option_text(" ");
}

void add_examples(CLI::App& app, std::initializer_list<std::string_view> lines) {
  std::string text = "Examples:";
  for (const std::string_view line : lines) text += fmt::format("\n  {}", line);
  app.footer("\n" + text);
}

CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& out, const std::string& description,
                        const std::vector<std::string>& choices) {
  const std::string listed = fmt::format("{}", fmt::join(choices, "|"));
  auto* option = app.add_option(names, out, description)->type_name(listed);
  // A transformer of CLI11 would print its own, longer text in the help.
  return option->check([choices, listed](const std::string& value) {
    const bool known = std::find(choices.begin(), choices.end(), value) != choices.end();
    return known ? std::string() : fmt::format("'{}' is none of {}", value, listed);
  });
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& out, const std::string& description) {
  static constexpr std::size_t kMost = 1'000'000;
  auto* option = app.add_option(name, out, description)->type_name("N");
  // CLI11 reads -1 as the largest number there is.
  return option->check([](const std::string& text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc{} && end == text.data() + text.size() && value <= kMost;
    return good ? std::string() : fmt::format("'{}' is no whole number from 0 to {}", text, kMost);
  });
}

void add_gpu_files(CLI::App& app, std::vector<std::string>& files) {
  app.add_option("--gpu-file", files, "a GPU of your own (repeatable)")->type_name(kFile)->expected(1)->take_all();
}

Result<Catalogue> load_catalogue(const std::vector<std::string>& files) {
  Catalogue catalogue = Catalogue::shipped();
  if (const std::string folder = user_folder(); !folder.empty()) JC_RETURN_IF_ERROR(catalogue.add_folder(folder));
  for (const std::string& file : files) JC_RETURN_IF_ERROR(catalogue.add_file(file));
  return catalogue;
}

namespace {

void add_framework(CLI::App& app, std::string& framework) {
  std::string names;
  for (const std::string_view name : frameworks()) names.append(names.empty() ? "" : ", ").append(name);
  app.add_option("--framework", framework, "whose file it is, instead of what its bytes say: " + names)
      ->type_name("NAME");
}

}  // namespace

void add_model(CLI::App& app, ModelOptions& model) {
  app.add_option("MODEL", model.file, "a model file; its weights are not read")
      ->required()
      ->type_name(kModel)
      ->option_text(" ");
  add_framework(app, model.framework);
}

void add_models(CLI::App& app, ModelsOptions& models) {
  app.add_option("MODEL", models.files, "model files, or folders of them; weights are not read")
      ->required()
      ->type_name(kModel)
      ->option_text("...");
  add_framework(app, models.framework);
}

void add_shapes(CLI::App& app, ShapeOptions& shapes) {
  app.add_option("-b,--batch", shapes.batch, "extent of the batch dimension")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, kMaxExtent).description(""));
  app.add_option("-s,--shapes", shapes.shapes, "shape of an input (repeatable)")
      ->type_name("NAME:AxBxC")
      ->expected(1)
      ->take_all();
}

tl::expected<Binding, Failure> binding(const ShapeOptions& options) {
  Binding out;
  out.batch = options.batch;
  for (const std::string& text : options.shapes) {
    // The last colon: names of TensorFlow's inputs hold one themselves ("input:0").
    const std::size_t colon = text.rfind(':');
    const auto parsed =
        colon == std::string::npos || colon == 0 ? std::nullopt : shape(std::string_view(text).substr(colon + 1));
    if (!parsed) {
      return usage(fmt::format("--shapes: '{}' is no shape", text),
                   "write it as --shapes NAME:AxBxC, with the name and all extents of an input that 'joulecast inspect "
                   "MODEL' lists");
    }
    if (!out.shapes.emplace(text.substr(0, colon), *parsed).second)
      return usage(fmt::format("--shapes: input '{}' is given twice", text.substr(0, colon)));
  }
  return out;
}

std::vector<std::string> list_words(const std::vector<std::string>& lists) {
  std::vector<std::string> out;
  for (const std::string& list : lists) {
    std::size_t begin = 0;
    while (begin <= list.size()) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      out.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return out;
}

tl::expected<std::vector<std::optional<std::int64_t>>, Failure> parse_batches(const std::vector<std::string>& lists) {
  std::vector<std::optional<std::int64_t>> out;
  for (const std::string& text : list_words(lists)) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > 1'000'000'000) {
      return usage(fmt::format("--batch: '{}' is no batch size", printable(text)),
                   "a list of whole numbers: --batch 1,8,32");
    }
    if (std::find(out.begin(), out.end(), value) == out.end()) out.emplace_back(value);
  }
  if (out.empty()) out.emplace_back(std::nullopt);
  return out;
}

}  // namespace joulecast::cli
