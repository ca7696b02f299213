// SPDX-License-Identifier: Apache-2.0
// What the thesis' protocol found, for people and for programs.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fit/thesis/protocol.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kOrder{Method::kRandomForest, Method::kExtraTrees, Method::kBoosting, Method::kPhysics,
                            Method::kOurs};

std::string_view words(Method method) {
  switch (method) {
    case Method::kRandomForest:
      return "random forest";
    case Method::kExtraTrees:
      return "extra trees";
    case Method::kBoosting:
      return "boosting";
    case Method::kPhysics:
      return "physics only";
    case Method::kOurs:
      return "ours";
  }
  return "";
}

// The thesis gives no figures of extra trees: "performed worse".
const PublishedScores* published(const PublishedTable& table, Method method) {
  if (method == Method::kRandomForest) return &table.random_forest;
  if (method == Method::kBoosting) return &table.boosting;
  return nullptr;
}

std::string spread(double mean, double deviation) {
  return fmt::format("{:.3f} ± {:.3f}", mean, deviation);
}

std::string row_line(const ThesisTable& table, Method method, const ThesisScores& scores) {
  const PublishedScores* theirs = published(*table.published, method);
  const auto cell = [](const PublishedScore& s) { return spread(s.mean, s.deviation); };
  const auto& [time, power] = *scores.rows;
  return fmt::format("  {:<15}{:>14}  {:>14}  {:>14}  {:>14}\n", words(method), spread(time.mean, time.deviation),
                     theirs != nullptr ? cell(theirs->time) : "-", spread(power.mean, power.deviation),
                     theirs != nullptr ? cell(theirs->power) : "-") +
         fmt::format("  {:<15}{:>6.3f}{:8}  {:>6}{:8}  {:>6.3f}{:8}  {:>6}\n", "  test set", time.test, "",
                     theirs != nullptr ? fmt::format("{:.3f}", theirs->time.test) : "-", "", power.test, "",
                     theirs != nullptr ? fmt::format("{:.3f}", theirs->power.test) : "-");
}

std::string percent(const std::optional<double>& value) {
  if (!value) return "-";
  const double hundredths = *value * 100.0;
  return hundredths < 999.95 ? fmt::format("{:.1f}", hundredths) : fmt::format("{:.0e}", hundredths);
}

std::string r2_text(const std::optional<double>& value) {
  if (!value) return "-";
  return std::abs(*value) < 100.0 ? fmt::format("{:.3f}", *value) : fmt::format("{:.0e}", *value);
}

std::string operation_line(Method method, const Quantities& q) {
  return fmt::format("  {:<13}{:>7} {:>7} {:>7}  {:>7} {:>7} {:>7}  {:>7} {:>7}\n", words(method), r2_text(q.time.r2),
                     percent(q.time.mape), percent(q.time.median), r2_text(q.power.r2), percent(q.power.mape),
                     percent(q.power.median), percent(q.energy.mape), percent(q.energy.median));
}

std::string table_text(const ThesisTable& table) {
  const PublishedTable& p = *table.published;
  std::string out = fmt::format("\nTable {}: {}, {}: {} rows, {} operations\n  {}\n", p.number, p.gpu_name,
                                name(p.mode), table.rows, table.operations, p.remark);
  std::string rows;
  std::string operations;
  for (const Method method : kOrder) {
    const auto found = table.scores.find(method);
    if (found == table.scores.end()) continue;
    if (found->second.rows) rows += row_line(table, method, found->second);
    operations += operation_line(method, found->second.operations);
  }
  if (!rows.empty()) {
    out += fmt::format(
        "\n  Rows drawn at random, as in the thesis: repeats stand on both sides\n"
        "  {:15}{:>14}  {:>14}  {:>14}  {:>14}\n{}",
        "", "R2 time, here", "in the thesis", "R2 power, here", "in the thesis", rows);
  }
  out += fmt::format(
      "\n  No operation on both sides; {} rows; errors in percent\n"
      "  {:13}{:>7}{:18}{:>7}{:18}{:>8}\n"
      "  {:13}{:>7} {:>7} {:>7}  {:>7} {:>7} {:>7}  {:>7} {:>7}\n{}",
      table.judged, "", "time", "", "power", "", "energy", "", "R2", "MAPE", "median", "R2", "MAPE", "median", "MAPE",
      "median", operations);
  return out;
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json figures_json(const ErrorFigures& f) {
  return {{"n", f.count},
          {"r2", optional_json(f.r2)},
          {"mape", optional_json(f.mape)},
          {"median_ape", optional_json(f.median)},
          {"p90_ape", optional_json(f.p90)},
          {"bias", optional_json(f.bias)}};
}

Json score_json(double mean, double deviation, double test) {
  return {{"r2_mean", mean}, {"r2_deviation", deviation}, {"r2_test_set", test}};
}

Json scores_json(const ThesisTable& table, Method method, const ThesisScores& scores) {
  Json out;
  if (scores.rows) {
    const auto& [time, power] = *scores.rows;
    out["folds_of_rows"] = {{"time", score_json(time.mean, time.deviation, time.test)},
                            {"power", score_json(power.mean, power.deviation, power.test)}};
  }
  if (const PublishedScores* p = published(*table.published, method); p != nullptr) {
    out["in_the_thesis"] = {{"time", score_json(p->time.mean, p->time.deviation, p->time.test)},
                            {"power", score_json(p->power.mean, p->power.deviation, p->power.test)}};
  }
  const Quantities& q = scores.operations;
  out["folds_of_operations"] = {
      {"time", figures_json(q.time)}, {"power", figures_json(q.power)}, {"energy", figures_json(q.energy)}};
  return out;
}

}  // namespace

std::string thesis_text(const ThesisResult& result) {
  std::string out =
      "The thesis' tables of operations with the measurements at hand. Its three\n"
      "estimators learn raw seconds and watts from its features, each table alone;\n"
      "ours learns from all rows, those of other GPUs and modes too.\n";
  for (const ThesisTable& table : result.tables) out += table_text(table);
  return out;
}

std::string thesis_json(const ThesisResult& result) {
  Json tables = Json::array();
  for (const ThesisTable& table : result.tables) {
    Json estimators = Json::object();
    for (const Method method : kOrder) {
      const auto found = table.scores.find(method);
      if (found != table.scores.end())
        estimators[std::string(name(method))] = scores_json(table, method, found->second);
    }
    tables.push_back({{"table", table.published->number},
                      {"gpu", table.published->gpu},
                      {"mode", name(table.published->mode)},
                      {"remark", table.published->remark},
                      {"rows", table.rows},
                      {"operations", table.operations},
                      {"rows_in_folds_of_operations", table.judged},
                      {"estimators", std::move(estimators)}});
  }
  Json reasons = Json::array();
  for (const Refusal& r : result.refused.by_frequency())
    reasons.push_back({{"reason", r.reason}, {"rows", r.count}, {"first_line", r.first_line}});
  const Json out = {
      {"schema", "joulecast.thesis-tables/1"}, {"tables", std::move(tables)}, {"unused_because", std::move(reasons)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace joulecast
