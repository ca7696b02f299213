// SPDX-License-Identifier: Apache-2.0
#include "reference/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

class Differences {
 public:
  explicit Differences(std::int64_t batch) : batch_(batch) {}

  void number(const std::string& what, double ours, double theirs) {
    ++out_.counts;
    if (ours == theirs) return;
    add({what, batch_, ours, theirs, fmt::format("{:.0f}, reference {:.0f} (x{:.4f})", ours, theirs, ours / theirs)});
  }

  // Every kind that either has.
  void counts(const std::string& prefix, const Counts& ours, const Counts& theirs) {
    std::set<std::string> kinds;
    for (const auto& [kind, count] : ours) kinds.insert(kind);
    for (const auto& [kind, count] : theirs) kinds.insert(kind);
    for (const std::string& kind : kinds) number(prefix + kind, value(ours, kind), value(theirs, kind));
  }

  void outputs(const std::vector<Shape>& ours, const std::vector<Shape>& theirs) {
    ++out_.counts;
    if (ours == theirs) return;
    add({"outputs", batch_, 0.0, 0.0, fmt::format("{}, reference {}", list(ours), list(theirs))});
  }

  void append_to(Comparison& all) const {
    all.counts += out_.counts;
    all.differences.insert(all.differences.end(), out_.differences.begin(), out_.differences.end());
  }

 private:
  static double value(const Counts& counts, const std::string& kind) {
    const auto it = counts.find(kind);
    return it == counts.end() ? 0.0 : it->second;
  }
  static std::string list(const std::vector<Shape>& shapes) {
    std::string out;
    for (const Shape& shape : shapes) out += (out.empty() ? "" : ", ") + text(shape);
    return out;
  }
  void add(CountDifference difference) { out_.differences.push_back(std::move(difference)); }

  std::int64_t batch_;
  Comparison out_;
};

// Only what fvcore counted by itself: its normalisation may be folded away by the exporter.
Counts only(const Counts& counts, const Counts& kinds) {
  Counts out;
  for (const auto& [kind, count] : counts) {
    if (kinds.contains(kind) || !kind.ends_with("_norm")) out[kind] = count;
  }
  return out;
}

void compare_at(std::int64_t batch, const NetworkCounts& ours, const ReferenceFile& reference, Differences& out) {
  if (const auto torch = reference.torch.find(batch); torch != reference.torch.end()) {
    out.counts("", ours.torch, torch->second);
  }
  if (const auto shapes = reference.outputs.find(batch); shapes != reference.outputs.end()) {
    out.outputs(ours.outputs, shapes->second);
  }
  if (batch != 1) return;
  if (reference.fvcore) out.counts("fvcore.", only(ours.fvcore, *reference.fvcore), *reference.fvcore);
  if (reference.parameters) out.number("parameters", ours.parameters, *reference.parameters);
}

// '*' stands for any characters.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*') {
    return !text.empty() && pattern.front() == text.front() && matches(pattern.substr(1), text.substr(1));
  }
  for (std::size_t skip = 0; skip <= text.size(); ++skip) {
    if (matches(pattern.substr(1), text.substr(skip))) return true;
  }
  return false;
}

}  // namespace

Result<Comparison> compare_network(const fs::path& network, const ReferenceFile& reference) {
  JC_ASSIGN_OR_RETURN(const Graph imported, import_model(network.string()));
  const Graph graph = simplify(imported);
  JC_RETURN_IF_ERROR(validate(graph));
  Comparison all;
  for (const std::int64_t batch : {std::int64_t{1}, std::int64_t{8}}) {
    Binding binding;
    for (const auto& [symbol, extent] : reference.sizes) binding.symbols[symbol] = extent;
    binding.symbols["batch"] = batch;
    JC_ASSIGN_OR_RETURN(const TypeTable types, infer_types(graph, binding));
    Differences differences(batch);
    compare_at(batch, count_network(graph, types, reference.spelled_out_attention), reference, differences);
    differences.append_to(all);
  }
  return all;
}

bool Explained::covers(const std::string& network) const {
  return matches(networks, network);
}

bool Explained::expects(const CountDifference& difference) const {
  if (what != difference.what) return false;
  if (expectation == "less") return difference.ours < difference.theirs;
  if (expectation == "more") return difference.ours > difference.theirs;
  if (expectation == "other") return true;
  return std::abs(difference.ours / difference.theirs - std::stod(expectation.substr(1))) < 6e-5;
}

Result<std::vector<Explained>> read_explained(const fs::path& path) {
  std::vector<Explained> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Explained entry;
    words >> entry.networks >> entry.what >> entry.expectation;
    std::getline(words >> std::ws, entry.reason);
    const std::string& e = entry.expectation;
    const bool ratio = e.size() > 1 && e[0] == 'x' && e.find_first_not_of("0123456789.", 1) == std::string::npos;
    if (entry.reason.empty() || !(ratio || e == "less" || e == "more" || e == "other")) {
      return invalid(fmt::format("{}: bad line: {}", path.string(), line));
    }
    out.push_back(std::move(entry));
  }
  return out;
}

std::vector<std::string> complaints(const std::string& network, const Comparison& comparison,
                                    const std::vector<Explained>& explained) {
  std::vector<std::string> out;
  std::vector<bool> used(explained.size(), false);
  for (const CountDifference& difference : comparison.differences) {
    bool expected = false;
    for (std::size_t i = 0; i < explained.size(); ++i) {
      if (!explained[i].covers(network) || !explained[i].expects(difference)) continue;
      expected = used[i] = true;
    }
    if (!expected) out.push_back(fmt::format("batch {} {}: {}", difference.batch, difference.what, difference.text));
  }
  for (std::size_t i = 0; i < explained.size(); ++i) {
    if (used[i] || !explained[i].covers(network)) continue;
    out.push_back(fmt::format("explained, but there is no such difference: {} {} {}", explained[i].networks,
                              explained[i].what, explained[i].expectation));
  }
  return out;
}

}  // namespace joulecast
