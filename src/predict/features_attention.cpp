// SPDX-License-Identifier: Apache-2.0
// Fused attention: prefill (many queries) and decode (one query over a long past).
#include "predict/feature_lists.h"
#include "predict/law.h"

namespace joulecast {

const std::array<std::string_view, 22> kPrefillFeatures{
    "compute",      "memory",       "latency",        "host",   "ideal",        "roof",
    "batch",        "queries",      "keys",           "heads",  "kv_heads",     "group",
    "head",         "batch_heads",  "batch_kv_heads", "kv_fp8", "tiles_per_sm", "quantisation",
    "bytes_per_l2", "ideal_cycles", "bound_us",       "engine"};
const std::array<std::string_view, 19> kDecodeFeatures{
    "compute", "memory",    "latency",  "host",         "ideal", "roof",        "batch",
    "keys",    "heads",     "kv_heads", "group",        "head",  "batch_heads", "batch_kv_heads",
    "kv_fp8",  "kv_per_sm", "split",    "bytes_per_l2", "engine"};

namespace {

struct Parts {
  double compute = 0, memory = 0, latency = 0, fixed = 0, split = 1;
};

// Blocks of 128 queries by 128 keys; the last wave ends with its longest block.
Parts prefill(const AttentionWork& w, const Device& device, double peak, double bytes, double tiles) {
  const auto keys = static_cast<double>(w.past + w.queries);
  const double blocks = ceil_div(static_cast<double>(w.queries), 128);
  const double causal =
      128.0 * 128.0 * (blocks * (blocks + 1) / 2 + blocks * ceil_div(static_cast<double>(w.past), 128));
  const double pairs = w.causal ? causal : 128.0 * 128.0 * blocks * ceil_div(keys, 128);
  const auto head = static_cast<double>(w.head);
  const double flops = 4.0 * static_cast<double>(w.batch * w.heads) * head * pairs;
  Parts p;
  p.latency = 4.0 * 128 * ceil_div(keys, 128) * 128 * head / (peak / device.sm);
  const double occupied = std::min(1.0, tiles / device.sm);
  p.compute = std::max(flops / peak + 0.35 * p.latency * occupied, p.latency * occupied);
  p.memory = memory_time(bytes, bytes, device, 0.8);
  p.fixed = 18500.0 / device.clock;
  return p;
}

// The keys are split over the SMs; the group of queries that shares keys is padded to 16.
Parts decode(const AttentionWork& w, const Device& device, double peak, double bytes) {
  const auto keys = static_cast<double>(w.past + w.queries);
  const auto readers = static_cast<double>(w.batch * w.kv_heads);
  const double group = static_cast<double>(w.heads) / static_cast<double>(w.kv_heads);
  Parts p;
  p.split = std::clamp(std::floor(device.sm / readers), 1.0, std::max(1.0, keys / 128.0));
  p.memory = bytes / (0.93 * device.bandwidth);
  p.compute = 4.0 * readers * ceil_div(group, 16) * 16 * static_cast<double>(w.head) * keys / (peak * 0.61);
  p.latency = (2.5 * keys / p.split + 9000.0) * ceil_div(readers * p.split, 2 * device.sm) / device.clock;
  if (p.split > 1) p.latency += 2000.0 / device.clock;
  p.fixed = 9500.0 / device.clock;
  return p;
}

// Work of the operation in the extents everything is made of.
struct Extents6 {
  double batch, queries, heads, kv_heads, head, keys, tiles;
};

Extents6 extents_of(const AttentionWork& w) {
  const auto queries = static_cast<double>(w.queries);
  const auto heads = static_cast<double>(w.heads);
  return {static_cast<double>(w.batch),
          queries,
          heads,
          static_cast<double>(w.kv_heads),
          static_cast<double>(w.head),
          static_cast<double>(w.past + w.queries),
          static_cast<double>(w.batch) * heads * ceil_div(queries, 128)};
}

double gpu_time(const AttentionWork& work, const Extents6& e, const Parts& part, const Device& device) {
  if (is_decode(work)) return joined(joined(part.memory, part.compute, 1.5), part.latency, 1.5);
  return joined(part.compute + 290.0 * ceil_div(e.keys, 128) / device.clock, part.memory, 0.8) +
         220.0 * e.tiles / device.sm / device.clock;
}

double useful_flops(const AttentionWork& work, const Extents6& e) {
  const double causal = e.queries * static_cast<double>(work.past) + e.queries * (e.queries + 1) / 2;
  const double pairs = is_decode(work) ? e.keys : work.causal ? causal : e.queries * e.keys;
  return 4.0 * e.batch * e.heads * e.head * pairs;
}

void append_features(const AttentionWork& work, const Device& device, const Extents6& e, const Parts& part,
                     const Physics& p, Engine engine, std::span<float> features) {
  const double fp8 = work.kv_bytes == 1 ? 1.0 : 0.0;
  const double group = e.heads / e.kv_heads;
  const double waves = e.tiles / device.sm;
  const double first[] = {part.compute / p.bound, part.memory / p.bound, part.latency / p.bound,
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
                                 waves,
                                 quantisation(waves),
                                 p.bytes / device.l2,
                                 p.compute * device.clock,
                                 p.bound * 1e6,
                                 static_cast<double>(engine)};
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
                                static_cast<double>(engine)};
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
  p.peak = device.peak(work.arithmetic);
  p.bytes = e.batch * (2.0 * static_cast<double>(work.element_bytes) * e.heads * e.queries * e.head +
                       2.0 * e.kv_heads * e.head * e.keys * static_cast<double>(work.kv_bytes));
  const Parts part = is_decode(work)
                         ? decode(work, device, p.peak, p.bytes)
                         : prefill(work, device, sustained_peak(work.arithmetic, device) * 0.73, p.bytes, e.tiles);
  p.gpu = gpu_time(work, e, part, device);
  p.compute = useful_flops(work, e) / p.peak;
  if (situation.state == State::kTraining) {  // five products instead of two
    p.gpu *= 3.5;
    p.compute *= 3.5;
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
