// SPDX-License-Identifier: Apache-2.0
#include "predict/estimator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "predict/attention_kernels.h"
#include "predict/law.h"
#include "predict/pack_names.h"

namespace joulecast {

tl::unexpected<Error> lacks_units(const Gpu& gpu, Arithmetic arithmetic) {
  return unsupported(
      fmt::format("GPU '{}' has no {} units in the catalogue; try another precision", gpu.id, name(arithmetic)));
}

bool multiplies_halves_in_fp32(const Gpu& gpu) {
  const std::string_view capability = gpu.compute_capability;
  return gpu.vendor == "NVIDIA" && (capability.starts_with("5.") || capability.starts_with("6."));
}

bool runs_in_fp32_on(const Gpu& gpu, const Work& work) {
  return gpu.vendor == "AMD" && (std::holds_alternative<ConvWork>(work) || is_recurrent(work));
}

Result<void> fit_to_device(Work& work, const Gpu& gpu, const Device& device) {
  const bool in_fp32 = runs_in_fp32_on(gpu, work);
  return std::visit(
      [&](auto& w) -> Result<void> {
        if constexpr (requires { w.arithmetic; }) {
          const bool lacking = device.peak(w.arithmetic) <= 0.0;
          if (in_fp32 && w.arithmetic == Arithmetic::kTf32) w.arithmetic = Arithmetic::kFp32;
          if (lacking && (w.arithmetic == Arithmetic::kTf32 || w.arithmetic == Arithmetic::kFp8)) {
            w.arithmetic = Arithmetic::kFp32;
          }
          if (w.arithmetic == Arithmetic::kFp16 && multiplies_halves_in_fp32(gpu)) {
            w.arithmetic = Arithmetic::kFp32;
          }
          if (device.peak(w.arithmetic) <= 0.0) return lacks_units(gpu, w.arithmetic);
        }
        return {};
      },
      work);
}

void write_gpu_features(const Physics& physics, const Device& device, std::span<float> features) {
  const double values[] = {device.sm,       device.clock / 1e9,  device.bandwidth / 1e9,
                           device.l2 / 1e6, physics.peak / 1e12, device.limit};
  static_assert(std::size(values) == kGpuFeatures.size());
  write_features(values, features);
}

// Of kGpuFeatures the one that differs from operation to operation.
constexpr std::size_t kPeakFeature = 4;
static_assert(kGpuFeatures[kPeakFeature] == "gpu_tflops");

void write_power_features(const Physics& physics, const Device& device, double time, std::span<float> features) {
  // Elementwise work has compute time 0: it never decides.
  const double values[] = {physics.computing() / time,
                           physics.memory / time,
                           physics.host / time,
                           time * 1e6,
                           device.awake / device.limit,
                           physics.peak / 1e12 / device.limit,
                           device.bandwidth / 1e9 / device.limit,
                           physics.memory * 1e6};
  static_assert(std::size(values) == kPowerFeatures.size());
  write_features(values, features);
}

double power_share(double watts, const Device& device) {
  return (watts - device.awake) / (device.limit - device.awake);
}

double power_from_share(double share, const Device& device) {
  return std::max(device.least, device.awake + std::min(share, 1.0) * (device.limit - device.awake));
}

std::vector<std::string_view> row_names(Group group) {
  const auto own = feature_names(group);
  std::vector<std::string_view> names(own.begin(), own.end());
  names.insert(names.end(), kGpuFeatures.begin(), kGpuFeatures.end());
  names.insert(names.end(), kPowerFeatures.begin(), kPowerFeatures.end());
  return names;
}

namespace {

Result<ForestView> checked(const Pack& pack, std::string_view what, Group group, std::size_t columns) {
  const std::string section = fmt::format("{}/{}", what, name(group));
  JC_ASSIGN_OR_RETURN(ForestView forest, pack.forest(section));
  const std::vector<std::string_view> wanted = row_names(group);
  const std::vector<std::string_view> have = forest.feature_names();
  if (have.size() != columns || !std::equal(have.begin(), have.end(), wanted.begin())) {
    return invalid(fmt::format(
        "forest '{}' wants other features than this program computes; use the pack it was shipped with", section));
  }
  return forest;
}

std::uint8_t bit_of(std::optional<Arithmetic> arithmetic) {
  if (!arithmetic) return Estimator::Trust::kPlain;
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(*arithmetic));
}

}  // namespace

bool Estimator::Trust::seen(Group group, std::optional<Arithmetic> arithmetic) const {
  return (measured[static_cast<std::size_t>(group)] & bit_of(arithmetic)) != 0;
}

std::optional<Bench> Estimator::Trust::bench(Group group, std::optional<Arithmetic> arithmetic) const {
  if (!seen(group, arithmetic)) return std::nullopt;
  return (in_loops[static_cast<std::size_t>(group)] & bit_of(arithmetic)) != 0 ? Bench::kLoops : Bench::kModules;
}

bool Estimator::knows_power(Group group) const {
  const Result<Models>& of_all = models(kModelsOfGroup * static_cast<std::size_t>(group));
  return of_all && of_all->power.tree_count() > 0;
}

Result<Estimator> Estimator::from(const Pack& pack) {
  Estimator out;
  out.pack_ = &pack;
  out.lazy_ = std::make_unique<std::array<Lazy, kBuckets>>();
  JC_RETURN_IF_ERROR(out.read_trust(pack));
  JC_RETURN_IF_ERROR(out.read_laws(pack));
  return out;
}

const Result<Estimator::Models>& Estimator::models(std::size_t bucket) const {
  Lazy& lazy = (*lazy_)[bucket];
  std::call_once(lazy.once, [&] {
    // Nobody measures power in bare loops.
    struct Sections {
      std::string_view time, power;
    };
    static constexpr std::array<Sections, kModelsOfGroup> kSections{
        {{"time", "power"}, {"time-seen", "power-seen"}, {"time-loops", "power-seen"}}};
    const auto group = static_cast<Group>(bucket / kModelsOfGroup);
    const bool measured = bucket % kModelsOfGroup != 0;
    const Sections& from = kSections[bucket % kModelsOfGroup];
    const std::size_t columns = row_names(group).size();
    const auto open = [&]() -> Result<Models> {
      JC_ASSIGN_OR_RETURN(const ForestView time, checked(*pack_, from.time, group, columns - kPowerFeatures.size()));
      JC_ASSIGN_OR_RETURN(const ForestView power, checked(*pack_, from.power, group, columns));
      return Models{time, power, measured ? laws_[bucket / kModelsOfGroup] : PowerLaw{}};
    };
    lazy.models = open();
  });
  return lazy.models;
}

namespace {

// "arithmetic/<group>/<arithmetic>/<gpu id>" and "seen/<group>/<gpu id>", for work without an arithmetic, name what was
// measured where; "arithmetic-loops/..." and "seen-loops/..." what was measured in loops alone.
struct MeasuredKey {
  Group group;
  std::uint8_t bit;
  Bench bench;
  std::string_view gpu;
};
std::optional<MeasuredKey> measured_key(std::string_view key) {
  constexpr std::string_view kInLoops = "-loops";
  const auto next = [&key] {
    const std::size_t end = std::min(key.find('/'), key.size());
    const std::string_view word = key.substr(0, end);
    key.remove_prefix(std::min(end + 1, key.size()));
    return word;
  };
  std::string_view what = next();
  const Bench bench = what.ends_with(kInLoops) ? Bench::kLoops : Bench::kModules;
  if (bench == Bench::kLoops) what.remove_suffix(kInLoops.size());
  if (what != "seen" && what != "arithmetic") return std::nullopt;
  const std::string_view called = next();
  for (std::size_t g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    if (called != name(group)) continue;
    if (what == "seen") return MeasuredKey{group, Estimator::Trust::kPlain, bench, key};
    const std::string_view wanted = next();
    for (std::size_t a = 0; a < kArithmetics; ++a) {
      const auto math = static_cast<Arithmetic>(a);
      if (wanted == name(math)) return MeasuredKey{group, bit_of(math), bench, key};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<void> Estimator::read_trust(const Pack& pack) {
  JC_ASSIGN_OR_RETURN(const TableView trust, pack.table(pack_names::kTrust));
  JC_ASSIGN_OR_RETURN(const TableView gpus, pack.table(pack_names::kGpus));
  for (std::size_t g = 0; g < kGroups; ++g) unseen_.trees[g] = trust.find(name(static_cast<Group>(g))).value_or(0.0);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto key = measured_key(gpus.key(i));
    if (!key) continue;
    Trust& known = known_.try_emplace(std::string(key->gpu), unseen_).first->second;
    const auto group = static_cast<std::size_t>(key->group);
    known.trees[group] = 1.0;
    known.measured[group] |= key->bit;
    if (key->bench == Bench::kLoops) known.in_loops[group] |= key->bit;
  }
  const std::vector<std::string_view> tables = pack.tables();
  if (std::find(tables.begin(), tables.end(), pack_names::kCorrections) == tables.end()) return {};
  JC_ASSIGN_OR_RETURN(const TableView corrections, pack.table(pack_names::kCorrections));
  for (const auto& [gpu, correction] : corrections_of(corrections))
    known_.try_emplace(gpu, unseen_).first->second.correction = correction;
  return {};
}

Result<void> Estimator::read_laws(const Pack& pack) {
  const std::vector<std::string_view> tables = pack.tables();
  if (std::find(tables.begin(), tables.end(), pack_names::kPowerLaws) == tables.end()) return {};
  JC_ASSIGN_OR_RETURN(const TableView table, pack.table(pack_names::kPowerLaws));
  for (std::size_t g = 0; g < kGroups; ++g) {
    const auto part = [&](std::string_view of) {
      return table.find(pack_names::power_law(name(static_cast<Group>(g)), of)).value_or(0.0);
    };
    laws_[g] = {.compute = part("compute"), .memory = part("memory"), .gpu = part("gpu")};
  }
  return {};
}

void Estimator::forget_corrections() {
  for (auto& [gpu, trust] : known_) trust.correction.reset();
}

const Estimator::Trust& Estimator::trust(std::string_view gpu_id) const {
  const auto known = known_.find(gpu_id);
  return known == known_.end() ? unseen_ : known->second;
}

namespace {

// Which works the same models answer for, without a list for each: order[first[b]] .. order[first[b + 1] - 1]. What
// follows in `order` is how it was found.
struct ByModels {
  std::vector<std::uint32_t> order;
  std::array<std::uint32_t, Estimator::kBuckets + 1> first{};

  [[nodiscard]] std::span<const std::uint32_t> rows(std::size_t bucket) const {
    return std::span(order).subspan(first[bucket], first[bucket + 1] - first[bucket]);
  }
};

// Counts while it looks, so that every work is looked at once.
ByModels by_models(std::span<const Work> works, const Estimator::Trust& trust) {
  const std::size_t count = works.size();
  ByModels out;
  out.order.resize(2 * count);
  const std::span<std::uint32_t> bucket = std::span(out.order).last(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Group group = group_of(works[i]);
    const std::optional<Bench> bench = trust.bench(group, arithmetic_of(works[i]));
    bucket[i] = static_cast<std::uint32_t>(Estimator::kModelsOfGroup) * static_cast<std::uint32_t>(group) +
                (bench ? 1U + static_cast<std::uint32_t>(*bench) : 0U);
    ++out.first[bucket[i] + 1];
  }
  for (std::size_t b = 0; b < Estimator::kBuckets; ++b) out.first[b + 1] += out.first[b];
  std::array<std::uint32_t, Estimator::kBuckets + 1> next = out.first;
  for (std::uint32_t i = 0; i < count; ++i) out.order[next[bucket[i]]++] = i;
  return out;
}

}  // namespace

Result<void> Estimator::predict(std::span<const Work> works, const Device& device, Situation situation,
                                const Trust& trust, std::span<OperationPrediction> out) const {
  const ByModels sorted = by_models(works, trust);
  const std::size_t most = works.size() * (kMaxFeatures + kGpuFeatures.size() + kPowerFeatures.size() + 1);
  const auto scratch = std::make_unique_for_overwrite<float[]>(most);
  for (std::size_t b = 0; b < kBuckets; ++b) {
    const std::span<const std::uint32_t> rows = sorted.rows(b);
    if (rows.empty()) continue;
    const Result<Models>& found = models(b);
    if (!found) return tl::unexpected(found.error());
    predict_rows({static_cast<Group>(b / kModelsOfGroup), *found, trust, rows}, works, device, situation,
                 {scratch.get(), most}, out);
  }
  return {};
}

// What other libraries' kernels leave of their law says nothing about CDNA's, which have laws of their own.
double Estimator::trees_of(const Rows& rows, const Device& device) {
  const bool own_law =
      rows.group == Group::kGemmSimt || rows.group == Group::kPointwise || rows.group == Group::kReduction;
  const std::size_t group = static_cast<std::size_t>(rows.group);
  return device.cdna && own_law && rows.trust.measured[group] == 0 ? 0.0 : rows.trust.trees[group];
}

namespace {

// What was measured leaves of its law the wrong choices of algorithms: a convolution that was tried out has none. Nor
// do PyTorch's norms tell anything of an engine's, which runs another kernel, or layers of recurrent ones, or products
// of matrices of those with a vector.
bool law_alone(const Work& work, const Device& device, Situation situation) {
  if (const auto* conv = std::get_if<ConvWork>(&work)) return conv->autotuned && conv->arithmetic == Arithmetic::kFp32;
  if (is_recurrent(work)) return true;
  const auto* gemm = std::get_if<GemmWork>(&work);
  if (gemm != nullptr && multiplies_vector(*gemm, device)) return true;
  // Whose residuals are those of FlashAttention and of engines' kernels.
  const auto* attention = std::get_if<AttentionWork>(&work);
  if (attention != nullptr && !has_flash_attention(*attention, device, situation)) return true;
  const auto* reduction = std::get_if<ReductionWork>(&work);
  return reduction != nullptr && reduction->by_engine;
}

// Seconds to move what no cache holds, at all of the bandwidth (that error codes leave).
double at_full_bandwidth(const Physics& physics, const Device& device) {
  return (physics.bytes - device.l2) / device.bandwidth;
}

}  // namespace

namespace {

// Of FP32 on all lanes, of which no power was measured on the GPU: the trees know chips that come to their limits.
double needed(const Work& work, const Estimator::Trust& trust, const Device& device) {
  const auto* conv = std::get_if<ConvWork>(&work);
  const auto* gemm = std::get_if<GemmWork>(&work);
  const bool fp32 = (conv && conv->arithmetic == Arithmetic::kFp32) || (gemm && gemm->arithmetic == Arithmetic::kFp32);
  return fp32 && trust.bench(group_of(work), Arithmetic::kFp32) != Bench::kModules ? device.needed : 1.0;
}

}  // namespace

// A row of features is what the time model sees, then what the power model sees besides; the models' answers come
// after the last row.
void Estimator::predict_rows(const Rows& rows, std::span<const Work> works, const Device& device, Situation situation,
                             std::span<float> scratch, std::span<OperationPrediction> out) {
  const std::size_t own = feature_names(rows.group).size();
  const std::size_t columns = own + kGpuFeatures.size() + kPowerFeatures.size();
  const std::size_t count = rows.rows.size();
  const double trees = trees_of(rows, device);
  const std::optional<GpuCorrection>& correction = rows.trust.correction;
  const std::span<float> features = scratch.first(count * columns);
  const std::span<float> answers = scratch.subspan(features.size(), count);
  const auto row = [&](std::size_t i) { return features.subspan(i * columns, columns); };
  const auto terms = [&](std::size_t i) {
    return correction_terms(works[rows.rows[i]], situation.state, out[rows.rows[i]].physics);
  };
  std::array<float, kGpuFeatures.size()> gpu{};  // the same for all rows, but for the peak
  write_gpu_features({}, device, gpu);
  for (std::size_t i = 0; i < count; ++i) {
    Physics& physics = out[rows.rows[i]].physics;
    physics = physics_of(works[rows.rows[i]], device, situation, row(i));
    gpu[kPeakFeature] = static_cast<float>(physics.peak / 1e12);
    std::copy(gpu.begin(), gpu.end(), row(i).begin() + static_cast<std::ptrdiff_t>(own));
  }
  rows.models.time.predict(features, count, answers);
  for (std::size_t i = 0; i < count; ++i) {
    OperationPrediction& p = out[rows.rows[i]];
    double off = law_alone(works[rows.rows[i]], device, situation) ? 0.0 : trees * static_cast<double>(answers[i]);
    const bool corrected = correction && !is_recurrent(works[rows.rows[i]]);
    if (corrected) off += corrected_by(correction->time, terms(i));
    p.time = p.physics.bound * std::exp(off);
    // Benchmarks of captured decoding read pages that their sequences share, and which the L2 holds; networks do not.
    const bool own_cache = rows.group == Group::kDecode && situation.weights > 0.0;
    if (corrected || own_cache) p.time = std::max(p.time, at_full_bandwidth(p.physics, device));
    write_power_features(p.physics, device, p.time, row(i).last(kPowerFeatures.size()));
  }
  const bool lawful = !rows.models.law.none();
  rows.models.power.predict(features, count, answers);
  for (std::size_t i = 0; i < count; ++i) {
    OperationPrediction& p = out[rows.rows[i]];
    const double by_law = lawful ? rows.models.law.share(p.physics, p.time) : 0.0;
    double share = std::min(by_law + static_cast<double>(answers[i]), 1.0);
    if (share > 0.0 && device.needed < 1.0) share *= needed(works[rows.rows[i]], rows.trust, device);
    if (correction && !is_recurrent(works[rows.rows[i]])) share += corrected_by(correction->power, terms(i));
    p.power = power_from_share(share, device);
  }
}

}  // namespace joulecast
