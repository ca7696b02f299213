// SPDX-License-Identifier: Apache-2.0
#include "fit/correction_fit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace joulecast {
namespace {

using Matrix = std::array<CorrectionTerms, kCorrectionTerms>;

// Of a symmetric positive matrix, of which the lower triangle is read: Cholesky's factor in its place.
void factorise(Matrix& a) {
  for (std::size_t i = 0; i < kCorrectionTerms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
  }
}

// Solves for the matrix whose factor `a` is.
CorrectionTerms solved(const Matrix& a, CorrectionTerms b) {
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

// What the most likely correction solves.
struct Normal {
  Matrix a{};
  CorrectionTerms b{};
};

Normal normal_equations(const std::vector<Deviation>& rows, const std::vector<double>& weights,
                        const CorrectionPrior& prior) {
  Normal out;
  auto& [a, b] = out;
  for (std::size_t i = 0; i < kCorrectionTerms; ++i) a[i][i] = 1.0 / (prior.spread[i] * prior.spread[i]);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double scatter = prior.scatter * rows[r].scatter;
    const double weight = weights[r] * rows[r].weight / (scatter * scatter);
    for (std::size_t i = 0; i < kCorrectionTerms; ++i) {
      b[i] += weight * rows[r].terms[i] * rows[r].off;
      for (std::size_t j = 0; j <= i; ++j) a[i][j] += weight * rows[r].terms[i] * rows[r].terms[j];
    }
  }
  return out;
}

CorrectionTerms weighted_fit(const std::vector<Deviation>& rows, const std::vector<double>& weights,
                             const CorrectionPrior& prior) {
  Normal found = normal_equations(rows, weights, prior);
  factorise(found.a);
  return solved(found.a, found.b);
}

// Logarithm of how likely the rows are by the prior, but for what is the same for all priors of equal scatter: of a
// linear model with normal distributions.
double evidence(const std::vector<Deviation>& rows, const std::vector<double>& weights, const CorrectionPrior& prior) {
  Normal found = normal_equations(rows, weights, prior);
  factorise(found.a);
  const CorrectionTerms x = solved(found.a, found.b);
  double out = 0.0;
  for (std::size_t i = 0; i < kCorrectionTerms; ++i)
    out += 0.5 * found.b[i] * x[i] - std::log(found.a[i][i] * prior.spread[i]);
  return out;
}

// `all`, then the other general terms, then each group's.
CorrectionPrior prior(double all, double part, double group, double scatter) {
  CorrectionPrior out{.spread = {}, .scatter = scatter};
  out.spread.fill(group);
  out.spread[0] = all;
  for (std::size_t i = 1; i < kCorrectionGroups; ++i) out.spread[i] = part;
  out.spread[kCorrectionGroups - 1] = all;  // FP64 has no other term
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

namespace {

// With the weights that Huber's rule leaves the rows.
CorrectionTerms robust_fit(const std::vector<Deviation>& rows, const CorrectionPrior& prior,
                           std::vector<double>& weights) {
  weights.assign(rows.size(), 1.0);
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

}  // namespace

CorrectionTerms most_likely(const std::vector<Deviation>& rows, const CorrectionPrior& prior) {
  std::vector<double> weights;
  return robust_fit(rows, prior, weights);
}

CorrectionPrior told_by(const std::vector<Deviation>& rows, const CorrectionPrior& prior) {
  std::vector<double> weights;
  robust_fit(rows, prior, weights);
  CorrectionPrior out = prior;
  double best = evidence(rows, weights, prior);
  for (const double share : {0.5, 0.25}) {
    CorrectionPrior narrower = prior;
    for (double& spread : narrower.spread) spread *= share;
    const double found = evidence(rows, weights, narrower);
    if (found <= best) continue;
    best = found;
    out = narrower;
  }
  return out;
}

namespace {

// What is left of some rows, of one network or operation, by a correction made without them.
void judge_without(const std::vector<Deviation>& rows, const std::vector<std::size_t>& judged,
                   const CorrectionPrior& prior, std::vector<LeftOut>& out) {
  std::vector<Deviation> others;
  std::size_t next = 0;  // of the judged, which are in order
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (next < judged.size() && judged[next] == k) {
      ++next;
    } else {
      others.push_back(rows[k]);
    }
  }
  const CorrectionTerms correction = most_likely(others, prior);
  for (const std::size_t i : judged) out.push_back({i, rows[i].off - corrected_by(correction, rows[i].terms)});
}

// Beyond this many operations or networks those of a sample of them say enough.
constexpr std::size_t kJudged = 200;

// Every so manieth of them.
std::vector<std::vector<std::size_t>> sample_of(const std::vector<std::vector<std::size_t>>& all) {
  std::vector<std::vector<std::size_t>> out;
  const std::size_t every = (all.size() + kJudged - 1) / kJudged;
  for (std::size_t i = 0; i < all.size(); i += every) out.push_back(all[i]);
  return out;
}

}  // namespace

std::vector<LeftOut> left_out(const std::vector<Deviation>& rows, const CorrectionPrior& prior) {
  std::vector<std::vector<std::size_t>> operations;
  std::map<std::string_view, std::size_t> by_operation;
  std::map<std::size_t, std::vector<std::size_t>> by_subject;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].subject != 0) {
      by_subject[rows[i].subject].push_back(i);
      continue;
    }
    const auto [first, is_new] = by_operation.emplace(rows[i].operation, operations.size());
    if (is_new || rows[i].operation.empty()) {
      operations.push_back({i});
    } else {
      operations[first->second].push_back(i);
    }
  }
  std::vector<std::vector<std::size_t>> networks;
  networks.reserve(by_subject.size());
  for (auto& [subject, mine] : by_subject) networks.push_back(std::move(mine));
  std::vector<LeftOut> out;
  for (const auto& judged : sample_of(operations)) judge_without(rows, judged, prior, out);
  for (const auto& judged : sample_of(networks)) judge_without(rows, judged, prior, out);
  return out;
}

namespace {

struct Distance {
  double off, weight;
};

// The distance that so much of the weight lies within.
double quantile(std::vector<Distance> distances, double level) {
  std::sort(distances.begin(), distances.end(), [](const Distance& a, const Distance& b) { return a.off < b.off; });
  double all = 0.0;
  for (const Distance& d : distances) all += d.weight;
  double within = 0.0;
  for (const Distance& d : distances) {
    within += d.weight;
    if (within >= level * all) return d.off;
  }
  return distances.back().off;
}

constexpr std::size_t kEnoughNetworks = 20;
constexpr double kLevel = 0.9;

}  // namespace

std::map<std::string, double, std::less<>> network_widths(const std::vector<Deviation>& rows,
                                                          const std::vector<LeftOut>& left) {
  std::map<std::string, std::vector<Distance>> distances;
  std::map<std::string, std::set<std::size_t>> subjects;
  for (const LeftOut& one : left) {
    const Deviation& row = rows[one.row];
    if (row.subject == 0) continue;
    distances[row.way].push_back({std::abs(one.off), row.weight});
    subjects[row.way].insert(row.subject);
  }
  std::map<std::string, double, std::less<>> out;
  for (auto& [way, mine] : distances) {
    const auto count = static_cast<double>(subjects.at(way).size());
    if (count < kEnoughNetworks) continue;
    // One more, of which nothing is known, is as likely to be anywhere among them.
    out.emplace(way, quantile(std::move(mine), std::min(1.0, kLevel * (1.0 + 1.0 / count))));
  }
  return out;
}

}  // namespace joulecast
