// SPDX-License-Identifier: Apache-2.0
#include "predict/correction.h"

#include <fmt/format.h>

#include <optional>

namespace joulecast {
namespace {

enum Term : std::size_t { kAll, kHostTerm, kMemoryTerm, kComputeTerm, kTrainingTerm, kHalvesTerm, kDoublesTerm };
static_assert(kDoublesTerm + 1 == kCorrectionGroups);

bool in_halves(const Work& work) {
  const std::optional<Arithmetic> arithmetic = arithmetic_of(work);
  return arithmetic == Arithmetic::kFp16 || arithmetic == Arithmetic::kBf16;
}

}  // namespace

std::string term_name(std::size_t term) {
  static constexpr std::array<std::string_view, kCorrectionGroups> kNames{"all",      "host",   "memory", "compute",
                                                                          "training", "halves", "fp64"};
  return std::string(term < kCorrectionGroups ? kNames[term] : name(static_cast<Group>(term - kCorrectionGroups)));
}

CorrectionTerms correction_terms(const Work& work, State state, const Physics& physics) {
  CorrectionTerms out{};
  if (arithmetic_of(work) == Arithmetic::kFp64) {
    out[kDoublesTerm] = 1.0;
    return out;
  }
  const double host = physics.host * physics.host;
  const double memory = physics.memory * physics.memory;
  const double compute = physics.compute * physics.compute;
  const double sum = host + memory + compute;
  out[kAll] = 1.0;
  if (sum > 0.0) {
    out[kHostTerm] = host / sum;
    out[kMemoryTerm] = memory / sum;
    out[kComputeTerm] = compute / sum;
  }
  out[kTrainingTerm] = state == State::kTraining ? 1.0 : 0.0;
  out[kHalvesTerm] = in_halves(work) ? 1.0 : 0.0;
  out[kCorrectionGroups + static_cast<std::size_t>(group_of(work))] = 1.0;
  return out;
}

double corrected_by(const CorrectionTerms& correction, const CorrectionTerms& terms) {
  double sum = 0.0;
  for (std::size_t i = 0; i < kCorrectionTerms; ++i) sum += correction[i] * terms[i];
  return sum;
}

// Autocast to either of the halves is one.
std::string network_way(const PrepareOptions& options) {
  Precision precision = options.precision.value_or(default_precision(options.runtime));
  if (precision == Precision::kAmpBf16) precision = Precision::kAmp;
  return fmt::format("{} {} {} {}", name(options.mode), name(precision), name(options.runtime), name(options.layout));
}

namespace {

void set_term(std::string_view called, double value, CorrectionTerms& terms) {
  for (std::size_t term = 0; term < kCorrectionTerms; ++term) {
    if (term_name(term) == called) terms[term] = value;
  }
}

}  // namespace

Corrections corrections_of(const TableView& table) {
  Corrections out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string_view key = table.key(i);
    const std::size_t first = key.find('/');
    const std::size_t second = first == std::string_view::npos ? first : key.find('/', first + 1);
    if (second == std::string_view::npos) continue;
    GpuCorrection& correction = out[std::string(key.substr(0, first))];
    const std::string_view kind = key.substr(first + 1, second - first - 1);
    const std::string_view what = key.substr(second + 1);
    if (kind == "networks") correction.network_width.emplace(what, table.value(i));
    if (kind == "time") set_term(what, table.value(i), correction.time);
    if (kind == "power") set_term(what, table.value(i), correction.power);
  }
  return out;
}

std::map<std::string, double> corrections_table(const Corrections& corrections) {
  std::map<std::string, double> out;
  for (const auto& [gpu, correction] : corrections) {
    for (std::size_t term = 0; term < kCorrectionTerms; ++term) {
      out[fmt::format("{}/time/{}", gpu, term_name(term))] = correction.time[term];
      out[fmt::format("{}/power/{}", gpu, term_name(term))] = correction.power[term];
    }
    for (const auto& [way, width] : correction.network_width) out[fmt::format("{}/networks/{}", gpu, way)] = width;
  }
  return out;
}

}  // namespace joulecast
