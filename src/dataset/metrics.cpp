// SPDX-License-Identifier: Apache-2.0
#include "dataset/metrics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "base/sum.h"

namespace joulecast {
namespace {

// In place: `values` is reordered.
double quantile_of(std::vector<double>& values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(std::floor(at));
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<std::size_t>(below)];
  const double part = at - std::floor(at);
  if (part == 0.0) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  return low + part * (high - low);
}

// Two passes: the mean first, then distances from it.
std::optional<double> r2(std::span<const double> measured, std::span<const double> predicted) {
  if (measured.empty()) return std::nullopt;
  CompensatedSum total;
  for (const double value : measured) total.add(value);
  const double mean = total.value() / static_cast<double>(measured.size());
  CompensatedSum errors;
  CompensatedSum distances;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    errors.add((predicted[i] - measured[i]) * (predicted[i] - measured[i]));
    distances.add((measured[i] - mean) * (measured[i] - mean));
  }
  const auto [least, most] = std::minmax_element(measured.begin(), measured.end());
  constexpr double kRounding = 1e-12;  // of values that went through a logarithm and back
  if (*most - *least <= kRounding * std::max(std::abs(*least), std::abs(*most))) return std::nullopt;
  return 1.0 - errors.value() / distances.value();
}

std::optional<double> r2_log(std::span<const double> measured, std::span<const double> predicted) {
  const auto positive = [](double value) { return value > 0.0; };
  if (!std::all_of(measured.begin(), measured.end(), positive)) return std::nullopt;
  if (!std::all_of(predicted.begin(), predicted.end(), positive)) return std::nullopt;
  const auto logs = [](std::span<const double> values) {
    std::vector<double> out;
    std::transform(values.begin(), values.end(), std::back_inserter(out), [](double value) { return std::log(value); });
    return out;
  };
  return r2(logs(measured), logs(predicted));
}

}  // namespace

ErrorFigures error_figures(std::span<const double> measured, std::span<const double> predicted) {
  JC_CHECK(measured.size() == predicted.size(), "as many predictions as measurements");
  ErrorFigures figures;
  figures.count = measured.size();
  figures.r2 = r2(measured, predicted);
  figures.r2_log = r2_log(measured, predicted);
  std::vector<double> errors;
  CompensatedSum absolute;
  CompensatedSum signed_errors;
  CompensatedSum logs;
  bool all_positive = true;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!(measured[i] > 0.0)) continue;
    const double error = (predicted[i] - measured[i]) / measured[i];
    errors.push_back(std::abs(error));
    absolute.add(std::abs(error));
    signed_errors.add(error);
    all_positive = all_positive && predicted[i] > 0.0;
    if (all_positive) logs.add(std::log(predicted[i] / measured[i]));
  }
  figures.relative_count = errors.size();
  if (errors.empty()) return figures;
  const auto count = static_cast<double>(errors.size());
  figures.mape = absolute.value() / count;
  figures.bias = signed_errors.value() / count;
  if (all_positive) figures.geometric_ratio = std::exp(logs.value() / count);
  figures.max = *std::max_element(errors.begin(), errors.end());
  figures.median = quantile_of(errors, 0.5);
  figures.p90 = quantile_of(errors, 0.9);
  return figures;
}

std::optional<double> coverage(std::span<const double> measured, std::span<const double> low,
                               std::span<const double> high) {
  JC_CHECK(measured.size() == low.size() && measured.size() == high.size(), "as many intervals as measurements");
  if (measured.empty()) return std::nullopt;
  std::size_t inside = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) inside += low[i] <= measured[i] && measured[i] <= high[i] ? 1 : 0;
  return static_cast<double>(inside) / static_cast<double>(measured.size());
}

std::optional<double> relative_width(std::span<const double> measured, std::span<const double> low,
                                     std::span<const double> high) {
  JC_CHECK(measured.size() == low.size() && measured.size() == high.size(), "as many intervals as measurements");
  CompensatedSum widths;
  std::size_t count = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!(measured[i] > 0.0)) continue;
    widths.add((high[i] - low[i]) / measured[i]);
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(widths.value() / static_cast<double>(count));
}

std::optional<double> quantile(std::span<const double> values, double q) {
  JC_CHECK(q >= 0.0 && q <= 1.0, "a quantile lies between 0 and 1");
  if (values.empty()) return std::nullopt;
  std::vector<double> copy(values.begin(), values.end());
  return quantile_of(copy, q);
}

}  // namespace joulecast
