// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "cli/profile/profile_commands.h"
#include "evaluate/judges.h"
#include "joulecast/predict.h"

namespace joulecast::cli {
namespace {

// Half of an interval's width in standard deviations, where it holds 90 % of a normal distribution.
constexpr double kDeviations = 1.645;

std::optional<profile::Expectation> expectation(const profile::PlannedCase& planned, const std::string& gpu,
                                                const OperationJudge& judge) {
  auto graph = parse_operation(planned.operation);
  if (!graph) return std::nullopt;
  MeasuredOperation row;
  row.graph = std::make_shared<const Graph>(std::move(*graph));
  row.at.gpu = gpu;
  row.at.mode = planned.request.mode;
  row.at.precision = planned.request.precision;
  row.at.runtime = Runtime::kPytorchEager;
  if (planned.settings.power_limit_mw) row.at.power_limit = Watts{*planned.settings.power_limit_mw * 1e-3};
  const auto found = judge.predict(row);
  if (!found) return std::nullopt;
  return profile::Expectation{found->time.value, std::log(found->time.hi / found->time.lo) / (2 * kDeviations)};
}

struct Adviser {
  Catalogue catalogue;
  std::optional<OperationJudge> judge;
};

// The GPU as the catalogue calls it, by any of its names here.
std::optional<std::string> known_gpu(const Catalogue& catalogue, const std::string& name, const std::string& label) {
  for (const std::string& one : {name, label}) {
    if (const auto gpu = catalogue.find(one); !one.empty() && gpu) return std::string((*gpu)->id);
  }
  return std::nullopt;
}

tl::expected<std::shared_ptr<const Adviser>, Failure> adviser_of(const ProfileOptions& options) {
  JC_ASSIGN_OR_FAIL(const std::string pack,
                    options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack));
  JC_ASSIGN_OR_FAIL(Catalogue catalogue, load_catalogue(options.gpu_files));
  auto out = std::make_shared<Adviser>(Adviser{std::move(catalogue), std::nullopt});
  JC_ASSIGN_OR_FAIL(out->judge, OperationJudge::open(pack, {}, out->catalogue));
  return out;
}

}  // namespace

Outcome check_predictor(const ProfileOptions& options) {
  if (!options.pack.empty()) return adviser_of(options).map([](const auto&) {});
  auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(std::move(catalogue).error());
  return {};
}

tl::expected<Expect, Failure> expectations_of(const profile::Plan& plan, const ProfileOptions& options) {
  JC_ASSIGN_OR_FAIL(const auto adviser, adviser_of(options));
  return [&plan, adviser, name = options.name](const std::string& label) {
    profile::Expectations out;
    const auto gpu = known_gpu(adviser->catalogue, name, label);
    if (!gpu) return out;
    for (const profile::PlannedCase& planned : plan.cases()) {
      if (planned.request.work != profile::Work::kOperation) continue;
      if (const auto one = expectation(planned, *gpu, *adviser->judge)) out.emplace(planned.id, *one);
    }
    return out;
  };
}

}  // namespace joulecast::cli
