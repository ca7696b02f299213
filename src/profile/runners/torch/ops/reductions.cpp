// SPDX-License-Identifier: Apache-2.0
// Reductions and running sums.
#include <map>
#include <numeric>

#include "operators.h"

namespace joulecast::runner {
namespace {

using Axes = std::vector<std::int64_t>;
using Function = at::Tensor (*)(const at::Tensor&, const Axes&, bool);

const std::map<std::string_view, Function>& over_axes() {
  static const std::map<std::string_view, Function> all{
      {"sum", [](const at::Tensor& x, const Axes& axes, bool keep) { return at::sum(x, axes, keep); }},
      {"mean", [](const at::Tensor& x, const Axes& axes, bool keep) { return at::mean(x, axes, keep); }},
      {"max", [](const at::Tensor& x, const Axes& axes, bool keep) { return at::amax(x, axes, keep); }},
      {"min", [](const at::Tensor& x, const Axes& axes, bool keep) { return at::amin(x, axes, keep); }},
      {"l1", [](const at::Tensor& x, const Axes& axes, bool keep) { return at::norm(x, 1, axes, keep); }},
      {"l2", [](const at::Tensor& x, const Axes& axes, bool keep) { return at::norm(x, 2, axes, keep); }},
      {"sum_square",
       [](const at::Tensor& x, const Axes& axes, bool keep) { return at::sum(at::square(x), axes, keep); }},
      {"log_sum", [](const at::Tensor& x, const Axes& axes, bool keep) { return at::log(at::sum(x, axes, keep)); }},
      {"log_sum_exp", [](const at::Tensor& x, const Axes& axes, bool keep) { return at::logsumexp(x, axes, keep); }},
      {"any", [](const at::Tensor& x, const Axes& axes,
                 bool keep) { return at::any(x, at::OptionalIntArrayRef(axes), keep); }},
      {"all", [](const at::Tensor& x, const Axes& axes,
                 bool keep) { return at::all(x, at::OptionalIntArrayRef(axes), keep); }},
  };
  return all;
}

Axes reduced_axes(const StepContext& context) {
  Axes axes = context.fields().integers("axes");
  if (axes.empty() && context.has(1)) axes = context.integers(1);
  if (axes.empty() && !context.fields().flag("noop_with_empty_axes")) {
    axes.resize(static_cast<std::size_t>(context.rank(0)));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

Kernel arg(const StepContext& context, bool largest) {
  const Axes axes = reduced_axes(context);
  if (axes.size() != 1) refuse(context, "over more than one axis");
  return one_input(context,
                   [axis = axes.front(), largest, keep = context.fields().flag("keep_axes")](const at::Tensor& x) {
                     return largest ? at::argmax(x, axis, keep) : at::argmin(x, axis, keep);
                   });
}

Kernel reduce(const StepContext& context) {
  const std::string kind = context.fields().text("kind", "sum");
  if (kind == "arg_max" || kind == "arg_min") return arg(context, kind == "arg_max");
  const auto at = over_axes().find(kind);
  if (at == over_axes().end()) refuse(context, kind);
  return one_input(context, [f = at->second, axes = reduced_axes(context), keep = context.fields().flag("keep_axes")](
                                const at::Tensor& x) { return f(x, axes, keep); });
}

Kernel cumulate(const StepContext& context) {
  return one_input(context,
                   [axis = context.fields().integer("axis")](const at::Tensor& x) { return at::cumsum(x, axis); });
}

}  // namespace

std::vector<OperatorEntry> reduce_operators() {
  return {{"reduce", reduce}, {"cumulate", cumulate}};
}

}  // namespace joulecast::runner
