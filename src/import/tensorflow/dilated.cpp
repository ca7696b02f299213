// SPDX-License-Identifier: Apache-2.0
// TensorFlow writes a dilated convolution as one without: SpaceToBatchND puts pixels that a window's entries apart lie
// beside each other, into images of their own, and BatchToSpaceND puts them back.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/tensorflow/importer.h"
#include "import/tensorflow/node_context.h"
#include "import/tensorflow/operators.h"

namespace joulecast::tensorflow {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 24;

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

// What works on each pixel alone may stand behind the convolution.
bool works_on_pixels(std::string_view op) {
  return is_one_of(op, {"BiasAdd", "Elu", "Identity", "Relu", "Relu6", "Sigmoid", "Tanh"});
}

Result<IntList> numbers(const Canvas& canvas, const Tensor& tensor, std::size_t sample, std::string_view what) {
  const auto both = canvas.samples(tensor);
  if (!both) return unsupported(fmt::format("its {} is not known", what));
  return (*both)[sample];
}

}  // namespace

// How often each node that is run is read.
Result<std::vector<std::uint32_t>> Importer::count_readers(std::span<const std::uint32_t> places,
                                                           std::span<const std::string_view> roots, Scope& scope) {
  std::vector<std::uint32_t> out(scope.nodes.size(), 0);
  const auto count = [&](std::string_view input) -> Result<void> {
    JC_ASSIGN_OR_RETURN(const auto place, place_of(input, scope));
    if (place) ++out[*place];
    return {};
  };
  for (const std::string_view root : roots) JC_RETURN_IF_ERROR(count(root));
  for (const std::uint32_t place : places) {
    if (!scope.outputs[place].empty()) continue;
    for (const std::string_view input : scope.nodes[place].inputs) JC_RETURN_IF_ERROR(count(input));
  }
  return out;
}

// From BatchToSpaceND at `place` back; nothing where it is something else, or somebody else reads what lies between.
Result<std::optional<Dilated>> Importer::dilated_before(std::uint32_t place, std::span<const std::uint32_t> readers,
                                                        Scope& scope) {
  constexpr std::size_t kLongest = 4;
  Dilated out;
  const auto before = [&](std::uint32_t at) -> Result<std::optional<std::uint32_t>> {
    const NodeView& node = scope.nodes[at];
    if (node.inputs.empty()) return std::optional<std::uint32_t>();
    JC_ASSIGN_OR_RETURN(const auto found, place_of(node.inputs[0], scope));
    const bool ours = found && readers[*found] == 1 && scope.outputs[*found].empty();
    return ours ? found : std::nullopt;
  };
  JC_ASSIGN_OR_RETURN(auto at, before(place));
  while (at && out.tail.size() < kLongest &&
         (works_on_pixels(scope.nodes[*at].op) || is_one_of(scope.nodes[*at].op, {"Squeeze", "Reshape"}))) {
    out.tail.push_back(*at);
    JC_ASSIGN_OR_RETURN(at, before(*at));
  }
  if (!at || !is_one_of(scope.nodes[*at].op, {"Conv2D", "DepthwiseConv2dNative"})) return std::optional<Dilated>();
  const NodeContext conv(*this, scope, scope.nodes[*at], 1, {});
  JC_ASSIGN_OR_RETURN(const std::string_view padding, conv.attribute("padding", "VALID"));
  JC_ASSIGN_OR_RETURN(const std::string_view format, conv.attribute("data_format", "NHWC"));
  if (padding != "VALID" || format != "NHWC") return std::optional<Dilated>();
  out.conv = *at;
  JC_ASSIGN_OR_RETURN(at, before(*at));
  if (at && scope.nodes[*at].op == "ExpandDims") {
    out.expand = *at;
    JC_ASSIGN_OR_RETURN(at, before(*at));
  }
  if (!at || scope.nodes[*at].op != "SpaceToBatchND" || scope.nodes[*at].inputs.size() < 3) {
    return std::optional<Dilated>();
  }
  out.space = *at;
  const auto shapes = std::count_if(out.tail.begin(), out.tail.end(),
                                    [&](std::uint32_t i) { return !works_on_pixels(scope.nodes[i].op); });
  return shapes == (out.expand ? 1 : 0) ? std::optional(out) : std::nullopt;
}

Result<void> Importer::find_dilated(std::span<const std::uint32_t> places, std::span<const std::string_view> roots,
                                    Scope& scope) {
  const auto is_end = [&](std::uint32_t place) {
    const NodeView& node = scope.nodes[place];
    return node.op == "BatchToSpaceND" && node.inputs.size() >= 3;
  };
  if (std::none_of(places.begin(), places.end(), is_end)) return {};
  JC_ASSIGN_OR_RETURN(const auto readers, count_readers(places, roots, scope));
  for (const std::uint32_t place : places) {
    if (!is_end(place)) continue;
    JC_ASSIGN_OR_RETURN(const auto found, dilated_before(place, readers, scope));
    if (!found) continue;
    scope.dilated.emplace(place, *found);
    for (const std::uint32_t one : found->tail) scope.between.insert(one);
    if (found->expand) scope.between.insert(*found->expand);
    scope.between.insert({found->conv, found->space});
  }
  return {};
}

namespace {

// Of the axes behind the batch: how far apart entries are, and what is left of the padding after cropping.
Result<Dilation> dilation_of(const IntList& blocks, const IntList& pads, const IntList& cut) {
  Dilation out;
  if (blocks.size() + 2 > kMaxRank || pads.size() != 2 * blocks.size() || cut.size() != pads.size()) {
    return invalid(fmt::format("{} paddings and {} crops for {} axes", pads.size(), cut.size(), blocks.size()));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::array<std::int64_t, 5> all{blocks[i], pads[2 * i], pads[2 * i + 1], cut[2 * i], cut[2 * i + 1]};
    const bool fits = std::all_of(all.begin(), all.end(), [](std::int64_t v) { return v >= 0 && v <= kLargest; });
    if (!fits || blocks[i] < 1) return invalid("block_shape, paddings or crops are absurd");
    out.block[i + 1] = blocks[i];
    out.begin[i + 1] = pads[2 * i] - cut[2 * i];
    out.end[i + 1] = pads[2 * i + 1] - cut[2 * i + 1];
    if (out.begin[i + 1] < 0 || out.end[i + 1] < 0) return unsupported("crops more than SpaceToBatchND has padded");
  }
  return out;
}

// The same for all sizes of an open image.
Result<Dilation> read_dilation(const Canvas& canvas, const Tensor& block, const Tensor& paddings, const Tensor& crops) {
  std::array<Dilation, kSamples> out;
  for (std::size_t sample = 0; sample < kSamples; ++sample) {
    JC_ASSIGN_OR_RETURN(const IntList blocks, numbers(canvas, block, sample, "block_shape"));
    JC_ASSIGN_OR_RETURN(const IntList pads, numbers(canvas, paddings, sample, "paddings"));
    JC_ASSIGN_OR_RETURN(const IntList cut, numbers(canvas, crops, sample, "crops"));
    JC_ASSIGN_OR_RETURN(out[sample], dilation_of(blocks, pads, cut));
    if (out[sample] != out[0]) return unsupported("its padding depends on the size of the image");
  }
  return out[0];
}

// With an axis more in front of `axis`.
void insert_axis(Dilation& dilation, std::size_t axis) {
  for (auto* list : {&dilation.block, &dilation.begin, &dilation.end}) {
    for (std::size_t i = list->size() - 1; i > axis; --i) (*list)[i] = (*list)[i - 1];
    (*list)[axis] = list == &dilation.block ? 1 : 0;
  }
}

}  // namespace

Result<std::vector<Tensor>> Importer::inputs_of(const NodeView& node, const Scope& scope) const {
  std::vector<Tensor> out;
  for (const std::string_view input : node.inputs) {
    if (input.starts_with('^')) continue;
    JC_ASSIGN_OR_RETURN(const Tensor tensor, resolve(input, scope));
    out.push_back(tensor);
  }
  return out;
}

// One of the nodes between, with another first input.
Result<Tensor> Importer::lower_between(std::uint32_t place, const Tensor& x, const Dilation* dilation, Scope& scope) {
  const NodeView& node = scope.nodes[place];
  JC_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, inputs_of(node, scope));
  const OperatorEntry* entry = find_operator(node.op);
  if (entry == nullptr || inputs.empty() || inputs.size() < entry->inputs) return invalid("has too few inputs");
  inputs[0] = x;
  NodeContext context(*this, scope, node, 1, std::move(inputs));
  context.dilate(dilation);
  JC_RETURN_IF_ERROR(entry->lower(context));
  const std::vector<Tensor> made = context.take_outputs();
  return made.empty() ? Tensor{} : made[0];
}

Result<Tensor> Importer::lower_dilated(const Dilated& nodes, const Tensor& crops, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> space, inputs_of(scope.nodes[nodes.space], scope));
  if (space.size() < 3) return invalid("has too few inputs");
  JC_ASSIGN_OR_RETURN(Dilation dilation, read_dilation(*scope.canvas, space[1], space[2], crops));
  Tensor x = space[0];
  std::optional<std::size_t> added;
  if (nodes.expand) {
    JC_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, inputs_of(scope.nodes[*nodes.expand], scope));
    const auto axis = inputs.size() < 2 ? std::nullopt : scope.canvas->samples(inputs[1]);
    const auto rank = scope.canvas->extents(x).value_or(Shape{}).size();
    const bool first = axis && ((*axis)[0] == IntList{1} || (*axis)[0] == IntList{-static_cast<std::int64_t>(rank)});
    if (!first) return unsupported("ExpandDims does not put an axis behind the batch");
    added = 1;
    insert_axis(dilation, *added);
    JC_ASSIGN_OR_RETURN(x, lower_between(*nodes.expand, x, nullptr, scope));
  }
  JC_ASSIGN_OR_RETURN(x, lower_between(nodes.conv, x, &dilation, scope));
  for (std::size_t i = nodes.tail.size(); i-- > 0;) {
    const NodeView& node = scope.nodes[nodes.tail[i]];
    if (works_on_pixels(node.op)) {
      JC_ASSIGN_OR_RETURN(x, lower_between(nodes.tail[i], x, nullptr, scope));
      continue;
    }
    NodeContext context(*this, scope, node, 1, {x});
    const auto held = static_cast<std::int64_t>(x.layout.in_value(*added));
    JC_RETURN_IF_ERROR(context.emit(Squeeze{{held}}, {x.id}, x.layout.without(*added)));
    x = context.take_outputs()[0];
  }
  return x;
}

}  // namespace joulecast::tensorflow
