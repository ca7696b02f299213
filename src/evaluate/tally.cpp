// SPDX-License-Identifier: Apache-2.0
#include "evaluate/tally.h"

namespace joulecast {

void Tally::Column::add(const std::optional<JudgedQuantity>& value) {
  if (!value) return;
  measured.push_back(value->measured);
  found.push_back(value->found);
  lo.push_back(value->lo);
  hi.push_back(value->hi);
}

Judgement Tally::Column::judge() const {
  return {error_figures(measured, found), coverage(measured, lo, hi)};
}

Tally::Group& Tally::group(const Circumstances& at, std::string_view variant) {
  return groups_[{at.gpu_label.empty() ? at.gpu : at.gpu_label, at.mode, variant}];
}

void Tally::judged(const Circumstances& at, const JudgedRow& row) {
  Group& g = group(at, row.variant);
  ++g.n;
  g.time.add(row.time);
  g.power.add(row.power);
  g.energy.add(row.energy);
  g.memory.add(row.memory);
}

void Tally::unmapped(const Circumstances& at, std::string_view variant, std::size_t line, const std::string& reason) {
  ++group(at, variant).unmapped;
  refused_.add(line, reason);
}

void Tally::set_aside(const Circumstances& at, std::string_view variant) {
  ++group(at, variant).set_aside;
}

Evaluation Tally::finish() const {
  Evaluation out;
  out.refused = refused_;
  for (const auto& [key, g] : groups_) {
    out.groups.push_back({.gpu = std::get<0>(key),
                          .mode = std::get<1>(key),
                          .variant = std::get<2>(key),
                          .n = g.n,
                          .unmapped = g.unmapped,
                          .set_aside = g.set_aside,
                          .time = g.time.judge(),
                          .power = g.power.judge(),
                          .energy = g.energy.judge(),
                          .memory = g.memory.judge()});
  }
  return out;
}

}  // namespace joulecast
