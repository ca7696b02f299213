// SPDX-License-Identifier: Apache-2.0
// The fields of a TensorProto while it is read, and the contents of small ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "import/onnx/reader.h"

namespace joulecast::onnx {

// A tensor keeps its data in `raw`, in one of the typed lists, in another file, or has none (stripped).
class TensorData {
 public:
  enum class Packed : std::uint8_t { kNone, kFloat, kDouble, kVarint };

  std::int64_t data_type = 0;
  std::string_view raw;
  bool external = false;

  void add_dimension(std::int64_t extent);
  void add_packed(Packed kind, std::string_view bytes);
  void add_real(double value);
  void add_integer(std::int64_t value);

  // Fails for negative extents, too many axes and products that no tensor has.
  [[nodiscard]] Result<Shape> shape(std::string_view name) const;
  // The contents, if the tensor is small and has data. Fails where data and dimensions disagree.
  // Requires: tensor.type is set. Throws protozero's exceptions for corrupted lists, as the reader expects.
  [[nodiscard]] Result<std::optional<Contents>> decode(const TensorView& tensor) const;

 private:
  [[nodiscard]] Result<std::optional<Contents>> decode_lists(const TensorView& tensor, std::size_t count) const;

  Shape shape_;
  bool too_many_axes_ = false;
  Packed packed_kind_ = Packed::kNone;
  std::string_view packed_;
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
};

}  // namespace joulecast::onnx
