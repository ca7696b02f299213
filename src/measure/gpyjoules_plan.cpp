// SPDX-License-Identifier: Apache-2.0
#include "measure/gpyjoules_plan.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <filesystem>

#include "measure/restore_journal.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

constexpr double kMilli = 1000;
constexpr double kBaselineSeconds = 60;  // GPyJoules records that long before each run

template <typename... Names>
YAML::Node first_of(const YAML::Node& node, Names... names) {
  for (const char* name : {names...}) {
    if (const YAML::Node found = node[name]) return found;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

std::string text_of(const YAML::Node& node, const std::string& otherwise) {
  return node && node.IsScalar() ? node.as<std::string>() : otherwise;
}

void read_limits(const YAML::Node& list, SweepPlan& plan) {
  if (!list || list.IsNull()) return;
  for (const YAML::Node& entry : list) {
    if (entry.IsNull()) {
      plan.power_limits_mw.emplace_back();
    } else {
      plan.power_limits_mw.emplace_back(static_cast<std::uint32_t>(std::lround(entry.as<double>() * kMilli)));
    }
  }
}

void read_clocks(const YAML::Node& list, SweepPlan& plan) {
  if (!list || list.IsNull()) return;
  for (const YAML::Node& entry : list) {
    if (entry.IsNull()) {
      plan.application_clocks.emplace_back();
    } else {
      plan.application_clocks.emplace_back(
          ApplicationClocks{entry[0].as<std::uint32_t>(), entry[1].as<std::uint32_t>()});
    }
  }
}

Result<std::string> benchmark_file(const fs::path& folder, const std::string& name) {
  for (const fs::path& place : {folder / "benchmarks", folder / ".." / "benchmarks", folder}) {
    const fs::path path = place / (name + ".yaml");
    if (fs::exists(path)) return path.string();
  }
  return not_found(fmt::format("benchmark {}: no benchmarks/{}.yaml beside the plan or a folder up", name, name));
}

// A module is run in its working directory, as GPyJoules does, whose own hook into Keras is not needed.
Result<void> read_benchmark(const fs::path& folder, const std::string& name, SweepPlan& plan) {
  JC_ASSIGN_OR_RETURN(const std::string path, benchmark_file(folder, name));
  const YAML::Node file = YAML::LoadFile(path);
  if (!file["module"]) return invalid(fmt::format("{}: no module", path));
  plan.command = {"python3", "-m", file["module"].as<std::string>()};
  if (const YAML::Node arguments = file["args"]; arguments && arguments.IsSequence()) {
    for (const YAML::Node& word : arguments) plan.command.push_back(word.as<std::string>());
  }
  // Relative to where GPyJoules is started: the folder that has benchmarks/ in it.
  const fs::path base = fs::path(path).parent_path().parent_path();
  const std::string own = text_of(file["working_directory"], ".");
  plan.working_directory = (fs::absolute(base.empty() ? "." : base) / own).lexically_normal().string();
  return {};
}

// Names with and without a domain are the same machine's.
bool is_here(const YAML::Node& experiment) {
  const auto first = [](const std::string& name) { return name.substr(0, name.find('.')); };
  const YAML::Node host = experiment["host"];
  return !host || !host.IsScalar() || first(host.as<std::string>()) == first(this_host());
}

Result<void> read_experiment(const YAML::Node& experiment, const fs::path& path, std::vector<SweepPlan>& out) {
  SweepPlan plan;
  plan.name = text_of(first_of(experiment, "experiment_name", "name"), path.stem().string());
  if (const YAML::Node repeat = first_of(experiment, "repeat", "repetitions"))
    plan.repetitions = repeat.as<std::size_t>();
  plan.baseline_s = kBaselineSeconds;
  if (const YAML::Node baseline = experiment["baseline_length"]) plan.baseline_s = baseline.as<double>();
  read_limits(experiment["power_limits"], plan);
  read_clocks(experiment["clock_limits"], plan);
  const YAML::Node benchmarks = experiment["benchmarks"];
  if (!benchmarks || !benchmarks.IsSequence()) return invalid(fmt::format("experiment {}: no benchmarks", plan.name));
  const fs::path data = text_of(experiment["data_path"], plan.name);
  for (const YAML::Node& benchmark : benchmarks) {
    if (!benchmark.IsScalar()) {
      return invalid(
          fmt::format("experiment {}: benchmarks: line {} is no name of a benchmark; each is the name of a "
                      "benchmarks/NAME.yaml, with "
                      "module and args in it",
                      plan.name, benchmark.Mark().line + 1));
    }
    SweepPlan one = plan;
    const auto name = benchmark.as<std::string>();
    one.name = fmt::format("{}/{}", plan.name, name);
    one.output = (data / plan.name / name).string();
    JC_RETURN_IF_ERROR(read_benchmark(path.parent_path(), name, one));
    JC_RETURN_IF_ERROR(check_plan(one));
    out.push_back(std::move(one));
  }
  return {};
}

}  // namespace

Result<std::vector<SweepPlan>> read_gpyjoules(const std::string& path) {
  std::vector<SweepPlan> out;
  std::size_t elsewhere = 0;
  try {
    const YAML::Node file = YAML::LoadFile(path);
    if (!file.IsMap()) return invalid(fmt::format("{}: no experiments", path));
    const YAML::Node list = file["experiments"];
    const std::size_t count = list ? list.size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const YAML::Node experiment = list ? list[i] : file;
      if (!is_here(experiment)) {
        ++elsewhere;
      } else if (auto read = read_experiment(experiment, path, out); !read) {
        return tl::unexpected<Error>(std::move(read).error().in(path));
      }
    }
  } catch (const YAML::BadFile&) {
    return not_found(fmt::format("{}: cannot be read", path));
  } catch (const YAML::Exception& error) {
    return invalid(fmt::format("{}: {}", path, error.what()));
  }
  if (out.empty() && elsewhere > 0) {
    return invalid(fmt::format("{}: all its experiments are for other hosts than {}", path, this_host()));
  }
  if (out.empty()) return invalid(fmt::format("{}: no experiments", path));
  return out;
}

}  // namespace joulecast
