// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast {

// A file's bytes, mapped read-only: only the pages that are looked at are read.
//
//   JC_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open("net.onnx"));
//   parse(file.bytes());
//
// A file truncated by somebody else while it is mapped raises SIGBUS, as with every mapping.
class MappedFile {
 public:
  // Errors: kNotFound, kIo (a folder, no permission, not mappable), naming the path. An empty file has no bytes.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // Valid as long as this object.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  // Tells the system that reads will be few and far between, so that it reads nothing ahead of them.
  void expect_scattered_reads() const;

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace joulecast
