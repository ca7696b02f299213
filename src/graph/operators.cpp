// SPDX-License-Identifier: Apache-2.0
// Names of the operators and of the values of their enums. The field tables are in operators.h.
#include "joulecast/operators.h"

#include "graph/enum_names.h"

namespace joulecast {

std::string_view name(PoolKind kind) {
  return enum_name(kind);
}
std::string_view name(ActivationKind kind) {
  return enum_name(kind);
}
std::string_view name(UnaryKind kind) {
  return enum_name(kind);
}
std::string_view name(BinaryKind kind) {
  return enum_name(kind);
}
std::string_view name(GatherKind kind) {
  return enum_name(kind);
}
std::string_view name(ReduceKind kind) {
  return enum_name(kind);
}
std::string_view name(ResizeKind kind) {
  return enum_name(kind);
}
std::string_view name(RnnKind kind) {
  return enum_name(kind);
}

std::string_view name(const Operator& op) {
  return std::visit([](const auto& o) { return o.kName; }, op);
}

namespace {

template <typename Op>
std::string label_of(const Op& op) {
  return std::string(op.kName);
}
std::string label_of(const Conv& op) {
  return op.transposed ? "conv_transpose" : "conv";
}
std::string label_of(const Pool& op) {
  return std::string(name(op.kind)) + "_pool";
}
std::string label_of(const AdaptivePool& op) {
  return "adaptive_" + std::string(name(op.kind)) + "_pool";
}
std::string label_of(const Activation& op) {
  return std::string(name(op.kind));
}
std::string label_of(const Unary& op) {
  return std::string(name(op.kind));
}
std::string label_of(const Binary& op) {
  return std::string(name(op.kind));
}
std::string label_of(const Reduce& op) {
  return "reduce_" + std::string(name(op.kind));
}
std::string label_of(const Rnn& op) {
  return std::string(name(op.kind));
}
std::string label_of(const Opaque& op) {
  return op.name;
}

}  // namespace

std::string label(const Operator& op) {
  return std::visit([](const auto& o) { return label_of(o); }, op);
}

}  // namespace joulecast
