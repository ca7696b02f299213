// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes in the wire format, for importers that say in TensorFlow's words what their files say in others.
//
//   node.attributes = Attributes().list("strides", {1, 2, 2, 1}).text("padding", "SAME").written_to(texts);
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/tensorflow/attributes.h"
#include "import/tensorflow/graph_def.h"

namespace joulecast::tensorflow {

// Names are not copied.
class Attributes {
 public:
  Attributes& integer(std::string_view name, std::int64_t value);
  Attributes& real(std::string_view name, float value);
  Attributes& flag(std::string_view name, bool value);
  Attributes& text(std::string_view name, std::string_view value);
  Attributes& type(std::string_view name, std::int64_t data_type);
  // Requires: not empty.
  Attributes& list(std::string_view name, const std::vector<std::int64_t>& values);
  Attributes& function(std::string_view name, std::string_view function_name);
  Attributes& shape_list(std::string_view name, const std::vector<PartialShape>& shapes);
  Attributes& tensor(std::string_view name, std::int64_t data_type, const Shape& shape, std::string_view contents);

  // Views of what is kept in `texts`.
  std::vector<AttributeView> written_to(std::deque<std::string>& texts);

 private:
  std::vector<std::pair<std::string_view, std::string>> values_;
};

}  // namespace joulecast::tensorflow
