// SPDX-License-Identifier: Apache-2.0
// Constants fitted by tools/fit/attention.py. Cycles, and shares of the bandwidth, unless it says otherwise.
#include "predict/attention_kernels.h"

#include <limits>

#include "predict/law.h"

namespace joulecast {
namespace {

struct PromptKernel {
  double queries, keys;     // of a tile
  bool shares;              // queries of all heads that share keys stand in one tile
  double launch;            // from the call to the first tile
  double product, softmax;  // of the peak's time for the two products; of a score, cycles
  double prologue;          // of a tile
  double tail;              // share of the longest tile that the last wave adds
  double streamed;          // for queries, keys, values, results; over 1 where computing hides some of it
  double stored;            // for new keys and values on their way into the cache; 0: not a part of what is timed
  double narrow;            // of FP8 keys and values, relative
  double width = 0;         // heads are filled up to its multiples; 0: to the usual widths
  double step = 3.5;        // see AttentionTime
};

struct DecodeKernel {
  double blocks, heads;           // at once on an SM; heads that share a block at most
  double least_keys, most_parts;  // of a split
  double launch;
  double merge, merge_part;  // of split keys: at all, and for each part
  double key;                // of a key of width 128
  double block, width;       // of a block of keys, and of each number in a head
  double narrow;             // of FP8 keys and values: a block's time, relative
  double wide;               // more, where more than eight heads share keys
  double streamed;           // for keys and values
  double queries;            // for queries and results
};

// FlashInfer's, in SGLang on Ampere: the same algorithm as FlashAttention 2.
constexpr PromptKernel kFlash2{128, 64, true, 15000, 1.21, 0.0574, 2080, 0.78, 1.92, 0.847, 1.1};
// FlashAttention 3, in SGLang and in vLLM on Hopper.
constexpr PromptKernel kFlash3{128, 64, true, 15200, 1.05, 0.0541, 4250, 0.0523, 0.944, 2.07, 0.833};
constexpr PromptKernel kFlash3Vllm{128, 64, true, 14400, 1.15, 0.0403, 4330, 0.219, 0.808, 0, 1.06};
// TensorRT-LLM's for the data-centre Blackwell, in SGLang, in vLLM and by itself, where writing the cache is a kernel
// more.
constexpr PromptKernel kBlackwellSglang{256, 128, false, 14300, 0.729, 0.0375, 2430, 0.521, 0.671, 1.84, 0.799};
constexpr PromptKernel kBlackwellVllm{256, 128, false, 11000, 0.633, 0.0676, 2140, 0.48, 0.911, 0, 0.77};
constexpr PromptKernel kBlackwellTrt{192, 128, false, 22000, 0.483, 0.0723, 2960, 0.493, 0.235, 0, 1.06};
// The same for heads wider than 128.
constexpr PromptKernel kBlackwellVllmWide{128, 64, false, 10900, 1.07, 0.0533, 3750, 0.452, 1.49, 0, 0.9};
constexpr PromptKernel kBlackwellTrtWide{64, 64, false, 22200, 1.13, 0.0538, 4840, 0.485, 0.328, 0, 0.95};
// What vLLM falls back to there for heads of 192 over FP8 keys and values, up to 20 times slower whatever the tensor
// cores' rate. Fitted to those rows of a B200 alone (mean |log| 0.09, decode 0.20); tools/fit/attention.py has no part.
constexpr PromptKernel kBlackwellVllmFallback{16, 16, true, 9810, 0, 3.39, 2100, 0.75, 1.0, 0, 1.0};
// Triton's, in SGLang on other Blackwells, and everywhere for heads wider than 256.
constexpr PromptKernel kTriton{64, 64, false, 10700, 2.46, 0.0693, 7190, 0.502, 13.5, 1.65, 1.14};
constexpr PromptKernel kTritonWidest{64, 64, true, 3500, 2.26, 0.00752, 10900, 0.412, 2.33, 0, 0.9};
// PyTorch's FlashAttention 2: a tile for each head, no cache.
constexpr PromptKernel kPytorch{128, 64, false, 15000, 1.21, 0.0574, 2080, 0.78, 1.92, 0, 1.0};
// PyTorch's "memory-efficient" ones, CUTLASS', for all that FlashAttention 2 does not do: FP32, masks, and halves
// before Ampere; for heads to 64 and for wider ones. Fitted by tools/fit/efficient_attention.py. Both ways take 5.2
// times as long as the way forward, by its authors' backward passes on an A100 and a GP100
// (xformers' pull requests 467 and 587).
constexpr PromptKernel efficient(double queries, double keys, double width, double product, double softmax,
                                 double prologue) {
  return {queries, keys, false, 10000, product, softmax, prologue, 0.5, 2.0, 0, 1.0, width, 5.2};
}
constexpr PromptKernel kEfficientTf32 = efficient(64, 64, 32, 0.63, 0.943, 100);
constexpr PromptKernel kEfficientTf32Wide = efficient(32, 128, 128, 1.88, 0, 140);
constexpr PromptKernel kEfficientFp32 = efficient(64, 64, 32, 0.81, 1.17, 110);
constexpr PromptKernel kEfficientFp32Wide = efficient(32, 128, 128, 1.22, 0, 600);
constexpr PromptKernel kEfficientVolta = efficient(64, 64, 32, 0.98, 0.603, 920);
constexpr PromptKernel kEfficientVoltaWide = efficient(32, 128, 128, 2.9, 0, 300);
constexpr PromptKernel kEfficientAmpere = efficient(64, 64, 32, 0.61, 0.315, 150);
constexpr PromptKernel kEfficientAmpereWide = efficient(32, 128, 128, 1.67, 0.21, 300);

constexpr double kAll = 1 << 20;  // heads
constexpr DecodeKernel kFlash2Decode{1, kAll, 256, 64, 14700, 6830, 251, 59.3, 1810, 0, 1, 0, 1.23, 0.988};
constexpr DecodeKernel kFlash3Decode{1, kAll, 256, 64, 14100, 3950, 163, 15.8, 4730, 0, 0.996, 0, 0.976, 0.45};
constexpr DecodeKernel kFlash3VllmDecode{1, kAll, 128, 32, 10300, 2650, 108, 23.1, 3110, 19.6, 1.01, 0, 1.2, 0.195};
constexpr DecodeKernel kBlackwellSglangDecode{2, kAll, 256, 64,    12300, 43.6,  235,
                                              0, 5200, 0,   0.822, 3310,  0.901, 0.636};
constexpr DecodeKernel kBlackwellVllmDecode{1,    kAll, 512,  64,    9850, 2310,  284,
                                            1.01, 1630, 10.9, 0.755, 395,  0.912, 0.699};
constexpr DecodeKernel kBlackwellTrtDecode{1,     kAll, 512,  64,    15000, 2040, 338,
                                           0.708, 1960, 7.54, 0.819, 681,   1.65, 0.276};
constexpr DecodeKernel kBlackwellVllmFallbackDecode{2, kAll, 128, 16, 10200, 0, 0, 75, 2650, 0, 1, 0, 0.298, 1.29};
constexpr DecodeKernel kTritonDecode{4, 16, 64, 8, 3550, 2760, 587, 101, 6720, 0, 1.59, 0, 0.927, 0.471};

enum class Generation : std::uint8_t { kAmpere, kHopper, kBlackwell, kSmallBlackwell };

Generation generation_of(const Device& device) {
  if (device.capability >= 12.0) return Generation::kSmallBlackwell;
  if (device.capability >= 10.0) return Generation::kBlackwell;
  return device.capability >= 9.0 ? Generation::kHopper : Generation::kAmpere;
}

// Where vLLM has no kernel of TensorRT-LLM's.
bool falls_back(const AttentionWork& work, const Device& device, Engine engine) {
  return engine == Engine::kVllm && generation_of(device) == Generation::kBlackwell && work.head == 192 &&
         work.kv_bytes == 1;
}

bool in_fp32(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kFp32 || arithmetic == Arithmetic::kTf32;
}

// Engines' kernels have no way back.
bool is_called_by_pytorch(Situation situation) {
  return situation.host != Host::kCaptured || situation.engine == Engine::kPytorch ||
         situation.state == State::kTraining;
}

PromptKernel pytorch_kernel(const AttentionWork& work, const Device& device, Situation situation) {
  if (has_flash_attention(work, device, situation)) return kPytorch;
  const bool wide = std::max(work.head, work.value_head) > 64;
  if (in_fp32(work.arithmetic)) {
    if (device.tf32 > 0.0) return wide ? kEfficientTf32Wide : kEfficientTf32;
    return wide ? kEfficientFp32Wide : kEfficientFp32;
  }
  if (device.capability < 8.0) return wide ? kEfficientVoltaWide : kEfficientVolta;
  return wide ? kEfficientAmpereWide : kEfficientAmpere;
}

// Engines' kernels do nothing that FlashAttention does not.
bool runs_pytorchs(const AttentionWork& work, const Device& device, Situation situation) {
  return is_called_by_pytorch(situation) || !has_flash_attention(work, device, situation);
}

// vLLM and TensorRT-LLM were measured on Hopper and Blackwell alone: elsewhere FlashAttention 2 stands for theirs.
PromptKernel prompt_kernel(const AttentionWork& work, const Device& device, Situation situation) {
  if (runs_pytorchs(work, device, situation)) return pytorch_kernel(work, device, situation);
  if (work.head > 256) return kTritonWidest;
  const bool sglang = situation.engine == Engine::kSglang;
  const bool vllm = situation.engine == Engine::kVllm;
  const bool wide = work.head > 128;
  switch (generation_of(device)) {
    case Generation::kHopper:
      return sglang ? kFlash3 : kFlash3Vllm;
    case Generation::kBlackwell:
      if (sglang) return kBlackwellSglang;
      if (falls_back(work, device, situation.engine)) return kBlackwellVllmFallback;
      if (vllm) return wide ? kBlackwellVllmWide : kBlackwellVllm;
      return wide ? kBlackwellTrtWide : kBlackwellTrt;
    case Generation::kSmallBlackwell:
      return sglang ? kTriton : kFlash2;
    case Generation::kAmpere:
      break;
  }
  return kFlash2;
}

DecodeKernel decode_kernel(const AttentionWork& work, const Device& device, Situation situation) {
  const Engine engine = situation.engine;
  if (is_called_by_pytorch(situation)) return kFlash2Decode;
  if (falls_back(work, device, engine)) return kBlackwellVllmFallbackDecode;
  const bool sglang = engine == Engine::kSglang;
  switch (generation_of(device)) {
    case Generation::kHopper:
      return sglang ? kFlash3Decode : kFlash3VllmDecode;
    case Generation::kBlackwell:
      if (sglang) return kBlackwellSglangDecode;
      return engine == Engine::kVllm ? kBlackwellVllmDecode : kBlackwellTrtDecode;
    case Generation::kSmallBlackwell:
      return sglang ? kTritonDecode : kFlash2Decode;
    case Generation::kAmpere:
      break;
  }
  return kFlash2Decode;
}

// Kernels are made for some widths; what is narrower than one is filled up.
double filled(std::int64_t head, double multiple) {
  if (multiple > 0.0) return multiple * ceil_div(static_cast<double>(head), multiple);
  for (const double width : {64.0, 96.0, 128.0, 192.0, 256.0})
    if (static_cast<double>(head) <= width) return width;
  return static_cast<double>(head);
}

// Blocks of `kernel.keys` that a tile of `span` queries looks at: all, or as many as lie before it. The mean over
// tiles.
double blocks_of(const AttentionWork& work, const PromptKernel& kernel, double span, bool several) {
  const auto queries = static_cast<double>(work.queries);
  const double all = ceil_div(static_cast<double>(work.past + work.queries), kernel.keys);
  if (!work.causal) return all;
  const double whole = std::floor(queries / kernel.keys);
  const double before =
      (kernel.keys * whole * (whole + 1.0) / 2.0 + (queries - whole * kernel.keys) * (whole + 1.0)) / queries;
  const double ahead =
      several ? std::max(0.0, span / kernel.keys - 1.0) / 2.0 : 0.0;  // a tile ends with its last query
  return std::min(all, static_cast<double>(work.past) / kernel.keys + before + ahead);
}

// Blocks that windows of all of a tile's queries touch: half a block more than they fill, as they begin anywhere.
double blocks_in_window(const AttentionWork& work, const PromptKernel& kernel, double span) {
  if (work.window <= 0) return std::numeric_limits<double>::infinity();
  const double queries = std::min(span, static_cast<double>(work.queries));
  return ceil_div(static_cast<double>(work.window) + queries, kernel.keys) + 0.5;
}

constexpr double kTf32Products = 3.0;  // that stand for one in FP32

double sustained_products(const AttentionWork& work, const Device& device) {
  // FP8 doubles the rate of products and not that of the softmax; `narrow` says what came out.
  if (work.arithmetic == Arithmetic::kFp8) return sustained_peak(Arithmetic::kBf16, device);
  if (!in_fp32(work.arithmetic)) return sustained_peak(work.arithmetic, device);
  return device.tf32 > 0.0 ? sustained_peak(Arithmetic::kTf32, device) / kTf32Products
                           : sustained_peak(Arithmetic::kFp32, device);
}

// Cycles of a block of keys against a tile of queries.
double block_cycles(const AttentionWork& work, const PromptKernel& kernel, const Device& device) {
  const double rate = sustained_products(work, device) / device.sm / device.clock;
  const double keys = filled(work.head, kernel.width);
  const double values = work.value_head > 0 ? filled(work.value_head, kernel.width) : keys;
  // Halves that are multiplied in FP32 are unpacked first: 9 % on a GP100.
  constexpr double kUnpacked = 1.09;
  const bool unpacked = in_fp32(work.arithmetic) && work.element_bytes == 2;
  const double score = (kernel.product * 2.0 * (keys + values) / rate + kernel.softmax) * (unpacked ? kUnpacked : 1.0);
  return kernel.queries * kernel.keys * score * (work.kv_bytes == 1 ? kernel.narrow : 1.0);
}

void move_prompt(const AttentionWork& work, const PromptKernel& kernel, const Device& device, AttentionTime& out) {
  const auto queries = static_cast<double>(work.queries);
  const double numbers = static_cast<double>(work.batch) * mean_head(work);
  const double kv = 2.0 * numbers * static_cast<double>(work.kv_heads);
  const double q = numbers * static_cast<double>(work.heads) * queries;
  const double cached = kv * static_cast<double>(work.past + work.queries) * static_cast<double>(work.kv_bytes);
  const double moved = 2.0 * q * static_cast<double>(work.element_bytes) + static_cast<double>(work.mask_bytes);
  out.memory = (moved + cached) / (device.bandwidth * kernel.streamed);
  if (kernel.stored <= 0.0) return;
  const double fresh = kv * queries * static_cast<double>(work.element_bytes + work.kv_bytes);
  out.store = fresh / (device.bandwidth * kernel.stored);
}

AttentionTime prompt_time(const AttentionWork& work, const Device& device, Situation situation) {
  const PromptKernel kernel = prompt_kernel(work, device, situation);
  const double group = kernel.shares ? static_cast<double>(work.heads) / static_cast<double>(work.kv_heads) : 1.0;
  const double rows = ceil_div(static_cast<double>(work.queries) * group, kernel.queries);
  const auto heads = static_cast<double>(kernel.shares ? work.kv_heads : work.heads);
  const double block = block_cycles(work, kernel, device);
  const double all = ceil_div(static_cast<double>(work.past + work.queries), kernel.keys);
  const double most = blocks_in_window(work, kernel, kernel.queries / group);
  const double longest = std::min(all, most) * block + kernel.prologue;
  const double seen = std::min(blocks_of(work, kernel, kernel.queries / group, rows > 1.0), most);
  const double each = seen * block + kernel.prologue;
  AttentionTime out;
  out.tiles = static_cast<double>(work.batch) * heads * rows / device.sm;
  out.compute = std::max(out.tiles * each + kernel.tail * longest * std::min(1.0, out.tiles), longest) / device.clock;
  move_prompt(work, kernel, device, out);
  out.fixed = kernel.launch / device.clock;
  out.busy = out.store + out.compute + out.memory;
  out.step = kernel.step;
  return out;
}

// Of one query. FlashAttention 3 reads a block before the window as well.
double keys_read(const AttentionWork& work, const Device& device) {
  const auto keys = static_cast<double>(work.past + work.queries);
  if (work.window <= 0) return keys;
  constexpr double kBlock = 128.0;
  const double more = generation_of(device) == Generation::kHopper ? kBlock : 0.0;
  return std::min(keys, static_cast<double>(work.window) + more);
}

AttentionTime decode_time(const AttentionWork& work, const Device& device, Situation situation) {
  const DecodeKernel kernel = decode_kernel(work, device, situation);
  const double keys = keys_read(work, device);
  const double head = mean_head(work);
  const auto caches = static_cast<double>(work.batch * work.kv_heads);
  const double readers =
      caches * ceil_div(static_cast<double>(work.heads), static_cast<double>(work.kv_heads) * kernel.heads);
  AttentionTime out;
  const double most = std::min(kernel.most_parts, ceil_div(keys, kernel.least_keys));
  out.split = std::clamp(std::floor(kernel.blocks * device.sm / readers), 1.0, most);
  out.tiles = readers * out.split / device.sm / kernel.blocks;

  const double narrow = work.kv_bytes == 1 ? kernel.narrow : 1.0;
  const double wide = work.heads > 8 * work.kv_heads ? kernel.wide : 0.0;
  const double reading = kernel.key * 64.0 * ceil_div(keys / out.split, 64.0) * head / 128.0;
  out.compute = ceil_fast(out.tiles) * (reading + (kernel.block + kernel.width * head) * narrow + wide) / device.clock;
  // Calls come one after the other on the same keys, which stay in the L2 where they fit.
  const double bytes = 2.0 * caches * keys * head * static_cast<double>(work.kv_bytes);
  // In a network the weights of its layers come between two calls.
  const double fill = (bytes + situation.weights) / (0.7 * device.l2);
  const double hit = 1.0 / (1.0 + fill * fill * fill * fill * fill * fill);
  out.memory = bytes / (device.bandwidth * kernel.streamed) * (1.0 - hit / 2.0);

  const double q = 2.0 * static_cast<double>(work.batch * work.heads * work.element_bytes) * head;
  out.store = q / (device.bandwidth * kernel.queries);
  out.fixed = kernel.launch / device.clock;
  if (out.split > 1.0) out.fixed += (kernel.merge + kernel.merge_part * out.split) / device.clock;
  out.busy = out.store + joined2(out.compute, out.memory);
  return out;
}

}  // namespace

bool has_flash_attention(const AttentionWork& work, const Device& device, Situation situation) {
  if (in_fp32(work.arithmetic) || (work.head > kWidestFlashHead && is_called_by_pytorch(situation))) return false;
  const bool plain = work.mask_bytes == 0 && work.value_head == 0;
  return device.capability <= 0.0 || (device.capability >= 8.0 && plain);
}

double attention_peak(Arithmetic arithmetic, const Device& device) {
  if (!in_fp32(arithmetic)) return device.peak(arithmetic);
  return device.tf32 > 0.0 ? device.tf32 / kTf32Products : device.fp32;
}

AttentionTime attention_time(const AttentionWork& work, const Device& device, Situation situation) {
  // Only FlashAttention splits keys.
  if (!has_flash_attention(work, device, situation)) return prompt_time(work, device, situation);
  // vLLM takes a prompt of one token for a decode.
  const bool alone = work.queries == 1 && situation.host == Host::kCaptured && situation.engine == Engine::kVllm;
  return is_decode(work) || alone ? decode_time(work, device, situation) : prompt_time(work, device, situation);
}

}  // namespace joulecast
