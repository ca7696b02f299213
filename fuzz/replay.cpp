// SPDX-License-Identifier: Apache-2.0
// A fuzz target as a short test, without libFuzzer: replay MUTATIONS SEED... runs it over every seed (a file, or all
// files of a folder) and over so many broken copies of each, the same ones every time. REPLAY_KEEP=FILE in the
// environment keeps the input that it dies of.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

Bytes contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The standard promises the engine's numbers, not those of its distributions.
class Chance {
 public:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }

 private:
  std::mt19937_64 engine_{1};
};

// One to four changes: a byte, a bit, a length that lies, a piece cut out, doubled or put elsewhere, the end cut off.
Bytes broken(Bytes bytes, Chance& chance) {
  for (std::size_t left = 1 + chance.below(4); left > 0 && !bytes.empty(); --left) {
    const auto at = static_cast<std::ptrdiff_t>(chance.below(bytes.size()));
    const auto room = bytes.size() - static_cast<std::size_t>(at);
    const auto end = at + static_cast<std::ptrdiff_t>(1 + chance.below(std::min<std::size_t>(room, 64)));
    const Bytes piece(bytes.begin() + at, bytes.begin() + end);
    const auto place = static_cast<std::size_t>(at);
    switch (chance.below(7)) {
      case 0:
        bytes[place] = static_cast<std::uint8_t>(chance.below(256));
        break;
      case 1:
        bytes[place] ^= static_cast<std::uint8_t>(1U << chance.below(8));
        break;
      case 2:
        std::fill(bytes.begin() + at, bytes.begin() + end, chance.below(2) == 0 ? 0xFF : 0x00);
        break;
      case 3:
        bytes.erase(bytes.begin() + at, bytes.begin() + end);
        break;
      case 4:
        bytes.insert(bytes.begin() + at, piece.begin(), piece.end());
        break;
      case 5:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(chance.below(bytes.size())), piece.begin(),
                     piece.end());
        break;
      default:
        bytes.resize(place);
        break;
    }
  }
  return bytes;
}

// What runs now, for last words.
const Bytes* g_running = nullptr;
std::string g_origin;

void last_words(int signal) {
  fmt::print(stderr, "dies of a copy of {}\n", g_origin);
  if (const char* keep = std::getenv("REPLAY_KEEP")) {
    std::ofstream(keep, std::ios::binary)
        .write(reinterpret_cast<const char*>(g_running->data()), static_cast<std::streamsize>(g_running->size()));
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(const Bytes& bytes) {
  g_running = &bytes;
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: replay MUTATIONS SEED...\n");
    return 2;
  }
  const long mutations = std::strtol(argv[1], nullptr, 10);
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, last_words);
  Chance chance;
  std::size_t seeds = 0;
  for (int i = 2; i < argc; ++i) {
    for (const fs::path& path : files_of(argv[i])) {
      const Bytes seed = contents_of(path);
      g_origin = path;
      run(seed);
      for (long m = 0; m < mutations; ++m) {
        run(broken(seed, chance));
      }
      ++seeds;
    }
  }
  fmt::print("{} seeds, {} broken copies of each\n", seeds, mutations);
  return seeds > 0 ? 0 : 1;
}
