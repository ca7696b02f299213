// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <limits>
#include <map>

namespace joulecast::runner {
namespace {

using Table = std::map<std::string_view, Kernel (*)(const StepContext&)>;

const Table& table() {
  static const Table all = [] {
    Table out;
    for (const auto& family :
         {product_operators, norm_operators, pool_operators, activation_operators, elementwise_operators,
          shape_operators, index_operators, reduce_operators, recurrent_operators}) {
      for (const OperatorEntry& entry : family()) out.emplace(entry.name, entry.make);
    }
    return out;
  }();
  return all;
}

// "To the end" is the largest whole number there is, which no double is.
std::int64_t saturated(double value) {
  constexpr double kBeyond = 9223372036854775808.0;
  if (value >= kBeyond) return std::numeric_limits<std::int64_t>::max();
  if (value <= -kBeyond) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

}  // namespace

Kernel make_kernel(const StepContext& context) {
  const auto at = table().find(context.op());
  if (at == table().end()) refuse(context, "this runner has no such operator");
  return at->second(context);
}

std::size_t StepContext::in(std::size_t i) const {
  if (!has(i)) throw Refusal("protocol", step_.op + " lacks input " + std::to_string(i));
  return static_cast<std::size_t>(step_.inputs[i]);
}

std::optional<std::size_t> StepContext::optional_in(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  return static_cast<std::size_t>(step_.inputs[i]);
}

std::size_t StepContext::out(std::size_t i) const {
  const auto id = optional_out(i);
  if (!id) throw Refusal("protocol", step_.op + " lacks output " + std::to_string(i));
  return *id;
}

std::optional<std::size_t> StepContext::optional_out(std::size_t i) const {
  if (i >= step_.outputs.size() || step_.outputs[i] == kAbsent) return std::nullopt;
  return static_cast<std::size_t>(step_.outputs[i]);
}

std::vector<std::int64_t> StepContext::integers(std::size_t i) const {
  const Value& value = input(i);
  std::size_t elements = 1;
  for (const std::int64_t extent : value.shape) elements *= static_cast<std::size_t>(extent);
  if (value.contents.size() != elements)
    throw Refusal("unsupported", step_.op + ": input " + std::to_string(i) + " depends on data");
  std::vector<std::int64_t> out;
  for (const double one : value.contents) out.push_back(saturated(one));
  return out;
}

std::optional<double> StepContext::number(std::size_t i) const {
  if (!has(i) || input(i).contents.size() != 1) return std::nullopt;
  return input(i).contents.front();
}

}  // namespace joulecast::runner
