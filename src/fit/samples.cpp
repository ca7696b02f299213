// SPDX-License-Identifier: Apache-2.0
#include "fit/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/hashes.h"
#include "dataset/store_place.h"
#include "fit/usable.h"
#include "predict/board_power.h"
#include "predict/estimator.h"
#include "store/read_rows.h"

namespace joulecast {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What rows of modules count in models of loops. Those of loops count a tenth of what they did when both shared one
// model (0.1 to 0.3, neusight() below): without them families of networks that are left out come out further off.
constexpr double kGuest = 0.1;

// Weight, thinning and power of a row; nothing with a reason where it must not be learnt from.
struct Policy {
  double weight = 1, power_weight = 1;
  std::array<double, kBenches> seen_weight{1, kGuest};  // by Bench
  bool for_any_gpu = true;
  std::string stratum;
  bool power = true, power_from_own_time = false;
  bool sets_gradients = false;  // training overwrites them; the laws are of training that adds to them
  bool unseen = false;          // nobody has looked at the table
};

// Older generations measured modules in another state and are kept as a hint only; the low-power state of the
// RTX 2080 Ti is another machine.
Result<Policy> heidelberg(const MeasuredOperation& row) {
  if (row.at.low_power) return unsupported("low-power state");
  if (contains(row.from.anomaly, "time-unsteady")) return unsupported("time unsteady");
  // But the RTX 2080 Ti's in the state in which networks run in inference, of which there are no others.
  const bool only = row.at.gpu == "rtx2080ti" && row.at.mode == Mode::kInference && !row.train_state_module;
  const double weight = row.from.primary || only ? 1.0 : 0.1;
  return Policy{.weight = weight,
                .power_weight = weight,
                .seen_weight = {weight, kGuest * weight},
                .stratum = {},
                .power = !contains(row.from.anomaly, "power")};
}

// Other kernels than today's: MI100 and unexplained outliers are left out (modelling notes, pitfalls).
Result<Policy> neusight(const MeasuredOperation& row) {
  if (contains(row.at.gpu, "MI100") || contains(row.at.gpu, "MI2")) return unsupported("another vendor");
  if (row.from.table == "neusight_conv")
    return Policy{.weight = 0.3,
                  .seen_weight = {0.01, 1.0},
                  .stratum = fmt::format("neusight/{}/conv", row.at.gpu),
                  .power = false};
  const Node& node = row.graph->nodes[0];
  if (std::holds_alternative<Linear>(node.op) && contains(row.at.gpu, "P4") && row.from.split == "train")
    return unsupported("other kernels, three times slower");
  const bool product = std::holds_alternative<Linear>(node.op) || std::holds_alternative<MatMul>(node.op);
  return Policy{.weight = product ? 0.01 : 0.03,
                .seen_weight = {product ? 0.01 : 0.03, 1.0},
                .for_any_gpu = !std::holds_alternative<LayerNorm>(node.op),  // those of other GPUs come out worse
                .stratum = fmt::format("neusight/{}/{}/{}", row.at.gpu, label(node.op), row.from.split),
                .power = false};
}

// Time comes from other engines than the latency tables', so it counts little for GPUs that are not these; power below
// 50 us is not power.
Result<Policy> aic_power(const MeasuredOperation& row) {
  const Node& node = row.graph->nodes[0];
  double weight = row.at.precision == Precision::kNvfp4 ? 1.0 : 0.1;  // no other table has FP4
  if (const auto* attention = std::get_if<Attention>(&node.op); attention != nullptr) {
    const Shape& query = row.graph->inputs.empty() ? Shape{} : row.graph->value(node.inputs[0]).type.shape;
    if (!query.empty() && query.back() == 128) weight = 0.03;
  }
  return Policy{.weight = weight,
                .power_weight = 1.0,
                .stratum = fmt::format("{}/{}/{}/{}", row.from.table, row.at.gpu, name(row.at.precision),
                                       contains(row.kernel, "fp8_block") ? row.kernel : row.at.software),
                .power = row.readings.time && row.readings.time->value() >= 50e-6,
                .power_from_own_time = true};
}

Result<Policy> aic(const MeasuredOperation& row) {
  return Policy{.stratum = fmt::format("{}/{}/{}", row.from.table, row.at.gpu, name(row.at.precision)), .power = false};
}

// Of one's own. The device of a sample runs at its default clock.
Result<Policy> own(const MeasuredOperation& row) {
  JC_RETURN_IF_ERROR(check_usable(row.at, row.from));
  return Policy{.stratum = {},
                .power = row.at.scope == PowerScope::kGpu && !power_is_spoilt(row.from),
                .sets_gradients = row.at.mode == Mode::kTraining && !row.gradients_accumulated,
                .unseen = true};
}

Result<Policy> iterations(const MeasuredOperation& /*row*/) {
  return unsupported("made to choose the number of iterations; the table of operations has the same ones");
}

struct FittedLayout {
  std::string_view name;
  Result<Policy> (*policy)(const MeasuredOperation& row);
};
constexpr FittedLayout kFitted[] = {
    {"heidelberg_operations", heidelberg},
    {"heidelberg_iterations", iterations},
    {"aic_gemm", aic},
    {"aic_attention", aic},
    {"aic_power_gemm", aic_power},
    {"aic_power_attention", aic_power},
    {"neusight_gemm", neusight},
    {"neusight_conv", neusight},
    {"neusight_vec", neusight},
    {"measurements", own},
};

// Tables whose operations were measured by other rules (caches, kernels, hosts of their own) are not mixed in unseen.
Result<Policy> policy_of(const MeasuredOperation& row) {
  for (const FittedLayout& layout : kFitted) {
    if (layout.name == row.from.table) return layout.policy(row);
  }
  return unsupported("table is not fitted on");
}

// Rows of a stratum for models of GPUs measured in loops (all that are kept), for those of GPUs measured as modules,
// and for those that do not know the GPU.
struct Limits {
  std::size_t kept, modules, any;
};

constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();

// More rows of a stratum do not help (learning curve: docs/accuracy.md), or other rows would drown.
Limits limits_of(const Sample& sample) {
  // Of convolutions the law says most: they are of one kind.
  if (sample.table == "neusight_conv") return {kAllRows, 1500, 500};
  if (sample.table == "neusight_vec") return {kAllRows, 200, 200};
  if (sample.table == "neusight_gemm") return {kAllRows, 1000, 1000};
  if (contains(sample.stratum, "aic_power_attention")) return {12000, 12000, 6000};
  if (contains(sample.stratum, "aic_power")) return {8000, 8000, 4000};
  return {36000, 36000, 9000};
}

// A time of other units, or of something else: the law is nowhere so far off.
Result<void> check_time(const Sample& sample) {
  constexpr double kFar = 100;
  std::array<float, kMaxFeatures> features{};
  const double off = sample.time / physics_of(sample.work, sample.device, sample.situation, features).bound;
  if (off < kFar && off > 1.0 / kFar) return {};
  return unsupported(fmt::format("the time is {} what such an operation takes by the law: is it in seconds?",
                                 off > 1.0 ? fmt::format("{:.0f} times", off) : fmt::format("1/{:.0f} of", 1.0 / off)));
}

// Shapes at the edge of what a table can hold have features beyond single precision; XGBoost stops at the first of
// them. What a call costs (host.cpp) hides convolutions that are short.
Result<void> check_learnable(const Sample& sample) {
  std::array<float, kMaxFeatures> features{};
  const Physics physics = physics_of(sample.work, sample.device, sample.situation, features);
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::isfinite(std::log(sample.time / physics.bound)) || !std::all_of(features.begin(), features.end(), finite))
    return invalid("of no elements, or of more than can be learnt from");
  if (sample.table == "neusight_conv" && physics.gpu < 1.5 * physics.host)
    return unsupported("too short: the loop's other work is most of its time");
  return {};
}

// What the operation would have taken if it had added to its gradients: networks and judges take the law's share of
// that off again, and no more than three quarters (busy_in_network()).
double with_accumulation(const Sample& sample) {
  constexpr double kLeast = 0.25;
  std::vector<float> features(feature_names(group_of(sample.work)).size());
  const Physics physics = physics_of(sample.work, sample.device, sample.situation, features);
  return sample.time / std::max(kLeast, 1.0 - physics.accumulation / physics.bound);
}

}  // namespace

Result<Sample> sample_of(const MeasuredOperation& row, const Catalogue& catalogue) {
  JC_ASSIGN_OR_RETURN(const Policy policy, policy_of(row));
  if (!row.readings.time || row.readings.time->value() <= 0.0) return unsupported("no time");
  JC_ASSIGN_OR_RETURN(MeasuredWork work, measured_work(row));
  if (is_recurrent(work.work)) return unsupported("steps of recurrent layers, whose law stands by itself");
  if (const auto* attention = std::get_if<AttentionWork>(&work.work);
      attention != nullptr && attention->arithmetic != Arithmetic::kBf16) {
    return unsupported("attention in other than bf16");
  }
  const std::string gpu_name = row.at.gpu_label.empty() ? row.at.gpu : row.at.gpu_label;
  JC_ASSIGN_OR_RETURN(const Gpu* gpu, catalogue.find(row.at.gpu));
  JC_ASSIGN_OR_RETURN(const Device device, make_device(*gpu, {.sm_clock = {}, .power_limit = row.at.power_limit}));
  JC_RETURN_IF_ERROR(fit_to_device(work.work, *gpu, device));
  Sample out{.work = work.work,
             .situation = work.situation,
             .gpu = gpu,
             .device = device,
             .mode = row.at.mode,
             .precision = row.at.precision,
             .table = row.from.table,
             .gpu_name = gpu_name,
             .key = row.group,
             .stratum = policy.stratum,
             .time = row.readings.time->value(),
             .power = {},
             .weight = policy.weight,
             .power_weight = policy.power_weight,
             .for_any_gpu = policy.for_any_gpu,
             .seen_weight = policy.seen_weight,
             .power_from_own_time = policy.power_from_own_time,
             .primary = row.from.primary && !work.situation.block_scaled};
  if (policy.sets_gradients) out.time = with_accumulation(out);
  if (policy.power && row.readings.power) {
    JC_RETURN_IF_ERROR(check_mean_power(*gpu, *row.readings.power));
    out.power = row.readings.power->value();
  }
  JC_RETURN_IF_ERROR(check_learnable(out));
  if (policy.unseen) JC_RETURN_IF_ERROR(check_time(out));
  return out;
}

namespace {

// Books the rows of one place, for the place and for the layouts.
class Books {
 public:
  Books(const std::string& place, SampleSet& set) : many_layouts_(is_store(place)), set_(set) {}

  void refuse(const Provenance& from, const std::string& reason) {
    source(from).refused.add(from.line, reason);
    here_.add(from.line, many_layouts_ ? fmt::format("{}: {}", from.table, reason) : reason);
  }
  void refuse(const Table& table) {
    set_.sources[table.layout].refused.add(table.unmapped);
    here_.add(table.unmapped);
  }
  SourceRows& source(const Provenance& from) {
    if (last_ == nullptr || layout_ != from.table || file_ != from.file) {
      layout_ = from.table;
      file_ = from.file;
      last_ = &set_.sources[from.table];
      last_->files.insert(from.file);
      if (from.origin) last_->publishers.insert(from.origin->source);
    }
    return *last_;
  }
  [[nodiscard]] const Refusals& here() const { return here_; }

 private:
  bool many_layouts_;
  SampleSet& set_;
  Refusals here_;
  std::string layout_, file_;
  SourceRows* last_ = nullptr;
};

}  // namespace

Result<Refusals> add_table(const std::string& place, const std::vector<std::string>& layouts,
                           const Catalogue& catalogue, SampleSet& set,
                           const std::function<Result<void>(const MeasuredNetwork&)>& network) {
  Books books(place, set);
  TableSink sink;
  sink.network = [&](const MeasuredNetwork& row) {
    if (!network) return books.refuse(row.from, "a network: only operations are fitted on");
    if (const auto taken = network(row); !taken) books.refuse(row.from, taken.error().text());
  };
  sink.operation = [&](const MeasuredOperation& row) {
    auto sample = sample_of(row, catalogue);
    if (!sample) return books.refuse(row.from, sample.error().text());
    books.source(row.from);
    set.groups[static_cast<std::size_t>(group_of(sample->work))].push_back(std::move(*sample));
  };
  sink.other = [&](const MeasuredOther& row) {
    if (!settings::sweep_rank(row.from.table)) return books.refuse(row.from, row.reason);
    books.source(row.from);
    set.sweeps.add(row);
  };
  JC_ASSIGN_OR_RETURN(const Table table, read_rows(place, layouts, sink));
  if (table.unmapped.rows() > 0) books.refuse(table);
  return books.here();
}

void thin_out(SampleSet& set, std::optional<std::size_t> limit) {
  for (std::vector<Sample>& samples : set.groups) {
    std::map<std::string, std::vector<std::pair<std::uint64_t, std::size_t>>> strata;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!samples[i].stratum.empty()) strata[samples[i].stratum].emplace_back(stable_hash(samples[i].key), i);
    }
    std::vector<bool> keep(samples.size(), true);
    for (auto& [stratum, rows] : strata) {
      const Limits own = limits_of(samples[rows[0].second]);
      const Limits most = limit ? Limits{*limit, *limit, std::min(*limit, own.any)} : own;
      std::sort(rows.begin(), rows.end());
      for (std::size_t i = most.any; i < rows.size(); ++i) samples[rows[i].second].for_any_gpu = false;
      for (std::size_t i = most.modules; i < rows.size(); ++i) samples[rows[i].second].for_modules = false;
      for (std::size_t i = most.kept; i < rows.size(); ++i) keep[rows[i].second] = false;
    }
    std::vector<Sample> kept;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      SourceRows& source = set.sources[samples[i].table];
      if (!keep[i]) {
        ++source.not_needed;
        continue;
      }
      ++source.used;
      kept.push_back(std::move(samples[i]));
    }
    samples = std::move(kept);
  }
}

}  // namespace joulecast
