// SPDX-License-Identifier: Apache-2.0
// Any bytes are either an error or an archive, whose members are read or refused, none larger than asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLimit = 1 << 20;
  const auto archive = joulecast::ZipArchive::open({reinterpret_cast<const char*>(data), size});
  if (!archive) return 0;
  std::size_t members = 0;
  for (const joulecast::ZipMember& member : archive->members()) {
    if (++members > 100) break;
    const auto text = joulecast::ZipArchive::read(member, kLimit);
    if (text && text->view().size() > kLimit) std::abort();
  }
  return 0;
}
