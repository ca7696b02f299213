// SPDX-License-Identifier: Apache-2.0
// Fused attention: prefill (many queries) and decode (one query over a long past).
#include "predict/feature_lists.h"
#include "predict/law.h"

namespace joulecast {

const std::array<std::string_view, 21> kPrefillFeatures{
    "compute",        "memory", "latency",      "host",         "ideal",        "roof",         "batch",
    "queries",        "keys",   "heads",        "kv_heads",     "group",        "head",         "batch_heads",
    "batch_kv_heads", "kv_fp8", "tiles_per_sm", "quantisation", "bytes_per_l2", "ideal_cycles", "bound_us"};
const std::array<std::string_view, 18> kDecodeFeatures{
    "compute",  "memory", "latency", "host",        "ideal",          "roof",   "batch",     "keys",  "heads",
    "kv_heads", "group",  "head",    "batch_heads", "batch_kv_heads", "kv_fp8", "kv_per_sm", "split", "bytes_per_l2"};

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

}  // namespace

Physics physics_of(const AttentionWork& work, const Device& device, Situation situation, FeatureRow& features) {
  const bool training = situation.state == State::kTraining;
  const bool decoding = is_decode(work);
  const auto b = static_cast<double>(work.batch);
  const auto q = static_cast<double>(work.queries);
  const auto h = static_cast<double>(work.heads);
  const auto kv = static_cast<double>(work.kv_heads);
  const auto d = static_cast<double>(work.head);
  const auto keys = static_cast<double>(work.past + work.queries);
  const double peak = device.peak(work.arithmetic);
  const double tiles = b * h * ceil_div(q, 128);

  Physics p;
  p.bytes = b * (2.0 * static_cast<double>(work.element_bytes) * h * q * d +
                 2.0 * kv * d * keys * static_cast<double>(work.kv_bytes));
  const Parts part = decoding ? decode(work, device, peak, p.bytes)
                              : prefill(work, device, peak * device.held_at(work.arithmetic) * 0.73, p.bytes, tiles);
  p.gpu = decoding ? joined(joined(part.memory, part.compute, 1.5), part.latency, 1.5)
                   : joined(part.compute + 290.0 * ceil_div(keys, 128) / device.clock, part.memory, 0.8) +
                         220.0 * tiles / device.sm / device.clock;
  const double pairs = decoding ? keys : work.causal ? q * static_cast<double>(work.past) + q * (q + 1) / 2 : q * keys;
  p.compute = 4.0 * b * h * d * pairs / peak;
  if (training) {  // five products instead of two
    p.gpu *= 3.5;
    p.compute *= 3.5;
    p.bytes *= 3.0;
  }
  p.memory = p.bytes / device.bandwidth;
  const bool captured = situation.host == Host::kCaptured;
  p.host = captured ? part.fixed : host_floor(work, device, situation);
  p.bound = captured ? p.gpu + part.fixed : joined(p.gpu + part.fixed, p.host, 4.0);

  p.peak = peak;
  const double fp8 = work.kv_bytes == 1 ? 1.0 : 0.0;
  const double first[] = {part.compute / p.bound, part.memory / p.bound, part.latency / p.bound,
                          part.fixed / p.bound,   p.compute / p.bound,   std::max(p.compute, p.memory) / p.bound};
  const double prefill_only[] = {b,
                                 q,
                                 keys,
                                 h,
                                 kv,
                                 h / kv,
                                 d,
                                 b * h,
                                 b * kv,
                                 fp8,
                                 tiles / device.sm,
                                 quantisation(tiles / device.sm),
                                 p.bytes / device.l2,
                                 p.compute * device.clock,
                                 p.bound * 1e6};
  const double decode_only[] = {
      b, keys, h, kv, h / kv, d, b * h, b * kv, fp8, b * kv / device.sm, part.split, p.bytes / device.l2};
  static_assert(std::size(first) + std::size(prefill_only) == kPrefillFeatures.size());
  static_assert(std::size(first) + std::size(decode_only) == kDecodeFeatures.size());
  for (const double value : first) features.push_back(static_cast<float>(value));
  for (const double value : decoding ? std::span<const double>(decode_only) : std::span<const double>(prefill_only)) {
    features.push_back(static_cast<float>(value));
  }
  return p;
}

}  // namespace joulecast
