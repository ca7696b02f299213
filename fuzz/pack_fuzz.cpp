// SPDX-License-Identifier: Apache-2.0
// Predictor packs: the bytes as they are, and again with right checksums so that damage behind them is reached.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "predict/pack/pack.h"
#include "predict/pack/reseal.h"

namespace {

void evaluate(const joulecast::ForestView& forest) {
  constexpr std::size_t kRows = 9;
  std::vector<float> features(kRows * forest.feature_count(), 0.5F);
  for (std::size_t i = 0; i < features.size(); i += 5) features[i] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> portable(kRows);
  std::vector<float> fast(kRows);
  forest.predict(features, kRows, portable, joulecast::TreeWalk::kPortable);
  forest.predict(features, kRows, fast);
  // Not compared: a forged threshold that is no number may send a missing feature elsewhere on the fast way.
  (void)forest.feature_names();
}

void read_all(std::span<const std::byte> bytes) {
  const auto pack = joulecast::Pack::over(bytes);
  if (!pack) return;
  (void)pack->verify();
  for (const auto name : pack->forests()) {
    if (const auto forest = pack->forest(name)) evaluate(*forest);
  }
  for (const auto name : pack->tables()) {
    const auto table = pack->table(name);
    if (!table) continue;
    for (std::size_t i = 0; i < table->size(); ++i) (void)table->find(table->key(i));
    (void)pack->number(name, "launch_s");
  }
  for (const auto name : pack->jsons()) (void)pack->json(name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (std::size_t{1} << 20)) return 0;
  std::vector<std::uint64_t> words(size / 8 + 1);
  if (size > 0) std::memcpy(words.data(), data, size);
  const auto bytes = std::as_writable_bytes(std::span{words}).first(size);
  read_all(bytes);
  joulecast::reseal(bytes);
  read_all(bytes);
  return 0;
}
