// SPDX-License-Identifier: Apache-2.0
// Numbers of fields are those of tensorflow/compiler/mlir/lite/schema/schema.fbs.
#include "import/tflite/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/text.h"

namespace joulecast::tflite {
namespace {

constexpr std::size_t kMaxTensors = 500'000;
constexpr std::size_t kMaxOperators = 250'000;
constexpr std::size_t kMaxEntries = 4'000'000;
constexpr std::size_t kMaxSubgraphs = 10'000;

constexpr std::size_t kTable = 4;  // bytes of an entry in a list of tables

class ModelReader {
 public:
  ModelReader(const FlatBuffer& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  Result<ModelView> run() {
    const FlatTable model = file_.root();
    const auto version = model.number<std::uint32_t>(0, 0);
    codes_ = model.vector(1, kTable);
    buffers_ = model.vector(4, kTable);
    JC_RETURN_IF_ERROR(file_.status());
    if (version != 3) return unsupported(fmt::format("is of version {} of the format, version 3 is read", version));
    ModelView out;
    const FlatVector subgraphs = model.vector(2, kTable);
    if (subgraphs.size() == 0) return invalid("has no graph");
    if (subgraphs.size() > kMaxSubgraphs) return unsupported(fmt::format("more than {} graphs", kMaxSubgraphs));
    for (std::size_t i = 0; i < subgraphs.size(); ++i) {
      auto subgraph = read_subgraph(subgraphs.table(i));
      if (!subgraph) return tl::unexpected(std::move(subgraph).error().in(fmt::format("graph {}", i)));
      out.subgraphs.push_back(std::move(*subgraph));
    }
    const FlatVector signatures = model.vector(7, kTable);
    JC_RETURN_IF_ERROR(count(signatures.size()));
    for (std::size_t i = 0; i < signatures.size(); ++i) {
      JC_ASSIGN_OR_RETURN(SignatureView signature, read_signature(signatures.table(i)));
      out.signatures.push_back(std::move(signature));
    }
    JC_RETURN_IF_ERROR(file_.status());
    return out;
  }

 private:
  // Tables may be pointed at from everywhere, so the size of the file bounds no count.
  Result<void> count(std::size_t entries) {
    entries_ += entries;
    if (entries_ > kMaxEntries) return unsupported("has more entries than any real model");
    return file_.status();
  }

  Result<SubgraphView> read_subgraph(const FlatTable& table) {
    SubgraphView out;
    out.name = table.text(4);
    const FlatVector tensors = table.vector(0, kTable);
    const FlatVector operators = table.vector(3, kTable);
    tensors_ += tensors.size();
    operators_ += operators.size();
    if (tensors_ > kMaxTensors) return unsupported(fmt::format("more than {} tensors", kMaxTensors));
    if (operators_ > kMaxOperators) return unsupported(fmt::format("more than {} operators", kMaxOperators));
    JC_RETURN_IF_ERROR(file_.status());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      auto tensor = read_tensor(tensors.table(i));
      if (!tensor) return tl::unexpected(std::move(tensor).error().in(fmt::format("tensor {}", i)));
      out.tensors.push_back(*tensor);
    }
    JC_ASSIGN_OR_RETURN(out.inputs, places(table.vector(1, sizeof(std::int32_t)), out.tensors.size(), false));
    JC_ASSIGN_OR_RETURN(out.outputs, places(table.vector(2, sizeof(std::int32_t)), out.tensors.size(), false));
    for (std::size_t i = 0; i < operators.size(); ++i) {
      auto one = read_operator(operators.table(i), out.tensors.size());
      if (!one) return tl::unexpected(std::move(one).error().in(fmt::format("operator {}", i)));
      out.operators.push_back(std::move(*one));
    }
    return out;
  }

  // The list of places of tensors, of which there are `tensors`.
  Result<std::vector<std::int32_t>> places(const FlatVector& list, std::size_t tensors, bool optional) {
    JC_RETURN_IF_ERROR(count(list.size()));
    std::vector<std::int32_t> out;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto place = list.number<std::int32_t>(i);
      const bool left_out = optional && place == -1;
      if (!left_out && (place < 0 || static_cast<std::size_t>(place) >= tensors)) {
        return invalid(fmt::format("tensor {} is asked for, there are {}", place, tensors));
      }
      out.push_back(place);
    }
    return out;
  }

  Result<TensorView> read_tensor(const FlatTable& table) {
    TensorView out;
    out.name = table.text(3);
    out.type = table.number<std::uint8_t>(1, 0);
    out.variable = table.flag(5);
    out.sparse = static_cast<bool>(table.table(6));
    const FlatVector shape = table.vector(0, sizeof(std::int32_t));
    const FlatVector open = table.vector(7, sizeof(std::int32_t));
    out.known_rank = shape.size() > 0 || table.flag(8);
    const FlatTable quantization = table.table(4);
    out.quantized = quantization && quantization.vector(2, sizeof(float)).size() > 0;
    JC_RETURN_IF_ERROR(read_shape(open.size() == shape.size() ? open : shape, out));
    JC_RETURN_IF_ERROR(read_contents(table, out));
    return out;
  }

  Result<void> read_shape(const FlatVector& list, TensorView& out) const {
    const std::string name = fmt::format("'{}'", printable(out.name));
    if (list.size() > kMaxRank)
      return unsupported(fmt::format("{} has {} axes, more than {}", name, list.size(), kMaxRank));
    Shape possible;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto extent = list.number<std::int32_t>(i);
      if (extent < -1) return invalid(fmt::format("{} has an extent of {}", name, extent));
      out.shape.push_back(extent);
      possible.push_back(std::max(extent, 1));
    }
    JC_RETURN_IF_ERROR(file_.status());
    if (!checked_elements(possible)) {
      return invalid(fmt::format("{}: shape {} is not that of a tensor", name, text(out.shape)));
    }
    return {};
  }

  // Buffer 0 is the empty one. Contents may also lie behind the model (2 GiB is all that offsets reach), or in a file
  // of their own.
  Result<void> read_contents(const FlatTable& tensor, TensorView& out) const {
    const auto place = tensor.number<std::uint32_t>(2, 0);
    const bool no_elements = std::count(out.shape.begin(), out.shape.end(), 0) > 0;  // as the shape of a scalar has
    out.constant = no_elements || tensor.number<std::uint32_t>(10, 0) != 0;
    if (place == 0) return {};
    if (place >= buffers_.size()) {
      return invalid(fmt::format("'{}' has buffer {}, there are {}", printable(out.name), place, buffers_.size()));
    }
    const FlatTable buffer = buffers_.table(place);
    out.contents = buffer.bytes(0);
    const auto offset = buffer.number<std::uint64_t>(1, 0);
    const auto size = buffer.number<std::uint64_t>(2, 0);
    const bool behind = offset > 1 && size > 0;  // 0 and 1 stand for no offset
    if (behind && offset <= bytes_.size() && size <= bytes_.size() - offset) out.contents = bytes_.substr(offset, size);
    out.constant = out.constant || behind || !out.contents.empty();
    return file_.status();
  }

  Result<OperatorView> read_operator(const FlatTable& table, std::size_t tensors) {
    OperatorView out;
    const auto place = table.number<std::uint32_t>(0, 0);
    if (place >= codes_.size()) return invalid(fmt::format("is of kind {}, there are {}", place, codes_.size()));
    const FlatTable code = codes_.table(place);
    // The old field has 127 where the code does not fit it.
    out.code = std::max<std::int64_t>(code.number<std::uint8_t>(0, 0), code.integer(3));
    out.custom = code.text(1);
    out.custom_options = table.bytes(5);
    out.options = table.table(4);
    JC_ASSIGN_OR_RETURN(out.inputs, places(table.vector(1, sizeof(std::int32_t)), tensors, true));
    JC_ASSIGN_OR_RETURN(out.outputs, places(table.vector(2, sizeof(std::int32_t)), tensors, false));
    return out;
  }

  Result<SignatureView> read_signature(const FlatTable& table) {
    SignatureView out;
    out.key = table.text(2);
    out.subgraph = table.number<std::uint32_t>(4, 0);
    for (const bool inputs : {true, false}) {
      const FlatVector names = table.vector(inputs ? 0 : 1, kTable);
      JC_RETURN_IF_ERROR(count(names.size()));
      for (std::size_t i = 0; i < names.size(); ++i) {
        const FlatTable one = names.table(i);
        (inputs ? out.inputs : out.outputs).push_back({one.text(0), one.number<std::uint32_t>(1, 0)});
      }
    }
    return out;
  }

  const FlatBuffer& file_;
  std::string_view bytes_;
  FlatVector codes_, buffers_;
  std::size_t entries_ = 0, tensors_ = 0, operators_ = 0;
};

}  // namespace

Result<ModelView> read_model(const FlatBuffer& file, std::string_view bytes) {
  return ModelReader(file, bytes).run();
}

}  // namespace joulecast::tflite
