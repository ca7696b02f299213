// SPDX-License-Identifier: Apache-2.0
// The report in a pack, as `joulecast pack` prints it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/pack_text.h"
#include "predict/pack/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  joulecast::PackWriter writer;
  if (!writer.add_json("report", std::string(reinterpret_cast<const char*>(data), size))) return 0;
  if (!writer.add_table("intervals", {{"operation/conv/seen/time", 0.1}, {"network/time/inside", 0.2}})) return 0;
  const std::vector<std::byte> bytes = writer.bytes();
  const auto pack = joulecast::Pack::over(bytes);
  if (!pack) return 0;
  (void)joulecast::cli::pack_text(*pack);
  (void)joulecast::cli::pack_json(*pack);
  (void)joulecast::cli::pack_csv(*pack);
  return 0;
}
