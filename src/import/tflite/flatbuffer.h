// SPDX-License-Identifier: Apache-2.0
// Reading a FlatBuffer without generated code: every offset, table and vector is checked against the bytes.
//
// What lies outside reads as absent and is remembered, so that one look at status() after some reading is enough:
//
//   const FlatBuffer file(bytes);
//   const FlatTable model = file.root();
//   const std::int64_t version = model.integer<std::uint32_t>(0, 0);
//   JC_RETURN_IF_ERROR(file.status());
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast {

class FlatTable;

// Borrows the bytes. Tables and vectors are valid as long as it is.
class FlatBuffer {
 public:
  explicit FlatBuffer(std::string_view bytes) : bytes_(bytes) {}
  FlatBuffer(const FlatBuffer&) = delete;
  FlatBuffer& operator=(const FlatBuffer&) = delete;

  [[nodiscard]] FlatTable root() const;
  // Error: kInvalidInput where anything that was read so far points outside of the file.
  [[nodiscard]] Result<void> status() const;

 private:
  friend class FlatTable;
  friend class FlatVector;

  [[nodiscard]] bool holds(std::size_t at, std::size_t size) const {
    if (at <= bytes_.size() && size <= bytes_.size() - at) return true;
    broken_ = true;
    return false;
  }
  template <typename T>
  [[nodiscard]] T load(std::size_t at) const {
    T out{};
    if (holds(at, sizeof(T))) std::memcpy(&out, bytes_.data() + at, sizeof(T));
    return out;
  }

  std::string_view bytes_;
  mutable bool broken_ = false;
};

// Elements of one size, or offsets of tables or strings.
class FlatVector {
 public:
  FlatVector() = default;

  [[nodiscard]] std::size_t size() const { return size_; }
  // Requires of all: i < size().
  template <typename T>
  [[nodiscard]] T number(std::size_t i) const {
    return file_->load<T>(at_ + i * sizeof(T));
  }
  [[nodiscard]] FlatTable table(std::size_t i) const;

 private:
  friend class FlatTable;
  FlatVector(const FlatBuffer& file, std::size_t at, std::size_t size) : file_(&file), at_(at), size_(size) {}

  const FlatBuffer* file_ = nullptr;
  std::size_t at_ = 0, size_ = 0;
};

// Fields are numbered as the schema lists them, from 0; a field that is absent has its default.
class FlatTable {
 public:
  FlatTable() = default;

  explicit operator bool() const { return file_ != nullptr; }
  template <typename T>
  [[nodiscard]] T number(std::size_t field, T absent) const {
    const std::size_t at = place(field, sizeof(T));
    return at == 0 ? absent : file_->load<T>(at);
  }
  [[nodiscard]] bool flag(std::size_t field, bool absent = false) const {
    return number<std::uint8_t>(field, absent ? 1 : 0) != 0;
  }
  [[nodiscard]] std::int64_t integer(std::size_t field, std::int32_t absent = 0) const {
    return number<std::int32_t>(field, absent);
  }
  [[nodiscard]] FlatTable table(std::size_t field) const;  // false where absent
  [[nodiscard]] std::string_view text(std::size_t field) const;
  // Of elements of `element_size` bytes; tables are offsets of 4.
  [[nodiscard]] FlatVector vector(std::size_t field, std::size_t element_size) const;
  [[nodiscard]] std::string_view bytes(std::size_t field) const { return text(field); }

 private:
  friend class FlatBuffer;
  friend class FlatVector;
  FlatTable(const FlatBuffer& file, std::size_t at);
  // Where the field lies; 0 where it is absent.
  [[nodiscard]] std::size_t place(std::size_t field, std::size_t size) const;
  // Where the offset in the field leads to; 0 where it is absent.
  [[nodiscard]] std::size_t target(std::size_t field) const;

  const FlatBuffer* file_ = nullptr;
  std::size_t at_ = 0, fields_at_ = 0, fields_ = 0, size_ = 0;
};

}  // namespace joulecast
