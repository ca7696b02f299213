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
#include <sstream>

#include "base/program_folder.h"
#include "measure/child.h"

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

// The words behind `export`. Errors: kNotFound, kInvalidInput.
Result<std::vector<std::string>> networks_wanted(const std::string& tools, const std::string& wanted) {
  if (!is_name(wanted)) return invalid(fmt::format("'{}' is no name of the zoo", wanted));
  if (wanted.find(':') != std::string::npos) return std::vector{wanted};
  const std::string list = fmt::format("{}/zoo/lists/{}.txt", tools, wanted);
  std::error_code ignored;
  if (fs::is_regular_file(list, ignored)) return std::vector<std::string>{"--list", list};
  return not_found(fmt::format("the zoo has no list '{}': {}; or one network, as torchvision:resnet18", wanted,
                               names_of_lists(tools)));
}

std::string last_line(const std::string& path) {
  constexpr std::streamoff kEnough = 4096;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - kEnough));
  std::string line, last;
  while (std::getline(in, line)) {
    if (!line.empty()) last = line;
  }
  return last;
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

// What summary.json says of jobs that failed.
std::vector<std::string> failures(const std::string& summary) {
  std::vector<std::string> out;
  std::ifstream in(summary);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object()) return out;
  for (const auto& [key, entry] : json.items()) {
    if (entry.value("status", "") == "failed") {
      out.push_back(fmt::format("{}: {}", key, entry.value("reason", "no reason is known")));
    }
  }
  return out;
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

Result<ZooNetworks> export_zoo(const std::string& tools, const std::string& wanted, const std::string& folder, Zoo zoo,
                               const std::function<void(const std::string&)>& say) {
  JC_ASSIGN_OR_RETURN(const std::vector<std::string> networks, networks_wanted(tools, wanted));
  std::string name = wanted;
  std::replace(name.begin(), name.end(), ':', '_');
  const std::string own = folder + "/" + name;
  const std::string log = folder + "/zoo.log";
  std::error_code error;
  int code = 0;
  if (zoo == Zoo::kMake) {
    fs::create_directories(own, error);
    if (error) return io_error(fmt::format("{}: {}", own, error.message()));
    std::vector<std::string> command = {"python3", "-m", "zoo", "export", "--no-references", "-o", own};
    command.insert(command.end(), networks.begin(), networks.end());
    JC_ASSIGN_OR_RETURN(code, run_and_tell(command, tools, log, say));
  }
  ZooNetworks out;
  for (const auto& entry : fs::recursive_directory_iterator(own, error)) {
    if (entry.path().extension() == ".onnx") out.files.push_back(entry.path().string());
  }
  std::sort(out.files.begin(), out.files.end());
  out.failed = failures(own + "/summary.json");
  if (out.files.empty()) {
    const std::string why = out.failed.empty() ? last_line(log) : out.failed.front();
    return not_found(fmt::format("python3 made no network of '{}' (exit code {}): {}", wanted, code, why));
  }
  return out;
}

}  // namespace joulecast::profile
