// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

Result<Shape> resolve(const Reshape& op, const Shape& from, std::span<const std::int64_t> wanted) {
  if (wanted.size() > kMaxRank) return unsupported(fmt::format("rank {} is more than {}", wanted.size(), kMaxRank));
  Shape out;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::int64_t extent = wanted[i];
    if (extent == 0 && !op.allow_zero) {
      if (i >= from.size()) return invalid(fmt::format("extent 0 at axis {} has no input axis to copy", i));
      extent = from[i];
    }
    if (extent == -1) {
      if (open) return invalid("more than one extent is -1");
      open = i;
      extent = 1;
    }
    out.push_back(extent);
  }
  const auto have = checked_elements(from);
  const auto rest = checked_elements(out);
  if (!have || !rest) return invalid(fmt::format("{} is not a possible shape", text(out)));
  if (open && *rest > 0) out[*open] = *have / *rest;
  if (checked_elements(out) != have) {
    return invalid(fmt::format("{} elements of {} do not fit {}", *have, text(from), text(out)));
  }
  return out;
}

}  // namespace

Result<void> infer(const Reshape& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_ASSIGN_OR_RETURN(const auto wanted, context.ints(1, "shape"));
  JC_ASSIGN_OR_RETURN(const Shape out, resolve(op, context.shape(0), wanted));
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, out));
  if (const Contents* contents = context.known(0)) context.set_known(0, *contents);
  return {};
}

// A view: no kernel. Where the tensor is not contiguous, lowering adds the copy.
Cost cost(const Reshape&, const CostContext&) {
  return {};
}

}  // namespace joulecast
