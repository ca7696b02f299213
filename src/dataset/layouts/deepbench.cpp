// SPDX-License-Identifier: Apache-2.0
// baidu-research/DeepBench: kernels called back to back from C++, so no host is in the way. Matrix products and
// recurrent layers: the published table has no times of convolutions (see check_place()).
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The value of `key` in "M=5124;N=700;A Transpose=N".
std::string_view parameter(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view item = text.substr(0, end);
    if (item.starts_with(key) && item.substr(key.size()).starts_with('=')) return item.substr(key.size() + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

Result<std::int64_t> extent(std::string_view parameters, std::string_view key) {
  const auto value = parse_integer(parameter(parameters, key));
  if (!value || *value < 1 || *value > kMaxElements) return invalid(fmt::format("no {} in '{}'", key, parameters));
  return *value;
}

Result<Precision> precision(std::string_view text) {
  if (text == "Float") return Precision::kFp32;
  if (text.starts_with("16 bit inputs")) return Precision::kFp16;
  return unsupported(fmt::format("precision '{}'", text));
}

// What is wrong with rows that took their columns from the sheet of matrix products: the sheet of convolutions has W,
// H, C, N, K, R where that one has M, N, K, two transposes and the time; that of recurrent layers has time steps.
Result<void> check_place(Row& row) {
  if (row.text("op") == "Convolution" && !parameter(row.text("params"), "A Transpose").empty())
    return unsupported("a convolution with the width of its filter where its time should be");
  if (row.text("pass") == "Timesteps") return unsupported("a number of time steps where the time should be");
  return {};
}

ElementType element_of(Precision precision) {
  return precision == Precision::kFp32 ? ElementType::kFloat32 : ElementType::kFloat16;
}

// The sheets of Volta and Turing have 90 to 109 TFLOP/s for products in halves with 7133 rows, 35 or 1530: cuBLAS took
// nothing to tensor units then whose rows were no whole vectors, so what ran was filled up to such.
bool filled_up(std::string_view gpu, Precision precision) {
  return precision == Precision::kFp16 && (gpu.ends_with("V100") || gpu.ends_with("T4"));
}
std::int64_t in_vectors(std::int64_t extent) {
  return (extent + 7) / 8 * 8;
}

Result<void> read_product(Row& row, RowSink& sink) {
  MeasuredOperation out;
  JC_ASSIGN_OR_RETURN(out.at.precision, precision(row.text("precision")));
  const std::string_view parameters = row.text("params");
  JC_ASSIGN_OR_RETURN(std::int64_t m, extent(parameters, "M"));
  JC_ASSIGN_OR_RETURN(std::int64_t n, extent(parameters, "N"));
  JC_ASSIGN_OR_RETURN(std::int64_t k, extent(parameters, "K"));
  const MatMul op{.transpose_a = parameter(parameters, "A Transpose") == "T",
                  .transpose_b = parameter(parameters, "B Transpose") == "T"};
  out.readings.time = row.quantity<Seconds>("time_s");
  JC_RETURN_IF_ERROR(row.status());
  out.at.gpu = row.text("gpu");
  out.at.runtime = Runtime::kCudaGraph;
  out.at.software = "cublas, rocblas";
  out.label = out.group = fmt::format("matmul {}x{}{} by {}x{}{}", m, k, op.transpose_a ? " transposed" : "", k, n,
                                      op.transpose_b ? " transposed" : "");
  if (filled_up(out.at.gpu, out.at.precision)) {
    for (std::int64_t* side : {&m, &n, &k}) *side = in_vectors(*side);
  }
  const ElementType element = element_of(out.at.precision);
  JC_ASSIGN_OR_RETURN(
      out.graph,
      sink.pool().get(fmt::format("{} {} {} {} {}", out.group, m, n, k, name(element)), [&]() -> Result<Graph> {
        OperationBuilder builder(element);
        builder.input(op.transpose_a ? Shape{k, m} : Shape{m, k}).input(op.transpose_b ? Shape{n, k} : Shape{k, n});
        return std::move(builder).build(op);
      }));
  sink.add(std::move(out));
  return {};
}

// A recurrent layer has a row for each of its numbers, in this order: time steps (a thousandth of them, as the time in
// milliseconds that the column should have), forward as in training, gradients of the inputs, and of the weights. Some
// sheets have one time for "backward": DeepBench took no weights' gradients there (its issue 87).
class RecurrentReader {
 public:
  Result<void> operator()(Row& row, RowSink& sink) {
    const std::string_view pass = row.text("pass");
    if (pass == "Timesteps") return begin(row);
    const Times before = std::exchange(times_, {});
    JC_ASSIGN_OR_RETURN(const Layer layer, layer_of(row));
    if (!steps_ || !(layer == layer_)) return unsupported("recurrent layers without their number of time steps");
    const std::optional<Seconds> time = row.quantity<Seconds>("time_s");
    JC_RETURN_IF_ERROR(row.status());
    if (!time) return invalid("no time");
    if (pass.starts_with("Time Forward")) {
      times_.forward = time;
      return add(row, *time, Mode::kInference, sink);
    }
    // Sheets do not agree on the capital.
    if (pass.starts_with("Time Backward wrt inputs") || pass.starts_with("Time Backward wrt Inputs")) {
      times_ = {before.forward, time};
      return unsupported("a gradient alone, which the row of the weights' gradient has a part of");
    }
    if (!pass.starts_with("Time Backward wrt weights") && !pass.starts_with("Time Backward wrt Weights"))
      return unsupported(fmt::format("pass '{}' of a recurrent layer", pass));
    if (!before.forward || !before.inputs) return unsupported("a gradient of weights without what comes before it");
    return add(row, *before.forward + *before.inputs + *time, Mode::kTraining, sink);
  }

 private:
  struct Times {
    std::optional<Seconds> forward = {}, inputs = {};
  };
  struct Layer {
    Rnn op;
    std::int64_t batch = 0;
    std::string gpu;
    Precision precision = Precision::kFp32;
    bool operator==(const Layer&) const = default;
  };

  static Result<RnnKind> kind_of(std::string_view op) {
    if (op.ends_with("LSTM")) return RnnKind::kLstm;
    if (op.ends_with("GRU")) return RnnKind::kGru;
    if (op.ends_with("Vanilla")) return RnnKind::kRnn;
    return unsupported(fmt::format("op '{}'", op));
  }

  // The sheets of inference name the precision of products and convolutions alone. Their largest layers, of a batch of
  // 1, would stream weights in FP32 at 70 to 75 % of the bandwidth.
  static Result<Precision> precision_of(const Row& row) {
    const bool unnamed = row.text("workload") == "inference" && row.text("precision").starts_with("GEMM, Conv: ");
    if (unnamed) return Precision::kFp32;
    return precision(row.text("precision"));
  }

  static Result<Layer> layer_of(const Row& row) {
    Layer out;
    JC_ASSIGN_OR_RETURN(out.op.kind, kind_of(row.text("op")));
    JC_ASSIGN_OR_RETURN(out.precision, precision_of(row));
    const std::string_view parameters = row.text("params");
    for (const std::string_view key : {"Hidden Units", "Hidden units", "Input"}) {
      if (parameter(parameters, key).empty()) continue;
      JC_ASSIGN_OR_RETURN(out.op.hidden, extent(parameters, key));
    }
    if (out.op.hidden == 0) return invalid(fmt::format("no hidden units in '{}'", parameters));
    JC_ASSIGN_OR_RETURN(out.batch, extent(parameters, "N"));
    out.gpu = row.text("gpu");
    return out;
  }

  Result<void> begin(Row& row) {
    steps_.reset();
    times_ = {};
    JC_ASSIGN_OR_RETURN(layer_, layer_of(row));
    const double steps = std::round(1000.0 * row.number("time_s"));
    JC_RETURN_IF_ERROR(row.status());
    if (steps < 1.0 || steps > kMostSteps) return invalid(fmt::format("{} time steps", steps));
    steps_ = static_cast<std::int64_t>(steps);
    return check_place(row);
  }

  Result<void> add(const Row& row, Seconds time, Mode mode, RowSink& sink) {
    MeasuredOperation out;
    out.at.gpu = layer_.gpu;
    out.at.mode = mode;
    out.at.precision = layer_.precision;
    out.at.runtime = Runtime::kCudaGraph;
    out.at.software = "cudnn, miopen";
    out.readings.time = time;
    out.inputs_skipped = true;
    out.label = out.group =
        fmt::format("{} {} units, {} x {}", row.text("op"), layer_.op.hidden, *steps_, layer_.batch);
    const ElementType element = element_of(layer_.precision);
    const std::int64_t hidden = layer_.op.hidden;
    const std::int64_t rows = hidden * gate_count(layer_.op.kind);
    JC_ASSIGN_OR_RETURN(
        out.graph, sink.pool().get(fmt::format("{} {}", out.group, name(element)), [&]() -> Result<Graph> {
          OperationBuilder builder(element);
          builder.input({*steps_, layer_.batch, hidden}).parameter({1, rows, hidden}).parameter({1, rows, hidden});
          return std::move(builder).build(layer_.op);
        }));
    sink.add(std::move(out));
    return {};
  }

  static constexpr double kMostSteps = 1e6;

  Layer layer_;
  std::optional<std::int64_t> steps_;
  Times times_;  // of the rows just before
};

Result<void> read(RecurrentReader& recurrent, Row& row, RowSink& sink) {
  if (row.text("op").starts_with("Recurrent Layers")) return recurrent(row, sink);
  JC_RETURN_IF_ERROR(check_place(row));
  if (row.text("op") == "Dense Matrix Multiplication") return read_product(row, sink);
  return unsupported(fmt::format("op '{}'", row.text("op")));
}

Result<RowReader> open(const TableContext&) {
  return RowReader(
      [recurrent = RecurrentReader{}](Row& row, RowSink& sink) mutable { return read(recurrent, row, sink); });
}

Result<void> read_other(Row& row, RowSink& sink) {
  JC_RETURN_IF_ERROR(check_place(row));
  MeasuredOther out = other_row(row, "gpu", false, std::string(row.text("op")));
  out.at.software = "cudnn, nccl, miopen, rccl";
  out.mode = row.text("workload") == "train" ? "training" : "inference";
  out.precision = row.text("precision");
  add_details(out, row, {"pass", "params", "application", "section"});
  out.readings.time = row.quantity<Seconds>("time_s");
  JC_RETURN_IF_ERROR(row.status());
  // Some sheets lost their first columns: a number stands where the operation should.
  if (parse_number(row.text("op"))) return invalid(fmt::format("'{}' is no operation", row.text("op")));
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout deepbench_layout() {
  return {"deepbench_ops",
          {"gpu", "workload", "precision", "section", "op", "params", "pass", "time_s"},
          open,
          read_other,
          {.source = "baidu-research/DeepBench@da81ba7820",
           .licence = "Apache-2.0",
           .protocol = "many calls back to back from C++, mean"}};
}

}  // namespace joulecast
