// SPDX-License-Identifier: Apache-2.0
// What reads or writes by index.
#include "operators.h"

namespace joulecast::runner {
namespace {

// Indices [..., n] into the first n axes, as ONNX's GatherND and ScatterND have them: one tensor an axis.
c10::List<std::optional<at::Tensor>> by_axis(const at::Tensor& indices) {
  c10::List<std::optional<at::Tensor>> out;
  for (const at::Tensor& one : indices.unbind(-1)) out.push_back(one);
  return out;
}

Kernel gather_nd(const StepContext& context) {
  if (context.fields().integer("batch_axes") != 0) refuse(context, "nd with axes of batches");
  return [x = context.in(0), indices = context.in(1), y = context.out()](Slots& slots) {
    slots[y] = at::index(slots[x], by_axis(slots[indices]));
  };
}

Kernel scatter_nd(const StepContext& context) {
  return [x = context.in(0), indices = context.in(1), updates = context.in(2), y = context.out()](Slots& slots) {
    slots[y] = at::index_put(slots[x], by_axis(slots[indices]), slots[updates]);
  };
}

Kernel gather(const StepContext& context) {
  const std::string kind = context.fields().text("kind", "slices");
  const std::int64_t axis = context.axis(context.fields().integer("axis"));
  if (kind == "elements") {
    return [axis, x = context.in(0), indices = context.in(1), y = context.out()](Slots& slots) {
      slots[y] = at::gather(slots[x], axis, slots[indices]);
    };
  }
  if (kind == "nd") return gather_nd(context);
  // One known index is a view, as x[:, 0] is.
  if (const auto index = context.number(1); index && context.rank(1) == 0) {
    return one_input(context, [axis, index = static_cast<std::int64_t>(*index)](const at::Tensor& x) {
      return x.select(axis, index);
    });
  }
  return [axis, x = context.in(0), indices = context.in(1), shape = context.output().shape, y = context.out()](
             Slots& slots) { slots[y] = at::index_select(slots[x], axis, slots[indices].flatten()).reshape(shape); };
}

Kernel scatter(const StepContext& context) {
  const std::string kind = context.fields().text("kind", "elements");
  if (kind == "nd") return scatter_nd(context);
  if (kind != "elements") refuse(context, kind);
  return [axis = context.axis(context.fields().integer("axis")), x = context.in(0), indices = context.in(1),
          updates = context.in(2),
          y = context.out()](Slots& slots) { slots[y] = at::scatter(slots[x], axis, slots[indices], slots[updates]); };
}

Kernel embedding(const StepContext& context) {
  return [table = context.in(0), indices = context.in(1), y = context.out()](Slots& slots) {
    slots[y] = at::embedding(slots[table], slots[indices]);
  };
}

Kernel one_hot(const StepContext& context) {
  const auto depth = context.fields().has("depth") ? context.fields().integer("depth")
                                                   : static_cast<std::int64_t>(context.number(1).value_or(-1));
  if (depth < 1 || context.fields().integer("axis", -1) != -1) refuse(context, "with this axis or depth");
  return one_input(context, [depth, element = context.output().element](const at::Tensor& x) {
    return at::one_hot(x.to(at::kLong), depth).to(element);
  });
}

Kernel top_k(const StepContext& context) {
  const auto k = context.fields().has("k") ? context.fields().integer("k")
                                           : static_cast<std::int64_t>(context.number(1).value_or(-1));
  if (k < 0) refuse(context, "k depends on data");
  return [k, axis = context.fields().integer("axis", -1), x = context.in(0), values = context.optional_out(0),
          indices = context.optional_out(1)](Slots& slots) {
    auto [v, i] = at::topk(slots[x], k, axis);
    if (values) slots[*values] = v;
    if (indices) slots[*indices] = i;
  };
}

}  // namespace

std::vector<OperatorEntry> index_operators() {
  return {{"gather", gather}, {"scatter", scatter}, {"embedding", embedding}, {"one_hot", one_hot}, {"top_k", top_k}};
}

}  // namespace joulecast::runner
