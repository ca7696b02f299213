// SPDX-License-Identifier: Apache-2.0
// Traces to merge with: of what is JSON with a list of events, the place to insert at must be one where that is JSON
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "recording/export/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto found = joulecast::scan_trace(text);
  if (found && found->insert_at > size) std::abort();
  if (!found || !nlohmann::json::accept(text)) return 0;
  std::string merged = text;
  merged.insert(found->insert_at, found->empty ? "{}" : "{},");
  if (!nlohmann::json::accept(merged)) std::abort();
  return 0;
}
