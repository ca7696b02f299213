// SPDX-License-Identifier: Apache-2.0
// Options that several verbs have, said and parsed once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/outcome.h"
#include "joulecast/gpu.h"
#include "joulecast/graph.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace joulecast::cli {

// Names that tell the completion what may stand in an option's place.
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kModel = "MODEL";
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kStore = "STORE";
inline constexpr const char* kGpu = "GPU";

// An empty name of a file is a usage error of every option and argument that has one of these names, also of
// subcommands: it is a variable of a script that was never set, and would fail later with less to go by, or not at all.
void refuse_empty_names(CLI::App& app);

// An option that may be repeated takes one word each time, also of subcommands: CLI11 would have it take the files
// behind it as well.
void take_one_word_each(CLI::App& app);

// --json and --csv, of which one at most.
struct Form {
  bool json = false, csv = false;
};
void add_form(CLI::App& app, Form& form);

// Examples below the options in the verb's help.
void add_examples(CLI::App& app, std::initializer_list<std::string_view> lines);

// An option that takes one of a few words; its help and its completion list them.
CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& out, const std::string& description,
                        const std::vector<std::string>& choices);

// An option that takes a whole number from 0 to a million.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& out, const std::string& description);

// --gpu-file, repeatable.
void add_gpu_files(CLI::App& app, std::vector<std::string>& files);
// Where the user's own GPU files lie: $XDG_CONFIG_HOME/joulecast/gpus; empty where no variable says.
std::string user_folder();
// The shipped GPUs, those in $XDG_CONFIG_HOME/joulecast/gpus, then `files`.
Result<Catalogue> load_catalogue(const std::vector<std::string>& files);

// "1,8,32" and repeated options alike; what is empty between commas is a word too, which none is.
std::vector<std::string> list_words(const std::vector<std::string>& lists);
// Batch sizes, each once; one absent entry where none is asked for.
tl::expected<std::vector<std::optional<std::int64_t>>, Failure> parse_batches(const std::vector<std::string>& lists);

// MODEL and --framework NAME.
struct ModelOptions {
  std::string file, framework;
};
void add_model(CLI::App& app, ModelOptions& model);
// MODEL..., each a file or a folder of them, and --framework.
struct ModelsOptions {
  std::vector<std::string> files;
  std::string framework;
};
void add_models(CLI::App& app, ModelsOptions& models);

// --batch N and --shapes name:AxBxC (repeatable).
struct ShapeOptions {
  std::optional<std::int64_t> batch;
  std::vector<std::string> shapes;
};
void add_shapes(CLI::App& app, ShapeOptions& shapes);
// Fails with exit code 2 for a shape that cannot be read, and for two of one input.
tl::expected<Binding, Failure> binding(const ShapeOptions& options);

}  // namespace joulecast::cli
