// SPDX-License-Identifier: Apache-2.0
// What `joulecast train` runs: joulecast-train PACK quiet|progress [--OPTION [VALUE]]... TABLE...
// or joulecast-train --calibrate OUT PACK quiet|progress [--OPTION VALUE]... TABLE...
// or joulecast-train --protocol thesis and the words of thesis_main().
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/harmless.h"
#include "base/output_file.h"
#include "fit/calibrate.h"
#include "fit/thesis/protocol.h"
#include "fit/train.h"

namespace {

using joulecast::Catalogue;

// "--gpu-folder" and "--gpu-file"; what is neither adds nothing. `out` is what will be written.
joulecast::Result<void> add_gpus(const std::string& option, const std::string& value, const std::string& out,
                                 Catalogue& catalogue) {
  if (option == "--gpu-folder") {
    JC_RETURN_IF_ERROR(joulecast::check_not_in(out, value));
    return catalogue.add_folder(value);
  }
  if (option != "--gpu-file") return {};
  JC_RETURN_IF_ERROR(joulecast::check_no_input(out, {&value, 1}));
  return catalogue.add_file(value);
}

// Takes one option off the front, if there is one.
joulecast::Result<bool> take_option(std::vector<std::string>& words, joulecast::TrainOptions& options) {
  if (words.front() == "--quick") {
    options.quick = true;
    words.erase(words.begin());
    return true;
  }
  if (words.front().starts_with("--gpu-") && words.size() > 1) {
    JC_RETURN_IF_ERROR(add_gpus(words[0], words[1], options.out, options.catalogue));
    words.erase(words.begin(), words.begin() + 2);
    return true;
  }
  if (words.front() == "--layout" && words.size() > 1) {
    options.layouts.push_back(words[1]);
    words.erase(words.begin(), words.begin() + 2);
    return true;
  }
  if (words.front() == "--estimator" && words.size() > 1) {
    options.method = joulecast::parse_method(words[1]).value_or(joulecast::Method::kOurs);
    words.erase(words.begin(), words.begin() + 2);
    return true;
  }
  if (words.front() == "--stratum-rows" && words.size() > 1) {
    options.stratum_rows = std::strtoull(words[1].c_str(), nullptr, 10);  // the verb has checked it
    words.erase(words.begin(), words.begin() + 2);
    return true;
  }
  const std::pair<std::string_view, std::string*> valued[] = {{"--without", &options.without},
                                                              {"--without-gpu", &options.without_gpu},
                                                              {"--calibration", &options.calibration}};
  for (const auto& [name, value] : valued) {
    if (words.front() != name || words.size() < 2) continue;
    *value = words[1];
    words.erase(words.begin(), words.begin() + 2);
    return true;
  }
  return false;
}

// Words of tables and files are shown as the program itself shows them.
// A training goes on where nobody can read of it any more.
void say(std::string_view line) {
  const std::string text = fmt::format("{}\n", joulecast::harmless_line(line, "?"));
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int failed(const joulecast::Error& error) {
  say("joulecast: " + error.text());
  return 1;
}

int calibrate_main(const std::vector<std::string>& words) {
  joulecast::CalibrateOptions options{.tables = {}, .layouts = {}, .pack = words[1], .out = words[0]};
  const bool quiet = words[2] == "quiet";
  Catalogue catalogue = Catalogue::shipped();
  std::size_t i = 3;
  for (; i + 1 < words.size() && words[i].starts_with("--"); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--layout") options.layouts.push_back(value);
    if (words[i] == "--graphs") options.graphs = value;
    if (words[i] == "--calibration") options.calibration = value;
    if (const auto added = add_gpus(words[i], value, options.out, catalogue); !added) return failed(added.error());
  }
  options.tables.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  const auto progress = [&](const std::string& line) {
    if (!quiet) say(line);
  };
  const auto done = joulecast::calibrate(options, catalogue, progress);
  if (!done) return failed(done.error());
  const std::string text = quiet ? std::string() : joulecast::calibration_text(*done);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "joulecast-train: part of joulecast; use joulecast train\n");
    return 2;
  }
  if (argv[1] == std::string_view("--protocol") && argv[2] == std::string_view("thesis"))
    return joulecast::thesis_main({argv + 3, argv + argc});
  if (argv[1] == std::string_view("--calibrate") && argc > 5) return calibrate_main({argv + 2, argv + argc});
  const bool quiet = std::string_view(argv[2]) == "quiet";
  joulecast::TrainOptions options;
  options.out = argv[1];
  std::vector<std::string> words(argv + 3, argv + argc);
  while (!words.empty()) {
    const auto taken = take_option(words, options);
    if (!taken) return failed(taken.error());
    if (!*taken) break;
  }
  options.tables = std::move(words);
  const auto progress = [&](const std::string& line) {
    if (!quiet) say(line);
  };
  const auto done = joulecast::train(options, progress);
  return done ? 0 : failed(done.error());
}
