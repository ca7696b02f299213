// SPDX-License-Identifier: Apache-2.0
#include "predict/correction.h"

#include <fmt/format.h>

namespace joulecast {
namespace {

enum Term : std::size_t { kAll, kHostTerm, kMemoryTerm, kComputeTerm, kFirstGroup };

}  // namespace

std::string term_name(std::size_t term) {
  static constexpr std::array<std::string_view, kFirstGroup> kNames{"all", "host", "memory", "compute"};
  return std::string(term < kFirstGroup ? kNames[term] : name(static_cast<Group>(term - kFirstGroup)));
}

CorrectionTerms correction_terms(Group group, const Physics& physics) {
  CorrectionTerms out{};
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
  out[kFirstGroup + static_cast<std::size_t>(group)] = 1.0;
  return out;
}

double corrected_by(const CorrectionTerms& correction, const CorrectionTerms& terms) {
  double sum = 0.0;
  for (std::size_t i = 0; i < kCorrectionTerms; ++i) sum += correction[i] * terms[i];
  return sum;
}

Corrections corrections_of(const TableView& table) {
  Corrections out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string_view key = table.key(i);
    const std::size_t first = key.find('/');
    const std::size_t second = first == std::string_view::npos ? first : key.find('/', first + 1);
    if (second == std::string_view::npos) continue;
    GpuCorrection& correction = out[std::string(key.substr(0, first))];
    const bool time = key.substr(first + 1, second - first - 1) == "time";
    for (std::size_t term = 0; term < kCorrectionTerms; ++term) {
      if (term_name(term) == key.substr(second + 1)) (time ? correction.time : correction.power)[term] = table.value(i);
    }
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
  }
  return out;
}

}  // namespace joulecast
