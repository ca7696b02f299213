// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/attribute_writer.h"

#include <protozero/pbf_writer.hpp>

namespace joulecast::tensorflow {
namespace {

using protozero::pbf_writer;

template <typename Write>
std::string written(Write write) {
  std::string out;
  pbf_writer writer(out);
  write(writer);
  return out;
}

void write_shape(pbf_writer& writer, const Shape& extents) {
  for (const std::int64_t extent : extents) {
    pbf_writer dimension(writer, 2);
    dimension.add_int64(1, extent);
  }
}

}  // namespace

// Numbers of fields are those of AttrValue in tensorflow/core/framework/attr_value.proto.

Attributes& Attributes::integer(std::string_view name, std::int64_t value) {
  values_.emplace_back(name, written([&](pbf_writer& w) { w.add_int64(3, value); }));
  return *this;
}

Attributes& Attributes::real(std::string_view name, float value) {
  values_.emplace_back(name, written([&](pbf_writer& w) { w.add_float(4, value); }));
  return *this;
}

Attributes& Attributes::flag(std::string_view name, bool value) {
  values_.emplace_back(name, written([&](pbf_writer& w) { w.add_bool(5, value); }));
  return *this;
}

Attributes& Attributes::text(std::string_view name, std::string_view value) {
  values_.emplace_back(name, written([&](pbf_writer& w) { w.add_bytes(2, value.data(), value.size()); }));
  return *this;
}

Attributes& Attributes::type(std::string_view name, std::int64_t data_type) {
  values_.emplace_back(name, written([&](pbf_writer& w) { w.add_int64(6, data_type); }));
  return *this;
}

Attributes& Attributes::list(std::string_view name, const std::vector<std::int64_t>& values) {
  values_.emplace_back(name, written([&](pbf_writer& w) {
                         pbf_writer list(w, 1);
                         list.add_packed_int64(3, values.begin(), values.end());
                       }));
  return *this;
}

Attributes& Attributes::function(std::string_view name, std::string_view function_name) {
  values_.emplace_back(name, written([&](pbf_writer& w) {
                         pbf_writer function(w, 10);
                         function.add_string(1, function_name.data(), function_name.size());
                       }));
  return *this;
}

Attributes& Attributes::shape_list(std::string_view name, const std::vector<PartialShape>& shapes) {
  values_.emplace_back(name, written([&](pbf_writer& w) {
                         pbf_writer list(w, 1);
                         for (const PartialShape& shape : shapes) {
                           pbf_writer one(list, 7);
                           one.add_bool(3, !shape.known_rank);
                           write_shape(one, shape.extents);
                         }
                       }));
  return *this;
}

Attributes& Attributes::tensor(std::string_view name, std::int64_t data_type, const Shape& shape,
                               std::string_view contents) {
  values_.emplace_back(name, written([&](pbf_writer& w) {
                         pbf_writer tensor(w, 8);
                         tensor.add_int64(1, data_type);
                         {
                           pbf_writer extents(tensor, 2);
                           write_shape(extents, shape);
                         }
                         if (!contents.empty()) tensor.add_bytes(4, contents.data(), contents.size());
                       }));
  return *this;
}

std::vector<AttributeView> Attributes::written_to(std::deque<std::string>& texts) {
  std::vector<AttributeView> out;
  for (auto& [name, value] : values_) out.push_back({name, texts.emplace_back(std::move(value))});
  values_.clear();
  return out;
}

}  // namespace joulecast::tensorflow
