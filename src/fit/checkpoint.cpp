// SPDX-License-Identifier: Apache-2.0
#include "fit/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/mapped_file.h"
#include "predict/pack/hash.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".piece";
constexpr const char* kKey = "key";

std::string key_text(std::uint64_t key) {
  return fmt::format("{:016x}", key);
}

// What write() left behind when it was interrupted begins with the name of a piece too.
bool is_ours(const fs::path& path) {
  return path.filename().string().find(kEnding) != std::string::npos;
}

}  // namespace

Result<Piece> piece_of(const PackWriter& made) {
  std::vector<std::byte> bytes = made.bytes();
  JC_ASSIGN_OR_RETURN(Pack pack, Pack::over(bytes));
  return Piece{std::move(bytes), std::move(pack), false};
}

Checkpoint::Checkpoint(const std::string& out, Progress progress)
    : folder_(out + ".checkpoint"), progress_(std::move(progress)) {}

std::string Checkpoint::path_of(const std::string& name) const {
  return fmt::format("{}/{}{}", folder_, name, kEnding);
}

Result<Pack> Checkpoint::kept(const std::string& path, std::uint64_t key) const {
  JC_ASSIGN_OR_RETURN(Pack pack, Pack::open(path));
  JC_RETURN_IF_ERROR(pack.verify());
  const auto text = pack.json(kKey);
  if (!text || *text != key_text(key)) return unsupported(path + ": of another training");
  return pack;
}

void Checkpoint::keep(const std::string& path, const PackWriter& piece) {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  const auto done =
      failed ? Result<void>(io_error(fmt::format("{}: {}", folder_, failed.message()))) : piece.write(path);
  if (done || cannot_keep_) return;
  cannot_keep_ = true;
  progress_(fmt::format("no checkpoint is kept: {}", done.error().text()));
}

Result<Piece> Checkpoint::piece(const std::string& name, std::uint64_t key, const Make& make) {
  const std::string path = path_of(name);
  auto before = kept(path, key);
  if (before) {
    progress_(fmt::format("{}: taken from {}", name, path));
    return Piece{{}, std::move(*before), true};
  }
  if (before.error().code() != ErrorCode::kNotFound)
    progress_(fmt::format("{}: checkpoint not used: {}", name, before.error().text()));
  JC_ASSIGN_OR_RETURN(PackWriter made, make());
  JC_RETURN_IF_ERROR(made.add_json(kKey, key_text(key)));
  keep(path, made);
  return piece_of(made);
}

void Checkpoint::remove() {
  std::error_code failed;
  if (!fs::is_directory(fs::symlink_status(folder_, failed))) return;  // somebody else's
  std::vector<fs::path> ours;
  for (fs::directory_iterator at(folder_, failed), end; !failed && at != end; at.increment(failed)) {
    if (is_ours(at->path())) ours.push_back(at->path());
  }
  for (const fs::path& path : ours) fs::remove(path, failed);
  fs::remove(folder_, failed);  // fails where something else is in it
}

void ContentKey::add(std::string_view text) {
  add(static_cast<double>(text.size()));
  add_bytes(text.data(), text.size());
}

void ContentKey::add_program() {
  const auto program = MappedFile::open("/proc/self/exe");
  if (program) add(static_cast<double>(xxh64(program->bytes()) >> 12U));  // 52 bits are exact in a double
}

std::uint64_t ContentKey::value() const {
  return xxh64(bytes_);
}

void ContentKey::add_bytes(const void* data, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), begin, begin + size);
}

}  // namespace joulecast
