// SPDX-License-Identifier: Apache-2.0
// Networks of a library, made in the campaign's folder, where the next start finds them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/profile/profile_commands.h"
#include "profile/zoo.h"

namespace joulecast::cli {
namespace {

// A quarter of a budget, so that most of it is left for measuring: few networks have more operations than it can
// measure. Not of a job array's: its shards measure what was there when it was submitted.
std::optional<Seconds> time_for_making(const ProfileOptions& options, const Stopwatch& since) {
  constexpr double kShare = 0.25;
  const auto budget = parse_seconds(options.budget);
  if (!budget || options.slurm > 0) return std::nullopt;
  return Seconds{std::max(kShare * *budget - since.seconds(), 0.0)};
}

// Says once that it began, and on a terminal what is made.
class Telling {
 public:
  Telling(std::string name, const ProfileOptions& options, Output& output)
      : name_(std::move(name)),
        terminal_(!options.quiet && ::isatty(STDERR_FILENO) == 1),
        quiet_(options.quiet),
        output_(output) {}

  void making(const std::string& line, const std::optional<Seconds>& within) {
    if (!std::exchange(began_, true) && !quiet_) {
      const std::string most = within ? fmt::format(", for {:.0f} s", within->value()) : "";
      output_.note(fmt::format("making networks of {}{}", name_, most));
    }
    if (terminal_) fmt::print(stderr, "\r{:.70}\033[K", printable(line));
  }
  void done() const {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }
  void made(const profile::ZooNetworks& networks) {
    if (began_ && !quiet_) {
      output_.note(fmt::format("{} networks of {} are made; that took {:.0f} s", networks.files.size(), name_,
                               begin_.seconds()));
    }
    if (networks.left > 0) output_.note(fmt::format("{} more of {} are not made yet", networks.left, name_));
    if (!networks.why_none.empty()) output_.note("none was made: " + printable(networks.why_none));
    for (const std::string& failed : networks.failed) output_.note("not made: " + failed);
  }

 private:
  std::string name_;
  bool terminal_, quiet_, began_ = false;
  Output& output_;
  Stopwatch begin_;
};

// A network that the library does not have, or that cannot be made, is not the fault of the python3 here.
Failure not_made(const Error& error) {
  std::string hint =
      "networks are made by python3 with tools/zoo/requirements.txt; tools/zoo/make_venv.sh makes such a one";
  const bool unknown = error.text().find("UnsupportedNetwork: ") != std::string::npos;
  if (error.code() == ErrorCode::kUnsupported) hint += "; then --retry-failed tries again";
  return {Error(error).in("--zoo"), unknown ? "" : hint};
}

}  // namespace

tl::expected<std::vector<std::string>, Failure> zoo_files(const ProfileOptions& options, Output& output) {
  std::vector<std::string> files;
  const std::string tools = profile::zoo_tools();
  if (tools.empty() && !options.zoo.empty())
    return usage("--zoo: this joulecast was installed without tools/zoo", "pass model files");
  const Stopwatch since;
  for (const std::string& name : options.zoo) {
    Telling telling(printable(name), options, output);
    profile::ZooOptions how;
    // Who submitted the shards has made them; and to look at what was measured, none more are needed.
    how.zoo = options.shard.empty() && !options.validate ? profile::Zoo::kMake : profile::Zoo::kIsMade;
    how.retry_failed = options.retry_failed;
    how.within = time_for_making(options, since);
    how.say = [&](const std::string& line) { telling.making(line, how.within); };
    const auto networks = profile::export_zoo(tools, name, options.output + "/zoo", how);
    telling.done();
    if (!networks) return tl::unexpected<Failure>(not_made(networks.error()));
    telling.made(*networks);
    files.insert(files.end(), networks->files.begin(), networks->files.end());
  }
  return files;
}

}  // namespace joulecast::cli
