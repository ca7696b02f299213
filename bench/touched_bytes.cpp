// SPDX-License-Identifier: Apache-2.0
// How much of a model file its import reads: drops the file from the page cache, imports it, and counts the pages that
// came back.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "joulecast/import.h"

namespace {

// Bytes of the file that are in the page cache; -1 if that cannot be told.
long long resident(int fd, std::size_t size) {
  void* map = ::mmap(nullptr, size, PROT_NONE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return -1;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  const bool told = ::mincore(map, size, pages.data()) == 0;
  ::munmap(map, size);
  long long count = 0;
  for (const unsigned char p : pages) count += p & 1;
  return told ? count * static_cast<long long>(page) : -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench_touched_bytes MODEL\n");
    return 2;
  }
  const int fd = ::open(argv[1], O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) {
    std::perror(argv[1]);
    return 1;
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  ::fsync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  const long long before = resident(fd, size);
  const auto graph = joulecast::import_model(argv[1]);
  const long long after = resident(fd, size);
  ::close(fd);
  if (!graph) {
    fmt::print(stderr, "{}\n", graph.error().text());
    return 1;
  }
  fmt::print("{} bytes of file, {} resident before, {} after the import: {} touched\n", size, before, after,
             after - before);
  return 0;
}
