// SPDX-License-Identifier: Apache-2.0
#include "base/program_folder.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace joulecast {
namespace {

std::string folder_of(const std::string& path) {
  return path.substr(0, path.find_last_of('/'));
}

// The file of the shared library that this code is in; empty where it is in the program itself.
std::string own_library() {
  Dl_info own{}, program{};
  const auto entry = reinterpret_cast<const void*>(::getauxval(AT_ENTRY));  // NOLINT(performance-no-int-to-ptr)
  const auto here = reinterpret_cast<const void*>(&program_folder);
  if (::dladdr(here, &own) == 0 || ::dladdr(entry, &program) == 0 || own.dli_fbase == program.dli_fbase) return {};
  const std::unique_ptr<char, void (*)(void*)> path(::realpath(own.dli_fname, nullptr), &std::free);
  return path ? path.get() : "";
}

}  // namespace

std::string program_folder() {
  if (const std::string library = own_library(); !library.empty()) return folder_of(library);
  std::array<char, 4096> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (length <= 0) return {};
  return folder_of(std::string(buffer.data(), static_cast<std::size_t>(length)));
}

}  // namespace joulecast
