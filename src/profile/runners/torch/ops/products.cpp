// SPDX-License-Identifier: Apache-2.0
// Convolutions, linear layers, matrix products, attention.
#include <cmath>

#include "operators.h"

namespace joulecast::runner {
namespace {

struct Window {
  std::vector<std::int64_t> stride, dilation, padding, ends, output_padding;
};

std::vector<std::int64_t> or_filled(std::vector<std::int64_t> list, std::size_t size, std::int64_t value) {
  if (list.empty()) list.assign(size, value);
  return list;
}

// out = ceil(in / stride); what is odd of the padding stands at the end.
void pad_same(const StepContext& context, Window& window) {
  for (std::size_t i = 0; i < window.stride.size(); ++i) {
    const std::int64_t in = context.input(0).shape[i + 2], stride = window.stride[i];
    const std::int64_t kernel = (context.input(1).shape[i + 2] - 1) * window.dilation[i] + 1;
    const std::int64_t all = std::max<std::int64_t>(0, ((in + stride - 1) / stride - 1) * stride + kernel - in);
    window.padding[i] = all / 2;
    window.ends[i] = all - all / 2;
  }
}

Window window(const StepContext& context) {
  const std::size_t axes = context.input(0).shape.size() - 2;
  const Fields& fields = context.fields();
  Window out{or_filled(fields.integers("stride"), axes, 1), or_filled(fields.integers("dilation"), axes, 1),
             or_filled(fields.integers("padding_begin"), axes, 0), or_filled(fields.integers("padding_end"), axes, 0),
             or_filled(fields.integers("output_padding"), axes, 0)};
  if (fields.flag("same_padding")) pad_same(context, out);
  return out;
}

// PyTorch pads both sides alike; a difference is a pad of its own, as its importers of other frameworks have it.
std::vector<std::int64_t> uneven(const Window& window) {
  std::vector<std::int64_t> out;
  for (std::size_t i = window.padding.size(); i-- > 0;) {
    out.push_back(0);
    out.push_back(window.ends[i] - window.padding[i]);
  }
  return window.ends == window.padding ? std::vector<std::int64_t>{} : out;
}

Kernel conv(const StepContext& context) {
  const Window w = window(context);
  const std::int64_t groups = context.fields().integer("groups", 1);
  const bool transposed = context.fields().flag("transposed");
  const std::vector<std::int64_t> extra = uneven(w);
  if (transposed && !extra.empty()) refuse(context, "transposed with padding that differs between the sides");
  return
      [=, x = context.in(0), weight = context.in(1), bias = context.optional_in(2), y = context.out()](Slots& slots) {
        const at::Tensor& b = optional_slot(slots, bias);
        const at::Tensor padded = extra.empty() ? slots[x] : at::constant_pad_nd(slots[x], extra);
        slots[y] = at::convolution(padded, slots[weight], b, w.stride, w.padding, w.dilation, transposed,
                                   w.output_padding, groups);
      };
}

Kernel linear(const StepContext& context) {
  const bool transposed = context.fields().flag("weight_in_out");
  return
      [=, x = context.in(0), weight = context.in(1), bias = context.optional_in(2), y = context.out()](Slots& slots) {
        const at::Tensor w = transposed ? slots[weight].t() : slots[weight];
        slots[y] = at::linear(slots[x], w, optional_slot(slots, bias));
      };
}

Kernel matmul(const StepContext& context) {
  const bool turn_a = context.fields().flag("transpose_a"), turn_b = context.fields().flag("transpose_b");
  return [=, a = context.in(0), b = context.in(1), y = context.out()](Slots& slots) {
    slots[y] =
        at::matmul(turn_a ? slots[a].transpose(-1, -2) : slots[a], turn_b ? slots[b].transpose(-1, -2) : slots[b]);
  };
}

// What a model writes out itself: products and a softmax, one by one.
Kernel attention_by_hand(const StepContext& context) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(context.input(0).shape[3], 1)));
  const double dropout = context.training() ? context.fields().real("dropout") : 0.0;
  const bool causal = context.fields().flag("causal");
  const std::int64_t readers =
      context.input(0).shape[1] / std::max<std::int64_t>(context.input(1).shape[1], 1);  // heads that share a key
  const auto of_each_head = [readers](const at::Tensor& x) {
    return readers > 1 ? x.repeat_interleave(readers, 1) : x;
  };
  return [=, q = context.in(0), k = context.in(1), v = context.in(2), mask = context.optional_in(3),
          y = context.out()](Slots& slots) {
    at::Tensor scores = at::matmul(slots[q] * scale, of_each_head(slots[k]).transpose(-2, -1));
    const at::Tensor& m = optional_slot(slots, mask);
    if (m.defined()) scores = m.scalar_type() == at::kBool ? scores.masked_fill(~m, -INFINITY) : scores + m;
    if (causal) scores = scores.masked_fill(at::ones_like(scores, at::kBool).triu(1), -INFINITY);
    slots[y] = at::matmul(at::dropout(at::softmax(scores, -1), dropout, dropout > 0.0), of_each_head(slots[v]));
  };
}

Kernel attention(const StepContext& context) {
  if (context.fields().integer("window") > 0) refuse(context, "attention in a window");
  if (context.fields().flag("by_hand")) return attention_by_hand(context);
  const bool causal = context.fields().flag("causal");
  const double dropout = context.training() ? context.fields().real("dropout") : 0.0;
  const bool shared_keys = context.input(0).shape.size() == 4 && context.input(0).shape[1] != context.input(1).shape[1];
  return [=, q = context.in(0), k = context.in(1), v = context.in(2), mask = context.optional_in(3),
          y = context.out()](Slots& slots) {
    const at::Tensor& m = optional_slot(slots, mask);
    slots[y] = at::scaled_dot_product_attention(slots[q], slots[k], slots[v],
                                                m.defined() ? std::optional<at::Tensor>(m) : std::nullopt, dropout,
                                                causal, std::nullopt, shared_keys);
  };
}

}  // namespace

std::vector<OperatorEntry> product_operators() {
  return {{"conv", conv}, {"linear", linear}, {"matmul", matmul}, {"attention", attention}};
}

}  // namespace joulecast::runner
