// SPDX-License-Identifier: Apache-2.0
#include "fit/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fit/network_rows.h"
#include "fit/rows.h"
#include "predict/network_parts.h"
#include "predict/pack/writer.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

using Matrix = std::array<CorrectionTerms, kCorrectionTerms>;

// Solves a x = b for a symmetric positive a, by Cholesky's method in place.
CorrectionTerms solved(Matrix a, CorrectionTerms b) {
  for (std::size_t i = 0; i < kCorrectionTerms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
  }
  for (std::size_t i = 0; i < kCorrectionTerms; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = kCorrectionTerms; i-- > 0;) {
    for (std::size_t k = i + 1; k < kCorrectionTerms; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

CorrectionTerms weighted_fit(const std::vector<Deviation>& rows, const std::vector<double>& weights,
                             const CorrectionPrior& prior) {
  Matrix a{};
  CorrectionTerms b{};
  for (std::size_t i = 0; i < kCorrectionTerms; ++i) a[i][i] = 1.0 / (prior.spread[i] * prior.spread[i]);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double scatter = prior.scatter * rows[r].scatter;
    const double weight = weights[r] * rows[r].weight / (scatter * scatter);
    for (std::size_t i = 0; i < kCorrectionTerms; ++i) {
      b[i] += weight * rows[r].terms[i] * rows[r].off;
      for (std::size_t j = 0; j < kCorrectionTerms; ++j) a[i][j] += weight * rows[r].terms[i] * rows[r].terms[j];
    }
  }
  return solved(a, b);
}

// What is to be learnt of one GPU.
struct Deviations {
  std::vector<Deviation> time, power;
  std::vector<double> power_scale;  // watts that a share of 1 is, over the measured watts
  std::array<bool, kGroups> groups{};
};

void add(const Sample& sample, const OperationPrediction& found, Deviations& out) {
  const Group group = group_of(sample.work);
  const CorrectionTerms terms = correction_terms(group, found.physics);
  out.groups[static_cast<std::size_t>(group)] = true;
  out.time.push_back({.off = std::log(sample.time / found.time), .terms = terms});
  if (!sample.power) return;
  const double range = sample.device.limit - sample.device.idle;
  out.power.push_back({.off = (*sample.power - found.power) / range, .terms = terms});
  out.power_scale.push_back(range / *sample.power);
}

// What is left of a row by a correction made with all others, without any of its network.
double left_out(const std::vector<Deviation>& rows, std::size_t i, const CorrectionPrior& prior) {
  std::vector<Deviation> others;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k != i && (rows[i].subject == 0 || rows[k].subject != rows[i].subject)) others.push_back(rows[k]);
  }
  return rows[i].off - corrected_by(most_likely(others, prior), rows[i].terms);
}

// Networks have no part of their power that an operation would answer for.
void add(const std::vector<Deviation>& networks, Deviations& out) {
  for (const Deviation& network : networks) {
    for (std::size_t g = 0; g < kGroups; ++g)
      out.groups[g] = out.groups[g] || network.terms[kCorrectionTerms - kGroups + g] > 0.0;
  }
  out.time.insert(out.time.end(), networks.begin(), networks.end());
}

// Beyond this many rows the leave-one-out errors of a sample of them say enough.
constexpr std::size_t kJudgedRows = 200;

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0.0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

CalibrationErrors errors(const std::vector<Deviation>& rows, const CorrectionPrior& prior, const auto& error) {
  std::vector<double> before_errors;
  std::vector<double> after_errors;
  const std::size_t every = (rows.size() + kJudgedRows - 1) / kJudgedRows;
  for (std::size_t i = 0; i < rows.size(); i += every) {
    before_errors.push_back(error(i, rows[i].off));
    after_errors.push_back(error(i, left_out(rows, i, prior)));
  }
  return {.rows = rows.size(), .before = mean(before_errors), .after = mean(after_errors)};
}

CalibratedGpu judged(const std::string& gpu, const Deviations& rows) {
  CalibratedGpu out{.gpu = gpu, .time = {}, .power = {}, .unseen_groups = {}};
  out.time = errors(rows.time, time_prior(), [](std::size_t, double off) { return std::abs(std::exp(-off) - 1.0); });
  out.power =
      errors(rows.power, power_prior(), [&](std::size_t i, double off) { return std::abs(off) * rows.power_scale[i]; });
  for (std::size_t g = 0; g < kGroups; ++g) {
    if (!rows.groups[g]) out.unseen_groups.emplace_back(name(static_cast<Group>(g)));
  }
  return out;
}

// The pack without the corrections of these GPUs predicts the rows.
Result<std::map<std::string, Deviations>> deviations(const SampleSet& set, const Estimator& estimator) {
  std::map<std::string, Deviations> out;
  for (const std::vector<Sample>& samples : set.groups) {
    for (const Sample& sample : samples) {
      Estimator::Trust trust = estimator.trust(sample.gpu->id);
      trust.correction.reset();
      OperationPrediction found;
      JC_RETURN_IF_ERROR(estimator.predict({&sample.work, 1}, sample.device, sample.situation, trust, {&found, 1}));
      add(sample, found, out[std::string(sample.gpu->id)]);
    }
  }
  return out;
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<void> write_pack(const Pack& pack, const Corrections& corrections, const std::string& path) {
  PackWriter writer;
  JC_RETURN_IF_ERROR(writer.add_forests_of(pack));
  for (const std::string_view section : pack.tables()) {
    if (section == pack_names::kCorrections) continue;
    JC_ASSIGN_OR_RETURN(const TableView table, pack.table(section));
    std::map<std::string, double> numbers;
    for (std::size_t i = 0; i < table.size(); ++i) numbers.emplace(table.key(i), table.value(i));
    JC_RETURN_IF_ERROR(writer.add_table(std::string(section), numbers));
  }
  for (const std::string_view section : pack.jsons()) {
    JC_ASSIGN_OR_RETURN(const std::string_view text, pack.json(section));
    JC_RETURN_IF_ERROR(writer.add_json(std::string(section), std::string(text)));
  }
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kCorrections), corrections_table(corrections)));
  return writer.write(path);
}

}  // namespace

namespace {

// `all`, then what host, memory and arithmetic decide, then each group's.
CorrectionPrior prior(double all, double part, double group, double scatter) {
  CorrectionPrior out{.spread = {}, .scatter = scatter};
  out.spread.fill(group);
  out.spread[0] = all;
  for (std::size_t i = 1; i <= 3; ++i) out.spread[i] = part;
  return out;
}

}  // namespace

// About what GPUs of the shipped pack's tables are off when they are left out (docs/accuracy.md, GPUs left out).
CorrectionPrior time_prior() {
  return prior(0.08, 0.06, 0.05, 0.2);
}
CorrectionPrior power_prior() {
  return prior(0.10, 0.10, 0.06, 0.06);
}

CorrectionTerms most_likely(const std::vector<Deviation>& rows, const CorrectionPrior& prior) {
  std::vector<double> weights(rows.size(), 1.0);
  CorrectionTerms out = weighted_fit(rows, weights, prior);
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double left = std::abs(rows[i].off - corrected_by(out, rows[i].terms));
      weights[i] = std::min(1.0, 2.0 * prior.scatter * rows[i].scatter / std::max(left, 1e-12));
    }
    out = weighted_fit(rows, weights, prior);
  }
  return out;
}

Result<std::vector<CalibratedGpu>> calibrate(const CalibrateOptions& options, const Catalogue& catalogue,
                                             const Progress& progress) {
  JC_RETURN_IF_ERROR(PackWriter::check_writable(options.out));
  JC_ASSIGN_OR_RETURN(const Pack pack, Pack::open(options.pack));
  JC_ASSIGN_OR_RETURN(const Estimator estimator, Estimator::from(pack));
  JC_ASSIGN_OR_RETURN(const ComposeConstants compose, read_compose(pack));
  SampleSet set;
  NetworkRows networks(options.graphs, catalogue, estimator, compose);
  const auto add_network = [&](const MeasuredNetwork& row) { return networks.add(row); };
  for (const std::string& path : options.tables) {
    JC_ASSIGN_OR_RETURN(const Refusals refused, add_table(path, options.layouts, catalogue, set, add_network));
    for (const std::string& line : refusal_lines(refused)) progress(line);
  }
  JC_ASSIGN_OR_RETURN(auto rows, deviations(set, estimator));
  for (const auto& [gpu, found] : networks.deviations()) add(found, rows[gpu]);
  if (rows.empty()) return invalid("no row of the tables says anything of a GPU");
  Corrections corrections;
  if (contains(pack.tables(), pack_names::kCorrections)) {
    JC_ASSIGN_OR_RETURN(const TableView table, pack.table(pack_names::kCorrections));
    corrections = corrections_of(table);
  }
  std::vector<CalibratedGpu> out;
  for (const auto& [gpu, found] : rows) {
    corrections[gpu] = {.time = most_likely(found.time, time_prior()),
                        .power = most_likely(found.power, power_prior())};
    out.push_back(judged(gpu, found));
  }
  JC_RETURN_IF_ERROR(write_pack(pack, corrections, options.out));
  return out;
}

std::string calibration_text(const std::vector<CalibratedGpu>& gpus) {
  const auto percent = [](std::optional<double> share) { return share ? fmt::format("{:.1f}", *share * 100.0) : "-"; };
  std::string out =
      "mean errors in percent, each row by a correction made with the others\n\n"
      "GPU                   rows  time before  after  power before  after\n";
  for (const CalibratedGpu& g : gpus) {
    out += fmt::format("{:<20} {:>5}  {:>11}  {:>5}  {:>12}  {:>5}\n", g.gpu, g.time.rows, percent(g.time.before),
                       percent(g.time.after), percent(g.power.before), percent(g.power.after));
  }
  for (const CalibratedGpu& g : gpus) {
    if (!g.unseen_groups.empty())
      out += fmt::format("{}: nothing measured of {}\n", g.gpu, fmt::join(g.unseen_groups, ", "));
  }
  return out;
}

}  // namespace joulecast
