// SPDX-License-Identifier: Apache-2.0
// Whole networks of huggingface/pytorch-image-models (results/benchmark-*.csv).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// Whose layer and group norms are timm's own classes, which its option --fast-norm computes in halves, and since which
// version of PyTorch in the table: those of 1.13, 2.1, 2.4 and 2.9 ran timm 0.6.12, 0.9.12, 1.0.8 and 1.0.22 or
// neighbours, by their dates. Others have torch.nn.LayerNorm, which autocast runs in FP32.
struct OwnNorms {
  std::string_view begins;
  double since;
};
constexpr OwnNorms kOwnNorms[] = {
    {"convnext", 0},   {"coatnet", 0},      {"maxvit", 0}, {"maxxvit", 0},    {"gcvit", 0},        {"poolformer", 0},
    {"mambaout", 0},   {"rdnet", 0},        {"beit", 2.1}, {"caformer", 2.1}, {"convformer", 2.1}, {"davit", 2.1},
    {"coat_", 2.1},    {"vit_", 2.9},       {"deit", 2.9}, {"flexivit", 2.9}, {"naflexvit", 2.9},  {"vitamin", 2.9},
    {"hieradet", 2.9}, {"sam2_hiera", 2.9}, {"nest", 2.9}, {"mvitv2", 2.9},   {"convit", 2.9}};

// Nobody says that inference ran with that option; but on both GeForce boards, with every version, the networks above
// are right in halves alone, the others in FP32 alone, and on the third both err alike with it. Training, with 1.12,
// shows nothing of it.
bool norms_in_halves(Mode mode, std::string_view model, std::string_view torch) {
  const auto version = parse_number(torch);
  if (mode != Mode::kInference || !version) return false;
  return std::any_of(std::begin(kOwnNorms), std::end(kOwnNorms),
                     [&](const OwnNorms& own) { return model.starts_with(own.begins) && *version >= own.since; });
}

Result<void> read(Row& row, RowSink& sink) {
  MeasuredNetwork out;
  out.at.gpu = row.text("gpu");
  const std::string_view mode = row.text("mode");
  const std::string_view dtype = row.text("dtype");
  out.compiled = row.flag("compiled");
  out.channels_last = row.text("layout") == "nhwc";
  out.model = row.text("model");
  out.image_size = row.extent("img_size");
  out.batch = row.extent("batch");
  out.channels = 3;
  out.readings.time = row.quantity<Seconds>("step_latency_s");
  JC_RETURN_IF_ERROR(row.status());
  if (mode != "infer" && mode != "train") return unsupported(fmt::format("mode '{}'", mode));
  out.at.mode = mode == "train" ? Mode::kTraining : Mode::kInference;
  if (dtype != "amp" && dtype != "amp_bf16" && dtype != "bf16") return unsupported(fmt::format("dtype '{}'", dtype));
  out.at.precision = dtype == "bf16" ? Precision::kBf16 : dtype == "amp" ? Precision::kAmp : Precision::kAmpBf16;
  out.at.runtime = out.compiled ? Runtime::kPytorchCompiled : Runtime::kPytorchEager;
  out.at.software = fmt::format("pytorch {}{}", row.text("torch"), out.compiled ? ", compiled" : "");
  out.norms_in_halves = norms_in_halves(out.at.mode, out.model, row.text("torch"));
  add_detail(out.details, "params_million", row.text("params_million"));
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout timm_benchmark_layout() {
  return {"timm_benchmark",
          {"gpu", "mode", "dtype", "layout", "torch", "compiled", "model", "img_size", "batch", "step_latency_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "huggingface/pytorch-image-models@aa4b5850c1",
           .licence = "Apache-2.0",
           .protocol = "timm's benchmark.py: mean of some 40 steps after warm-up, the largest batch that fits"}};
}

}  // namespace joulecast
