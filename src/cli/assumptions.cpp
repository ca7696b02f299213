// SPDX-License-Identifier: Apache-2.0
#include "cli/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "base/lower_case.h"
#include "import/guessed_shapes.h"

namespace joulecast::cli {
namespace {

constexpr std::int64_t kUsualImage = 224;
constexpr std::int64_t kUsualLength = 128;

bool contains_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return text.find(w) != std::string::npos; });
}

const GraphInput* find_input(const Graph& graph, const std::string& name) {
  const auto at = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                               [&](const GraphInput& input) { return graph.value(input.value).name == name; });
  return at == graph.inputs.end() ? nullptr : &*at;
}

bool whole_numbers(ElementType element) {
  return element == ElementType::kInt32 || element == ElementType::kInt64;
}

// By its name first: exporters name what is not the batch. Then by its place: images are [batch, channels, height,
// width], token ids [batch, sequence], embedded sequences [batch, sequence, features].
std::optional<std::int64_t> usual_extent(const UnboundDimension& dimension, const GraphInput& input,
                                         std::int64_t batch) {
  const std::string name = lower_case(dimension.symbol);
  if (contains_any(name, {"batch"}) || name == "n" || name == "b") return batch;
  if (contains_any(name, {"height", "width"}) || name == "h" || name == "w") return kUsualImage;
  if (contains_any(name, {"seq", "len", "time", "token", "past"})) return kUsualLength;
  if (dimension.axis == 0) return batch;
  const std::size_t rank = input.dimensions.size();
  if (rank == 4 && dimension.axis >= 2) return kUsualImage;
  if (dimension.axis == 1 && (rank == 3 || (rank == 2 && whole_numbers(input.element)))) return kUsualLength;
  return std::nullopt;
}

// "1x128"; what has no number yet stands as "<sequence>".
std::string bound_shape(const GraphInput& input, const Binding& binding) {
  std::string out;
  for (const Dimension& d : input.dimensions) {
    const auto symbol = binding.symbols.find(d.symbol);
    const std::int64_t batch = binding.batch.value_or(1);
    if (!out.empty()) out += 'x';
    if (d.extent) {
      out += fmt::to_string(*d.extent);
    } else if (symbol != binding.symbols.end()) {
      out += fmt::to_string(symbol->second);
    } else {
      out +=
          &d == input.dimensions.data() || d.symbol == "batch" ? fmt::to_string(batch) : fmt::format("<{}>", d.symbol);
    }
  }
  return out;
}

// "input_ids:1x128"
std::string shape_to_type(const Graph& graph, const GraphInput& input, const Binding& binding) {
  return graph.value(input.value).name + ":" + bound_shape(input, binding);
}

std::string assumption_text(const Assumption& assumption, const Graph& graph, const Binding& binding) {
  const UnboundDimension& d = assumption.dimension;
  const GraphInput* input = find_input(graph, d.input);
  std::string way = "--batch";
  if (input != nullptr && (d.axis != 0 || binding.batch)) way = "--shapes " + shape_to_type(graph, *input, binding);
  return fmt::format("dimension '{}' of input '{}' is not bound: taken as {}; set it with {}", d.symbol, d.input,
                     assumption.extent, way);
}

tl::unexpected<Failure> no_usual_extent(const Graph& graph, const Binding& binding,
                                        const std::vector<UnboundDimension>& open) {
  std::string text = "the model leaves dimensions open:";
  std::string hint = "type";
  std::string_view last_input;
  for (const UnboundDimension& d : open) {
    text += fmt::format(" '{}' (axis {} of input '{}')", d.symbol, d.axis, d.input);
    const GraphInput* input = find_input(graph, d.input);
    if (input == nullptr || d.input == last_input) continue;
    hint += " --shapes " + shape_to_type(graph, *input, binding);
    last_input = d.input;
  }
  return usage(std::move(text), std::move(hint));
}

}  // namespace

tl::expected<std::vector<Assumption>, Failure> assume_open_dimensions(const Graph& graph, Binding& binding) {
  std::vector<Assumption> out;
  std::vector<UnboundDimension> left;
  for (UnboundDimension& dimension : unbound_dimensions(graph, binding)) {
    const GraphInput* input = find_input(graph, dimension.input);
    const auto extent = input == nullptr ? std::nullopt : usual_extent(dimension, *input, binding.batch.value_or(1));
    if (!extent) {
      left.push_back(std::move(dimension));
      continue;
    }
    binding.symbols[dimension.symbol] = *extent;
    out.push_back({std::move(dimension), *extent, {}});
  }
  if (!left.empty()) return no_usual_extent(graph, binding, left);
  for (Assumption& assumption : out) assumption.text = assumption_text(assumption, graph, binding);
  return out;
}

Failure misfit(Error error, const std::string& model, const Graph& graph, const Binding& binding) {
  std::vector<GuessedShape> guessed;
  for (const GraphInput& input : graph.inputs) {
    const std::string& name = graph.value(input.value).name;
    if (binding.shapes.contains(name) || !is_shape_guessed(graph, name)) continue;
    guessed.push_back({name, bound_shape(input, binding)});
  }
  return {std::move(error).in(model), advice_on(guessed)};
}

}  // namespace joulecast::cli
