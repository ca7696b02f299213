// SPDX-License-Identifier: Apache-2.0
// Fused attention: prefill (many queries) and decode (one query over a long past).
#include "predict/attention_kernels.h"
#include "predict/feature_lists.h"
#include "predict/law.h"

namespace joulecast {

const std::array<std::string_view, 23> kPrefillFeatures{
    "compute",      "memory",       "store",          "host",   "ideal",        "roof",
    "batch",        "queries",      "keys",           "heads",  "kv_heads",     "group",
    "head",         "batch_heads",  "batch_kv_heads", "kv_fp8", "tiles_per_sm", "quantisation",
    "bytes_per_l2", "ideal_cycles", "bound_us",       "engine", "window"};
const std::array<std::string_view, 20> kDecodeFeatures{
    "compute", "memory",    "store",    "host",         "ideal",  "roof",        "batch",
    "keys",    "heads",     "kv_heads", "group",        "head",   "batch_heads", "batch_kv_heads",
    "kv_fp8",  "kv_per_sm", "split",    "bytes_per_l2", "engine", "window"};

namespace {

// Work of the operation in the extents everything is made of.
struct Extents6 {
  double batch, queries, heads, kv_heads, head, keys;  // keys: those that any query sees
};

Extents6 extents_of(const AttentionWork& w) {
  std::int64_t keys = w.past + w.queries;
  if (w.window > 0) keys = std::min(keys, w.window + w.queries - 1);
  return {static_cast<double>(w.batch),
          static_cast<double>(w.queries),
          static_cast<double>(w.heads),
          static_cast<double>(w.kv_heads),
          mean_head(w),
          static_cast<double>(keys)};
}

double useful_flops(const AttentionWork& work, const Extents6& e) {
  const double causal = e.queries * static_cast<double>(work.past) + e.queries * (e.queries + 1) / 2;
  double pairs = is_decode(work) ? e.keys : work.causal ? causal : e.queries * e.keys;
  if (work.window > 0) pairs = std::min(pairs, e.queries * static_cast<double>(work.window));
  return 4.0 * e.batch * e.heads * e.head * pairs;
}

void append_features(const AttentionWork& work, const Device& device, const Extents6& e, const AttentionTime& part,
                     const Physics& p, Engine engine, std::span<float> features) {
  const double fp8 = work.kv_bytes == 1 ? 1.0 : 0.0;
  const double group = e.heads / e.kv_heads;
  const auto window = static_cast<double>(work.window);
  const double first[] = {part.compute / p.bound, part.memory / p.bound, part.store / p.bound,
                          part.fixed / p.bound,   p.compute / p.bound,   std::max(p.compute, p.memory) / p.bound};
  const double prefill_only[] = {e.batch,
                                 e.queries,
                                 e.keys,
                                 e.heads,
                                 e.kv_heads,
                                 group,
                                 e.head,
                                 e.batch * e.heads,
                                 e.batch * e.kv_heads,
                                 fp8,
                                 part.tiles,
                                 quantisation(part.tiles),
                                 p.bytes / device.l2,
                                 p.compute * device.clock,
                                 p.bound * 1e6,
                                 engine_feature(engine),
                                 window};
  const double decode_only[] = {e.batch,
                                e.keys,
                                e.heads,
                                e.kv_heads,
                                group,
                                e.head,
                                e.batch * e.heads,
                                e.batch * e.kv_heads,
                                fp8,
                                e.batch * e.kv_heads / device.sm,
                                part.split,
                                p.bytes / device.l2,
                                engine_feature(engine),
                                window};
  static_assert(std::size(first) + std::size(prefill_only) == kPrefillFeatures.size());
  static_assert(std::size(first) + std::size(decode_only) == kDecodeFeatures.size());
  write_features(first, features);
  if (is_decode(work)) {
    write_features(decode_only, features.subspan(std::size(first)));
  } else {
    write_features(prefill_only, features.subspan(std::size(first)));
  }
}

}  // namespace

Physics physics_of(const AttentionWork& work, const Device& device, Situation situation, std::span<float> features) {
  const Extents6 e = extents_of(work);
  Physics p;
  p.peak = attention_peak(work.arithmetic, device);
  p.bytes = e.batch * (2.0 * static_cast<double>(work.element_bytes) * e.heads * e.queries * e.head +
                       2.0 * e.kv_heads * e.head * e.keys * static_cast<double>(work.kv_bytes)) +
            static_cast<double>(work.mask_bytes);
  const AttentionTime part = attention_time(work, device, situation);
  p.gpu = part.busy;
  p.compute = useful_flops(work, e) / p.peak;
  if (situation.state == State::kTraining) {
    p.gpu *= part.step;
    p.compute *= 3.5;  // seven products instead of two
    p.bytes *= 3.0;
  }
  p.memory = p.bytes / device.bandwidth;
  const bool captured = situation.host == Host::kCaptured;
  p.host = captured ? part.fixed : host_floor(work, device, situation);
  p.bound = captured ? p.gpu + part.fixed : joined(p.gpu + part.fixed, p.host, 4.0);
  append_features(work, device, e, part, p, situation.engine, features);
  return p;
}

}  // namespace joulecast
