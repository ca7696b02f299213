// SPDX-License-Identifier: Apache-2.0
// Operators within the transformers of sitar-lab/NeuSight: each node of a traced network of one layer, timed by itself.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// No tensor has more elements; products of extents stay far from overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

bool fits(const Shape& shape) {
  std::int64_t left = kMostElements;
  for (const std::int64_t extent : shape) left /= extent;
  return left > 0;
}

// "[[2,512,1024],[1]]": a shape a tensor; what is no tensor is written [1].
std::optional<std::vector<Shape>> parse_shapes(std::string_view text) {
  std::vector<Shape> out;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == ']') {
      depth += c == '[' ? 1 : -1;
      if (depth == 2) out.emplace_back();
      if (depth < 0 || depth > 2) return std::nullopt;
    } else if (c >= '0' && c <= '9') {
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), extent);
      if (error != std::errc{} || extent < 1) return std::nullopt;
      i = static_cast<std::size_t>(end - text.data()) - 1;
      if (depth == 1) out.push_back({extent});  // a single tensor has one pair of brackets
      if (depth == 2) out.back().push_back(extent);
    } else if (c != ',' && c != ' ') {
      return std::nullopt;
    }
  }
  if (depth != 0 || !std::all_of(out.begin(), out.end(), fits)) return std::nullopt;
  return out;
}

// "(2,512,1024)"
std::int64_t last_extent(std::string_view tuple) {
  const std::size_t begin = tuple.find_last_of("(,", tuple.size() > 2 ? tuple.size() - 2 : 0) + 1;
  std::int64_t extent = 0;
  std::from_chars(tuple.data() + begin, tuple.data() + tuple.size(), extent);
  return extent;
}

std::int64_t elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// An operation of ours, with the words for it that neusight_gemm and neusight_vec use as well.
struct Found {
  std::string label;
  std::function<Graph()> make;
};

OperationBuilder with_input(const Shape& shape) {
  OperationBuilder builder(ElementType::kFloat32);
  builder.input(shape);
  return builder;
}

Found linear(std::int64_t m, std::int64_t n, std::int64_t k, bool bias) {
  return {fmt::format("linear {}x{} by {}x{}{}", m, k, n, k, bias ? "" : ", no bias"),
          [=] { return linear_operation(m, n, k, ElementType::kFloat32, bias); }};
}

std::optional<Found> product(const std::vector<Shape>& in) {
  if (in.size() != 2 || in[0].size() < 3 || in[0].size() != in[1].size()) return std::nullopt;
  const auto three = [](const Shape& s) {
    return Shape{elements(s) / (s[s.size() - 2] * s.back()), s[s.size() - 2], s.back()};
  };
  const Shape a = three(in[0]);
  const Shape b = three(in[1]);
  return Found{fmt::format("matmul {} by {}", text(a), text(b)),
               [=] { return std::move(with_input(a).input(b)).build(MatMul{}); }};
}

template <typename Op>
Found unary(std::string_view name, const Shape& x, Op op) {
  const Shape flat = {elements(x) / x.back(), x.back()};
  return {fmt::format("{} {}", name, text(flat)), [=] { return std::move(with_input(flat)).build(op); }};
}

Found layer_norm(const Shape& x) {
  const Shape flat = {elements(x) / x.back(), x.back()};
  return {fmt::format("ln {}", text(flat)),
          [=] { return std::move(with_input(flat).parameter({flat[1]}).parameter({flat[1]})).build(LayerNorm{}); }};
}

std::optional<Found> binary(std::string_view name, const std::vector<Shape>& in, BinaryKind kind) {
  if (elements(in[0]) == 1) return std::nullopt;  // numbers on the host
  if (in.size() == 1 || elements(in[1]) == 1) {
    const Shape flat = {elements(in[0]) / in[0].back(), in[0].back()};
    const double number = kind == BinaryKind::kPow ? 3.0 : 2.0;  // the cube of GPT-2's GELU
    return Found{fmt::format("{}u {}", name, text(flat)),
                 [=] { return std::move(with_input(flat).scalar(number)).build(Binary{.kind = kind}); }};
  }
  const bool flat = in[0] == in[1];
  const Shape a = flat ? Shape{elements(in[0]) / in[0].back(), in[0].back()} : in[0];
  const Shape b = flat ? a : in[1];
  return Found{flat ? fmt::format("{} {}", name, text(a)) : fmt::format("{} {} and {}", name, text(a), text(b)),
               [=] { return std::move(with_input(a).input(b)).build(Binary{.kind = kind}); }};
}

// Of a module only its name in the network is known.
std::optional<Found> module_of(std::string_view target, const std::vector<Shape>& in, std::int64_t width) {
  const std::string_view last = target.substr(target.rfind('.') + 1);
  const Shape& x = in[0];
  if (contains(last, "norm") || contains(last, "Norm") || last.starts_with("ln_")) return layer_norm(x);
  if (last == "activation_fn") return unary("relu", x, Activation{.kind = ActivationKind::kRelu});
  if (last == "activation") return unary("tanh", x, Activation{.kind = ActivationKind::kTanh});
  constexpr std::array<std::string_view, 13> kLinear{
      "dense",  "query",  "key",    "value",    "decoder", "classifier", "seq_relationship",
      "q_proj", "k_proj", "v_proj", "out_proj", "fc1",     "fc2"};
  const bool head = last == "lm_head";
  if ((!head && std::find(kLinear.begin(), kLinear.end(), last) == kLinear.end())) return std::nullopt;
  if (width < 1 || !fits({elements(x) / x.back(), width}) || !fits({x.back(), width})) return std::nullopt;
  return linear(elements(x) / x.back(), width, x.back(), !head);
}

std::optional<Found> function_of(std::string_view target, const std::vector<Shape>& in) {
  constexpr std::array<std::pair<std::string_view, BinaryKind>, 5> kBinary = {{{"add", BinaryKind::kAdd},
                                                                               {"sub", BinaryKind::kSub},
                                                                               {"mul", BinaryKind::kMul},
                                                                               {"truediv", BinaryKind::kDiv},
                                                                               {"pow", BinaryKind::kPow}}};
  for (const auto& [name, kind] : kBinary) {
    if (target == name) return binary(name == "truediv" ? "div" : name, in, kind);
  }
  if (target == "addmm" && in.size() == 3 && in[1].size() == 2 && in[2].size() == 2)
    return linear(in[1][0], in[2][1], in[1][1], true);
  if (target == "matmul" || target == "bmm") return product(in);
  if (target == "softmax") return unary("softmax", in[0], Softmax{});
  if (target == "gelu") return unary("gelu", in[0], Activation{.kind = ActivationKind::kGelu});
  if (target == "tanh") return unary("tanh", in[0], Activation{.kind = ActivationKind::kTanh});
  return std::nullopt;
}

std::optional<Found> operation_of(Row& row) {
  const auto in = parse_shapes(row.text("input_shapes"));
  if (!in || in->empty() || in->front().empty() || row.text("dtype") != "float32") return std::nullopt;
  if (row.text("kind") == "call_module")
    return module_of(row.text("target"), *in, last_extent(row.text("output_shape")));
  return row.text("kind") == "call_function" ? function_of(row.text("target"), *in) : std::nullopt;
}

std::string_view mode_of(std::string_view text) {
  return text == "inf" ? "inference" : text == "train" ? "training" : "";
}

Result<void> read_other(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", false, std::string(row.text("target")));
  out.mode = mode_of(row.text("mode"));
  out.precision = row.text("dtype") == "float32" ? "fp32" : row.text("dtype");
  out.at.software = "pytorch 2.1";
  out.per = "call in a network";
  out.batch = row.extent("batch");
  out.sequence_length = row.extent("seq_len");
  add_details(
      out, row,
      {"model", "option", "node", "kind", "input_shapes", "output_shape", "forward_s", "backward_s", "accum_s"});
  out.readings.time = row.quantity<Seconds>("latency_s");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

// The A100's operators of these two add up to 1.2 to 1.5 times what the whole network takes on it.
bool other_conditions(Row& row) {
  return row.text("gpu").starts_with("NVIDIA_A100") &&
         (row.text("model") == "bert_large" || row.text("model") == "gpt2_large");
}

// In training: forward and backward. What adding up the weight's gradient takes (accum_s) a network does not do again.
Result<void> read_operator(Row& row, RowSink& sink) {
  const auto mode = parse_mode(mode_of(row.text("mode")));
  if (!mode) return invalid(fmt::format("mode '{}'", row.text("mode")));
  const auto found = operation_of(row);
  if (!found) return read_other(row, sink);
  MeasuredOperation out;
  out.at.gpu = row.text("gpu");
  out.at.mode = *mode;
  out.at.precision = Precision::kFp32;
  out.at.runtime = Runtime::kPytorchEager;
  out.at.software = "pytorch 2.1";
  const auto forward = row.quantity<Seconds>("forward_s");
  const double backward = row.optional_number("backward_s").value_or(0.0);
  JC_RETURN_IF_ERROR(row.status());
  if (!forward) return invalid("no time of the forward pass");
  if (backward > possible(Seconds{}).most) return invalid("backward takes too long");
  if (*mode == Mode::kTraining && !(backward > 0.0)) return read_other(row, sink);  // nothing to train behind it
  out.readings.time = Seconds{forward->value() + (*mode == Mode::kTraining ? backward : 0.0)};
  if (other_conditions(row)) add_caution(out.from.anomaly, "other-conditions");
  out.label = out.group = found->label;
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&]() -> Result<Graph> { return found->make(); }));
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout neusight_e2e_ops_layout() {
  return {"neusight_e2e_ops",
          {"gpu", "model", "mode", "option", "batch", "seq_len", "node", "kind", "target", "input_shapes", "latency_s"},
          [](const TableContext&) { return Result<RowReader>(read_operator); },
          nullptr,
          neusight_origin()};
}

}  // namespace joulecast
