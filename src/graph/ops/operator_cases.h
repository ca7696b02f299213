// SPDX-License-Identifier: Apache-2.0
// For tests: tables of hand-worked cases of operators, each row a test of its own.
//
//   const OperatorCase kCases[] = {{.name = "plain", .op = Linear{}, .inputs = {...}, .shape = {8, 4}, .flops = 192}};
//   JC_OPERATOR_CASES(Linear, kCases);
//   const BadCase kBad[] = {{.name = "features", .op = Linear{}, .inputs = {...}, .error = "wants 3"}};
//   JC_BAD_CASES(Linear, kBad);
#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "graph/ops/one_node.h"

// Cases name the fields that matter and leave the rest at their defaults, which GCC 12 takes for a slip.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace joulecast {

// Numbers that are not given are not compared.
struct OperatorCase {
  static constexpr double kAny = std::numeric_limits<double>::infinity();
  std::string name;  // letters, digits and _
  Operator op;
  std::vector<OneNodeInput> inputs;
  Shape shape;  // of output 0
  double flops = kAny, backward_flops = kAny;
  double read = kAny, written = kAny;  // bytes
  double backward_read = kAny, backward_written = kAny;
  double saved = kAny, parameter_count = kAny;
};

// An operator that must refuse its inputs with a message that contains `error`.
struct BadCase {
  std::string name;
  Operator op;
  std::vector<OneNodeInput> inputs;
  std::string error;
  std::size_t outputs = 1;
};

inline void expect_number(std::string_view what, double wanted, double got) {
  if (wanted == OperatorCase::kAny) return;
  EXPECT_DOUBLE_EQ(wanted, got) << what;
}

inline void check(const OperatorCase& c) {
  const auto out = run_one_node(c.op, c.inputs);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->shape(), c.shape);
  const Cost& cost = out->cost;
  expect_number("forward flops", c.flops, cost.forward_flops.value());
  expect_number("backward flops", c.backward_flops, cost.backward_flops.value());
  expect_number("forward read", c.read, cost.forward_read.value());
  expect_number("forward written", c.written, cost.forward_written.value());
  expect_number("backward read", c.backward_read, cost.backward_read.value());
  expect_number("backward written", c.backward_written, cost.backward_written.value());
  expect_number("saved", c.saved, cost.saved.value());
  expect_number("parameter count", c.parameter_count, static_cast<double>(cost.parameter_count));
}

inline void check(const BadCase& c) {
  const std::string error = error_of(c.op, c.inputs, c.outputs);
  EXPECT_NE(error, "") << "was accepted";
  EXPECT_NE(error.find(c.error), std::string::npos) << error;
}

template <typename Case>
std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}
inline void PrintTo(const OperatorCase& c, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << c.name;
}
inline void PrintTo(const BadCase& c, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << c.name;
}

#define JC_OPERATOR_CASES(Name, cases)                                \
  class Name##Cases : public testing::TestWithParam<OperatorCase> {}; \
  TEST_P(Name##Cases, Holds) {                                        \
    check(GetParam());                                                \
  }                                                                   \
  INSTANTIATE_TEST_SUITE_P(Ops, Name##Cases, testing::ValuesIn(cases), case_name<OperatorCase>)

#define JC_BAD_CASES(Name, cases)                                  \
  class Name##Refuses : public testing::TestWithParam<BadCase> {}; \
  TEST_P(Name##Refuses, Clearly) {                                 \
    check(GetParam());                                             \
  }                                                                \
  INSTANTIATE_TEST_SUITE_P(Ops, Name##Refuses, testing::ValuesIn(cases), case_name<BadCase>)

}  // namespace joulecast
