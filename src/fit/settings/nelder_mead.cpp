// SPDX-License-Identifier: Apache-2.0
#include "fit/settings/nelder_mead.h"

#include <algorithm>
#include <cmath>

namespace joulecast::settings {
namespace {

struct Vertex {
  std::vector<double> at;
  double cost = 0.0;
};

class Simplex {
 public:
  Simplex(const std::function<double(const std::vector<double>&)>& cost, const std::vector<double>& start, double step)
      : cost_(cost) {
    vertices_.push_back(vertex(start));
    for (std::size_t i = 0; i < start.size(); ++i) {
      std::vector<double> at = start;
      at[i] += step;
      vertices_.push_back(vertex(std::move(at)));
    }
    sort();
  }

  [[nodiscard]] std::size_t evaluations() const { return evaluations_; }
  [[nodiscard]] const Vertex& best() const { return vertices_.front(); }
  [[nodiscard]] bool settled(double width, double tolerance) const {
    double widest = 0.0;
    for (const Vertex& v : vertices_) {
      for (std::size_t i = 0; i < v.at.size(); ++i) widest = std::max(widest, std::abs(v.at[i] - best().at[i]));
    }
    return widest <= width && vertices_.back().cost - best().cost <= tolerance;
  }

  // Replaces the worst vertex by the best of its reflections, or draws all towards the best one.
  void improve() {
    Vertex& worst = vertices_.back();
    const double second = vertices_[vertices_.size() - 2].cost;
    Vertex reflected = moved(1.0);
    if (reflected.cost < best().cost) {
      Vertex further = moved(2.0);
      worst = further.cost < reflected.cost ? std::move(further) : std::move(reflected);
    } else if (reflected.cost < second) {
      worst = std::move(reflected);
    } else {
      Vertex nearer = moved(reflected.cost < worst.cost ? 0.5 : -0.5);
      if (nearer.cost < std::min(reflected.cost, worst.cost)) {
        worst = std::move(nearer);
      } else {
        shrink();
      }
    }
    sort();
  }

 private:
  Vertex vertex(std::vector<double> at) {
    ++evaluations_;
    const double cost = cost_(at);
    return {std::move(at), cost};
  }

  // From the worst vertex through the middle of the others: 1 reflects it, -0.5 is half way to the middle.
  Vertex moved(double factor) {
    const std::size_t n = vertices_.size() - 1;
    const std::vector<double>& worst = vertices_.back().at;
    std::vector<double> at(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      double middle = 0.0;
      for (std::size_t v = 0; v < n; ++v) middle += vertices_[v].at[i] / static_cast<double>(n);
      at[i] = middle + factor * (middle - worst[i]);
    }
    return vertex(std::move(at));
  }

  void shrink() {
    for (std::size_t v = 1; v < vertices_.size(); ++v) {
      std::vector<double> at = vertices_[v].at;
      for (std::size_t i = 0; i < at.size(); ++i) at[i] = 0.5 * (at[i] + best().at[i]);
      vertices_[v] = vertex(std::move(at));
    }
  }

  void sort() {
    std::stable_sort(vertices_.begin(), vertices_.end(),
                     [](const Vertex& a, const Vertex& b) { return a.cost < b.cost; });
  }

  const std::function<double(const std::vector<double>&)>& cost_;
  std::vector<Vertex> vertices_;
  std::size_t evaluations_ = 0;
};

}  // namespace

std::vector<double> minimised(const std::function<double(const std::vector<double>&)>& cost,
                              const std::vector<double>& start, const NelderMead& options) {
  Simplex simplex(cost, start, options.step);
  while (simplex.evaluations() < options.evaluations && !simplex.settled(options.width, options.tolerance))
    simplex.improve();
  return simplex.best().at;
}

}  // namespace joulecast::settings
