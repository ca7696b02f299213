// SPDX-License-Identifier: Apache-2.0
#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

// The argument, what the file declares, or what torch takes where nothing is said.
Result<ElementType> made_element(const Call& call, ElementType absent) {
  JC_ASSIGN_OR_RETURN(const ElementType asked, call.element("dtype", ElementType::kUnknown));
  if (asked != ElementType::kUnknown) return asked;
  const bool declared = call.output_count() > 0 && call.declared(0);
  return declared ? call.declared(0)->element : absent;
}

// A computed value is a number nobody knows: 0.
Result<double> made_value(const Call& call, double absent) {
  const bool computed = call.is<ValueId>("fill_value");
  if (computed) return 0.0;
  JC_ASSIGN_OR_RETURN(const Integer whole,
                      call.is<Integer>("fill_value") ? call.integer("fill_value", 0) : Result<Integer>(Integer{}));
  if (whole.symbolic()) return 0.0;
  return call.real("fill_value", absent);
}

}  // namespace

// full, zeros, ones, empty, random ones, and new_... of a tensor.
Result<void> lower_full_of(Call& call, double value) {
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> size, call.integers("size"));
  ElementType absent = call.is<Integer>("fill_value") ? ElementType::kInt64 : ElementType::kFloat32;
  if (call.is<bool>("fill_value")) absent = ElementType::kBool;
  if (call.is<ValueId>("self")) {
    JC_ASSIGN_OR_RETURN(const ValueId like, call.tensor("self"));
    absent = call.guess(like).element;
  }
  JC_ASSIGN_OR_RETURN(const ElementType element, made_element(call, absent));
  JC_ASSIGN_OR_RETURN(const double filled, made_value(call, value));
  return call.emit(Fill{element, filled}, {call.vector(size)});
}

Result<void> lower_full_like_of(Call& call, double value) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ElementType element, made_element(call, call.guess(x).element));
  if (element == ElementType::kUnknown) return unsupported("of an unknown element type");
  JC_ASSIGN_OR_RETURN(const double filled, made_value(call, value));
  return call.emit(Fill{element, filled}, {call.step(ShapeOf{}, {x}, "shape")});
}

namespace {

Result<ValueId> bound(Call& call, std::string_view name, std::int64_t absent, ElementType element) {
  if (!call.has(name))
    return is_floating(element) ? call.real_scalar(static_cast<double>(absent), element) : call.int_scalar(absent);
  if (is_floating(element) && (call.is<double>(name) || call.is<Integer>(name))) {
    const auto value = call.real(name, 0.0);
    if (value) return call.real_scalar(*value, element);
  }
  return call.operand(name, kNoValue);
}

}  // namespace

// The type is that of the bounds unless told; the range is counted in it and cast where that changes nothing.
Result<void> lower_arange(Call& call) {
  const bool reals = call.is<double>("start") || call.is<double>("end") || call.is<double>("step");
  JC_ASSIGN_OR_RETURN(const ElementType element,
                      made_element(call, reals ? ElementType::kFloat32 : ElementType::kInt64));
  const ElementType counted = reals ? (is_floating(element) ? element : ElementType::kFloat32) : ElementType::kInt64;
  JC_ASSIGN_OR_RETURN(const ValueId start, bound(call, "start", 0, counted));
  JC_ASSIGN_OR_RETURN(const ValueId end, bound(call, "end", 0, counted));
  JC_ASSIGN_OR_RETURN(const ValueId step, bound(call, "step", 1, counted));
  if (counted == element) return call.emit(Range{}, {start, end, step});
  return call.emit(Cast{element}, {call.step(Range{}, {start, end, step}, "whole")});
}

Result<void> lower_linspace(Call& call) {
  JC_ASSIGN_OR_RETURN(const Integer steps, call.integer("steps", 100));
  JC_ASSIGN_OR_RETURN(const ElementType element, made_element(call, ElementType::kFloat32));
  return call.emit(Fill{element, 0.0}, {call.vector({steps})});
}

Result<void> lower_scalar_tensor(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId value, call.operand("s", kNoValue));
  JC_ASSIGN_OR_RETURN(const ElementType element, made_element(call, ElementType::kFloat32));
  if (call.guess(value).element == element) return call.alias(0, value);
  return call.emit(Cast{element}, {value});
}

Result<void> lower_eye(Call& call) {
  JC_ASSIGN_OR_RETURN(const Integer rows, call.integer("n", 1));
  JC_ASSIGN_OR_RETURN(const Integer columns, call.has("m") ? call.integer("m", 1) : Result<Integer>(rows));
  JC_ASSIGN_OR_RETURN(const ElementType element, made_element(call, ElementType::kFloat32));
  return call.emit(Fill{element, 0.0}, {call.vector({rows, columns})});
}

}  // namespace joulecast::aten
