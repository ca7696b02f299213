// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/attributes.h"

#include <fmt/format.h>

#include <array>

#include "import/protobuf.h"
#include "import/raw_data.h"

namespace joulecast::tensorflow {
namespace {

using namespace protobuf;
using Kind = AttributeValue::Kind;

// Indexed by DataType of tensorflow/core/framework/types.proto. Quantized integers are integers to us.
constexpr std::array kElementTypes{
    ElementType::kUnknown,    ElementType::kFloat32,    ElementType::kFloat64,    ElementType::kInt32,
    ElementType::kUInt8,      ElementType::kInt16,      ElementType::kInt8,       ElementType::kString,
    ElementType::kComplex64,  ElementType::kInt64,      ElementType::kBool,       ElementType::kInt8,
    ElementType::kUInt8,      ElementType::kInt32,      ElementType::kBFloat16,   ElementType::kInt16,
    ElementType::kUInt16,     ElementType::kUInt16,     ElementType::kComplex128, ElementType::kFloat16,
    ElementType::kUnknown,    ElementType::kUnknown,    ElementType::kUInt32,     ElementType::kUInt64,
    ElementType::kFloat8E5M2, ElementType::kFloat8E4M3, ElementType::kFloat8E4M3, ElementType::kFloat8E4M3,
    ElementType::kFloat8E5M2, ElementType::kInt4,       ElementType::kUInt4,
};

// A list in an attribute is a stride, a permutation, the shapes of outputs: a longer one belongs to no real node.
constexpr std::size_t kMaxList = 100'000;

pbf_reader reader(std::string_view bytes) {
  return pbf_reader(bytes.data(), bytes.size());
}

template <typename T>
Result<void> append(std::vector<T>& list, T one) {
  if (list.size() >= kMaxList) return unsupported("an attribute has more entries than any real model");
  list.push_back(std::move(one));
  return {};
}

Result<void> shape_field(pbf_reader r, PartialShape& out) {
  out.known_rank = true;
  const auto dimension = [&](pbf_reader m) -> Result<void> {
    std::int64_t extent = 0;
    JC_RETURN_IF_ERROR(read_fields(m, integer(1, extent)));
    if (extent < -1 || extent > kMaxElements) return invalid(fmt::format("a shape has the extent {}", extent));
    if (out.extents.full()) return unsupported(fmt::format("a shape has more than {} axes", kMaxRank));
    out.extents.push_back(extent);
    return {};
  };
  const auto unknown = [&](pbf_reader& field) -> Result<void> {
    out.known_rank = out.known_rank && !field.get_bool();
    return {};
  };
  JC_RETURN_IF_ERROR(read_fields(r, message(2, dimension), Field{varint_field(3), unknown}));
  Shape possible = out.extents;
  for (std::size_t i = 0; i < possible.size(); ++i) possible[i] = possible[i] < 0 ? 1 : possible[i];
  if (!checked_elements(possible)) return invalid(fmt::format("shape {} is not that of a tensor", text(out.extents)));
  return {};
}

Result<void> list_field(pbf_reader r, AttributeValue& out) {
  out.kind = Kind::kList;
  const auto one = [&](pbf_reader& field) { return append(out.integers, field.get_int64()); };
  const auto packed = [&](pbf_reader& field) -> Result<void> {
    for (const std::int64_t value : field.get_packed_int64()) JC_RETURN_IF_ERROR(append(out.integers, value));
    return {};
  };
  const auto string = [&](pbf_reader& field) { return append(out.strings, view(field)); };
  const auto shape = [&](pbf_reader m) -> Result<void> {
    PartialShape value;
    JC_RETURN_IF_ERROR(shape_field(m, value));
    return append(out.shapes, value);
  };
  return read_fields(r, Field{text_field(2), string}, Field{varint_field(3), one}, Field{text_field(3), packed},
                     Field{varint_field(5), one}, Field{text_field(5), packed}, Field{varint_field(6), one},
                     Field{text_field(6), packed}, message(7, shape));
}

Result<void> attribute_fields(pbf_reader r, AttributeValue& out) {
  const auto string = [&out](Kind kind) {
    return [&out, kind](pbf_reader& field) -> Result<void> {
      out.kind = kind;
      out.string = view(field);
      return {};
    };
  };
  const auto number = [&out](Kind kind) {
    return [&out, kind](pbf_reader& field) -> Result<void> {
      out.kind = kind;
      out.integer = field.get_int64();
      return {};
    };
  };
  const auto real = [&](pbf_reader& field) -> Result<void> {
    out.kind = Kind::kFloat;
    out.number = static_cast<double>(field.get_float());
    return {};
  };
  const auto shape = [&](pbf_reader m) {
    out.kind = Kind::kShape;
    out.shape = {};
    return shape_field(m, out.shape);
  };
  const auto function = [&](pbf_reader m) {
    out.kind = Kind::kFunction;
    return read_fields(m, text(1, out.string));
  };
  const auto list = [&](pbf_reader m) { return list_field(m, out); };
  return read_fields(r, message(1, list), Field{text_field(2), string(Kind::kString)},
                     Field{varint_field(3), number(Kind::kInt)}, Field{float_field(4), real},
                     Field{varint_field(5), number(Kind::kBool)}, Field{varint_field(6), number(Kind::kType)},
                     message(7, shape), Field{text_field(8), string(Kind::kTensor)}, message(10, function));
}

// The fields of a TensorProto. Lists are views of packed numbers, or the numbers that old files write one by one.
struct TensorFields {
  std::int64_t data_type = 0;
  PartialShape shape;
  std::string_view content;
  std::string_view floats, doubles, varints;
  Contents single;
};

// One entry more than is ever decoded, so that too many are noticed.
template <typename T>
void keep(std::vector<T>& list, T value) {
  if (list.size() <= kMaxKnownElements) list.push_back(value);
}

auto packed_varints(std::uint32_t number, TensorFields& out) {
  return Field{text_field(number), [&out](pbf_reader& field) -> Result<void> {
                 out.varints = view(field);
                 return {};
               }};
}
auto single_varint(std::uint32_t number, TensorFields& out) {
  return Field{varint_field(number), [&out](pbf_reader& field) -> Result<void> {
                 keep(out.single.ints, field.get_int64());
                 return {};
               }};
}

Result<void> tensor_fields(pbf_reader r, TensorFields& out) {
  const auto one_float = [&](pbf_reader& field) -> Result<void> {
    keep(out.single.reals, static_cast<double>(field.get_float()));
    return {};
  };
  const auto one_double = [&](pbf_reader& field) -> Result<void> {
    keep(out.single.reals, field.get_double());
    return {};
  };
  // half 13, float 5, double 6, int 7, int64 10, bool 11, uint32 16, uint64 17.
  return read_fields(r, integer(1, out.data_type), message(2, [&](pbf_reader m) { return shape_field(m, out.shape); }),
                     text(4, out.content), text(5, out.floats), text(6, out.doubles), Field{float_field(5), one_float},
                     Field{double_field(6), one_double}, packed_varints(7, out), packed_varints(10, out),
                     packed_varints(11, out), packed_varints(13, out), packed_varints(16, out), packed_varints(17, out),
                     single_varint(7, out), single_varint(10, out), single_varint(11, out), single_varint(13, out),
                     single_varint(16, out), single_varint(17, out));
}

// What the lists hold, up to `count` numbers.
Contents listed(const TensorFields& fields, ElementType element, std::size_t count) {
  Contents out = fields.single;
  const auto add_reals = [&](ElementType as, std::string_view bytes, std::size_t size) {
    const Contents more = read_raw(as, bytes, std::min(count, bytes.size() / size));
    out.reals.insert(out.reals.end(), more.reals.begin(), more.reals.end());
  };
  if (!fields.floats.empty()) add_reals(ElementType::kFloat32, fields.floats, sizeof(float));
  if (!fields.doubles.empty()) add_reals(ElementType::kFloat64, fields.doubles, sizeof(double));
  const char* const end = fields.varints.data() + fields.varints.size();
  using Iterator = protozero::const_varint_iterator<std::int64_t>;
  for (Iterator it(fields.varints.data(), end); it != Iterator(end, end) && out.ints.size() < count; ++it) {
    out.ints.push_back(*it);
  }
  if (is_floating(element) && out.reals.empty()) {
    for (const std::int64_t bits : out.ints) out.reals.push_back(real_from_bits(element, bits));
  }
  if (is_floating(element)) out.ints.clear();
  if (!is_floating(element)) out.reals.clear();
  return out;
}

// A list that ends early repeats its last number.
template <typename T>
void fill_up(std::vector<T>& list, std::size_t count) {
  if (!list.empty()) list.resize(count, list.back());
}

Result<TensorValue> tensor(pbf_reader r) {
  TensorFields fields;
  JC_RETURN_IF_ERROR(tensor_fields(r, fields));
  TensorValue out;
  out.type.element = element_type(fields.data_type);
  for (const std::int64_t extent : fields.shape.extents) {
    if (extent < 0) return invalid("a tensor has an extent of -1");
    out.type.shape.push_back(extent);
  }
  const auto count = static_cast<std::size_t>(out.type.elements());
  const auto bytes = (count * static_cast<std::size_t>(bit_width(out.type.element)) + 7) / 8;
  if (count == 0) out.contents = Contents{};
  if (count == 0 || !is_kept(out.type.element, count)) return out;
  if (!fields.content.empty()) {
    if (fields.content.size() != bytes) {
      return invalid(fmt::format("a tensor has {} bytes of data, its shape {} asks for {}", fields.content.size(),
                                 text(out.type.shape), bytes));
    }
    out.contents = read_raw(out.type.element, fields.content, count);
    return out;
  }
  Contents found = listed(fields, out.type.element, count);
  fill_up(found.ints, count);
  fill_up(found.reals, count);
  // Zeros are not written.
  if (is_floating(out.type.element)) found.reals.resize(count, 0.0);
  if (!is_floating(out.type.element)) found.ints.resize(count, 0);
  out.contents = std::move(found);
  return out;
}

// The one place that third-party exceptions may reach while values are read.
template <typename T, typename Read>
Result<T> guarded(Read read) {
  try {
    return read();
  } catch (const protozero::exception& e) {
    return invalid(fmt::format("truncated or corrupted ({})", e.what()));
  }
}

}  // namespace

ElementType element_type(std::int64_t data_type) {
  if (data_type > 100) data_type -= 100;  // references, of graphs from before TensorFlow 2
  if (data_type < 0 || data_type >= static_cast<std::int64_t>(kElementTypes.size())) return ElementType::kUnknown;
  return kElementTypes[static_cast<std::size_t>(data_type)];
}

Result<AttributeValue> read_attribute(std::string_view bytes) {
  return guarded<AttributeValue>([&]() -> Result<AttributeValue> {
    AttributeValue out;
    JC_RETURN_IF_ERROR(attribute_fields(reader(bytes), out));
    return out;
  });
}

Result<PartialShape> read_shape(std::string_view bytes) {
  return guarded<PartialShape>([&]() -> Result<PartialShape> {
    PartialShape out;
    JC_RETURN_IF_ERROR(shape_field(reader(bytes), out));
    return out;
  });
}

Result<TensorValue> read_tensor(std::string_view bytes) {
  return guarded<TensorValue>([&] { return tensor(reader(bytes)); });
}

}  // namespace joulecast::tensorflow
