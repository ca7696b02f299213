// SPDX-License-Identifier: Apache-2.0
// Element by element: one, two or three inputs, casts.
#include <map>

#include "operators.h"

namespace joulecast::runner {
namespace {

using OfOne = at::Tensor (*)(const at::Tensor&);
using OfTwo = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

const std::map<std::string_view, OfOne>& of_one() {
  static const std::map<std::string_view, OfOne> all{
      {"neg", [](const at::Tensor& x) { return at::neg(x); }},
      {"abs", [](const at::Tensor& x) { return at::abs(x); }},
      {"exp", [](const at::Tensor& x) { return at::exp(x); }},
      {"log", [](const at::Tensor& x) { return at::log(x); }},
      {"sqrt", [](const at::Tensor& x) { return at::sqrt(x); }},
      {"rsqrt", [](const at::Tensor& x) { return at::rsqrt(x); }},
      {"reciprocal", [](const at::Tensor& x) { return at::reciprocal(x); }},
      {"erf", [](const at::Tensor& x) { return at::erf(x); }},
      {"sign", [](const at::Tensor& x) { return at::sign(x); }},
      {"floor", [](const at::Tensor& x) { return at::floor(x); }},
      {"ceil", [](const at::Tensor& x) { return at::ceil(x); }},
      {"round", [](const at::Tensor& x) { return at::round(x); }},
      {"not", [](const at::Tensor& x) { return at::logical_not(x); }},
      {"bitwise_not", [](const at::Tensor& x) { return at::bitwise_not(x); }},
      {"is_nan", [](const at::Tensor& x) { return at::isnan(x); }},
      {"is_inf", [](const at::Tensor& x) { return at::isinf(x); }},
      {"sin", [](const at::Tensor& x) { return at::sin(x); }},
      {"cos", [](const at::Tensor& x) { return at::cos(x); }},
      {"tan", [](const at::Tensor& x) { return at::tan(x); }},
      {"asin", [](const at::Tensor& x) { return at::asin(x); }},
      {"acos", [](const at::Tensor& x) { return at::acos(x); }},
      {"atan", [](const at::Tensor& x) { return at::atan(x); }},
      {"sinh", [](const at::Tensor& x) { return at::sinh(x); }},
      {"cosh", [](const at::Tensor& x) { return at::cosh(x); }},
      {"asinh", [](const at::Tensor& x) { return at::asinh(x); }},
      {"acosh", [](const at::Tensor& x) { return at::acosh(x); }},
      {"atanh", [](const at::Tensor& x) { return at::atanh(x); }},
      {"square", [](const at::Tensor& x) { return at::square(x); }},
      {"log1p", [](const at::Tensor& x) { return at::log1p(x); }},
      {"expm1", [](const at::Tensor& x) { return at::expm1(x); }},
  };
  return all;
}

const std::map<std::string_view, OfTwo>& of_two() {
  static const std::map<std::string_view, OfTwo> all{
      {"add", [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }},
      {"sub", [](const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }},
      {"mul", [](const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); }},
      {"div", [](const at::Tensor& a, const at::Tensor& b) { return at::div(a, b); }},
      {"pow", [](const at::Tensor& a, const at::Tensor& b) { return at::pow(a, b); }},
      {"mod", [](const at::Tensor& a, const at::Tensor& b) { return at::remainder(a, b); }},
      {"fmod", [](const at::Tensor& a, const at::Tensor& b) { return at::fmod(a, b); }},
      {"min", [](const at::Tensor& a, const at::Tensor& b) { return at::minimum(a, b); }},
      {"max", [](const at::Tensor& a, const at::Tensor& b) { return at::maximum(a, b); }},
      {"equal", [](const at::Tensor& a, const at::Tensor& b) { return at::eq(a, b); }},
      {"less", [](const at::Tensor& a, const at::Tensor& b) { return at::lt(a, b); }},
      {"less_equal", [](const at::Tensor& a, const at::Tensor& b) { return at::le(a, b); }},
      {"greater", [](const at::Tensor& a, const at::Tensor& b) { return at::gt(a, b); }},
      {"greater_equal", [](const at::Tensor& a, const at::Tensor& b) { return at::ge(a, b); }},
      {"and", [](const at::Tensor& a, const at::Tensor& b) { return at::logical_and(a, b); }},
      {"or", [](const at::Tensor& a, const at::Tensor& b) { return at::logical_or(a, b); }},
      {"xor", [](const at::Tensor& a, const at::Tensor& b) { return at::logical_xor(a, b); }},
      {"bitwise_and", [](const at::Tensor& a, const at::Tensor& b) { return at::bitwise_and(a, b); }},
      {"bitwise_or", [](const at::Tensor& a, const at::Tensor& b) { return at::bitwise_or(a, b); }},
      {"bitwise_xor", [](const at::Tensor& a, const at::Tensor& b) { return at::bitwise_xor(a, b); }},
      {"shift_left", [](const at::Tensor& a, const at::Tensor& b) { return at::bitwise_left_shift(a, b); }},
      {"shift_right", [](const at::Tensor& a, const at::Tensor& b) { return at::bitwise_right_shift(a, b); }},
      {"atan2", [](const at::Tensor& a, const at::Tensor& b) { return at::atan2(a, b); }},
  };
  return all;
}

Kernel unary(const StepContext& context) {
  const auto at = of_one().find(context.fields().text("kind", "neg"));
  if (at == of_one().end()) refuse(context, context.fields().text("kind"));
  return one_input(context, at->second);
}

Kernel binary(const StepContext& context) {
  const auto at = of_two().find(context.fields().text("kind", "add"));
  if (at == of_two().end()) refuse(context, context.fields().text("kind"));
  return [f = at->second, a = context.in(0), b = context.in(1), y = context.out()](Slots& slots) {
    slots[y] = f(slots[a], slots[b]);
  };
}

Kernel where(const StepContext& context) {
  return [c = context.in(0), a = context.in(1), b = context.in(2), y = context.out()](Slots& slots) {
    slots[y] = at::where(slots[c], slots[a], slots[b]);
  };
}

Kernel cast(const StepContext& context) {
  return one_input(context, [to = context.output().element](const at::Tensor& x) { return x.to(to); });
}

Kernel triangle(const StepContext& context) {
  return one_input(context, [](const at::Tensor& x) { return at::tril(x); });
}

}  // namespace

std::vector<OperatorEntry> elementwise_operators() {
  return {{"unary", unary}, {"binary", binary}, {"where", where}, {"cast", cast}, {"triangle", triangle}};
}

}  // namespace joulecast::runner
