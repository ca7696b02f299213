// SPDX-License-Identifier: Apache-2.0
#include "profile/zoo.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/program_folder.h"
#include "measure/child.h"
#include "profile/last_line.h"

namespace joulecast::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLookAgain{500};

// Names become files' names and words of a command.
bool is_name(std::string_view text) {
  constexpr std::string_view kOthers = "_-.:";
  return !text.empty() && text.front() != '-' && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
           return letter || kOthers.find(c) != std::string_view::npos;
         });
}

std::string names_of_lists(const std::string& tools) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(tools + "/zoo/lists", ignored)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

struct Wanted {
  std::vector<std::string> words;       // behind `export`
  std::multiset<std::string> networks;  // a network may be there at several sizes
};

// Of a list: lines "SOURCE:NAME [image_size=N] ...", '#' starts a comment.
std::multiset<std::string> networks_of_list(const std::string& path) {
  std::multiset<std::string> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string network;
    if (words >> network && network.front() != '#') out.insert(network);
  }
  return out;
}

// Errors: kNotFound, kInvalidInput.
Result<Wanted> networks_wanted(const std::string& tools, const std::string& wanted) {
  if (!is_name(wanted)) return invalid(fmt::format("'{}' is no name of the zoo", wanted));
  if (wanted.find(':') != std::string::npos) return Wanted{{wanted}, {wanted}};
  const std::string list = fmt::format("{}/zoo/lists/{}.txt", tools, wanted);
  std::error_code ignored;
  if (fs::is_regular_file(list, ignored)) return Wanted{{"--list", list}, networks_of_list(list)};
  return not_found(fmt::format("the zoo has no list '{}': {}; or one network, as torchvision:resnet18", wanted,
                               names_of_lists(tools)));
}

std::string log_beside(const std::string& own) {
  return (fs::path(own).parent_path() / "zoo.log").string();
}

// The exit code. Errors: kNotFound where there is no python3, kIo where the user ended it.
Result<int> run_and_tell(const std::vector<std::string>& command, const std::string& tools, const std::string& log,
                         const std::function<void(const std::string&)>& say) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return io_error(fmt::format("{}: cannot be written", log));
  const SignalsBlocked blocked;
  ChildOptions options;
  options.environment = {{"PYTHONPATH", tools}, {"PYTHONUNBUFFERED", "1"}};
  options.output = file;
  options.dies_with_us = true;
  const auto child = start_child(command, options);
  ::close(file);
  if (!child) return not_found(child.error().text);
  ChildWaiter waiter(*child, PassOn::kSentToUsAlone);
  Waited waited;
  while (!waited.end && !waited.interrupted) {
    waited = waiter.wait(kLookAgain);
    if (say) say(last_line(log));
  }
  if (waiter.asked_to_stop() || !waited.end) return io_error("stopped");
  return waited.end->code;
}

// A job that was tried, as summary.json has it.
struct Tried {
  std::string key, network, file, status, reason;
};

std::vector<Tried> tried(const std::string& own) {
  std::ifstream in(own + "/summary.json");
  const auto json = nlohmann::json::parse(in, nullptr, false);
  std::vector<Tried> out;
  if (!json.is_object()) return out;
  for (const auto& [key, entry] : json.items()) {
    const auto text = [&entry = entry](const char* name) {
      const bool there = entry.is_object() && entry.contains(name) && entry[name].is_string();
      return there ? entry[name].get<std::string>() : std::string();
    };
    out.push_back({key, text("network"), text("file"), text("status"), text("reason")});
  }
  return out;
}

std::vector<std::string> failures(const std::string& own) {
  std::vector<std::string> out;
  for (const Tried& one : tried(own)) {
    if (one.status != "failed") continue;
    out.push_back(fmt::format("{}: {}", one.key, one.reason.empty() ? "no reason is known" : one.reason));
  }
  return out;
}

// Networks of which nothing is known yet: neither a file nor a failure, unless that is to be tried again.
std::size_t count_left(const std::string& own, std::multiset<std::string> networks, bool retry_failed = false) {
  std::error_code ignored;
  for (const Tried& one : tried(own)) {
    if (retry_failed && one.status == "failed") continue;
    if (!one.file.empty() && !fs::exists(own + "/" + one.file, ignored)) continue;
    if (const auto at = networks.find(one.network); at != networks.end()) networks.erase(at);
  }
  return networks.size();
}

// The exit code. Errors: kIo, kNotFound.
Result<int> make_networks(const std::string& tools, const Wanted& wanted, const std::string& own,
                          const ZooOptions& options) {
  std::error_code error;
  fs::create_directories(own, error);
  if (error) return io_error(fmt::format("{}: {}", own, error.message()));
  std::vector<std::string> command = {"python3", "-m", "zoo", "export", "--no-references", "-o", own, "--weightless"};
  if (options.within) command.insert(command.end(), {"--within", fmt::format("{:.0f}", options.within->value())});
  if (options.retry_failed) command.emplace_back("--retry");
  command.insert(command.end(), wanted.words.begin(), wanted.words.end());
  return run_and_tell(command, tools, log_beside(own), options.say);
}

}  // namespace

std::string zoo_tools() {
  std::error_code ignored;
  for (const char* place : {"/../share/joulecast", "/../../tools"}) {
    const std::string path = program_folder() + place;
    if (fs::is_regular_file(path + "/zoo/__main__.py", ignored)) return fs::canonical(path, ignored).string();
  }
  return {};
}

Result<ZooNetworks> export_zoo(const std::string& tools, const std::string& name, const std::string& folder,
                               const ZooOptions& options) {
  JC_ASSIGN_OR_RETURN(const Wanted wanted, networks_wanted(tools, name));
  std::string own = folder + "/" + name;
  std::replace(own.end() - static_cast<std::ptrdiff_t>(name.size()), own.end(), ':', '_');
  int code = 0;
  const std::size_t missing = count_left(own, wanted.networks, options.retry_failed);
  const bool makes = options.zoo == Zoo::kMake && missing > 0;
  if (makes) {
    JC_ASSIGN_OR_RETURN(code, make_networks(tools, wanted, own, options));
  }
  ZooNetworks out;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(own, error)) {
    if (entry.path().extension() == ".onnx") out.files.push_back(entry.path().string());
  }
  std::sort(out.files.begin(), out.files.end());
  out.failed = failures(own);
  out.left = count_left(own, wanted.networks);
  if (makes && out.left == missing) out.why_none = last_line(log_beside(own));
  if (!out.files.empty()) return out;
  if (options.zoo == Zoo::kIsMade) return not_found(fmt::format("no network of '{}' is made yet in {}", name, folder));
  if (!out.failed.empty()) return unsupported(fmt::format("no network of '{}' was made: {}", name, out.failed.front()));
  return not_found(
      fmt::format("python3 made no network of '{}' (exit code {}): {}", name, code, last_line(log_beside(own))));
}

}  // namespace joulecast::profile
