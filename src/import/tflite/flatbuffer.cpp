// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/flatbuffer.h"

namespace joulecast {

Result<void> FlatBuffer::status() const {
  if (broken_) return invalid("truncated or corrupted: an offset leads out of the file");
  return {};
}

FlatTable FlatBuffer::root() const {
  return {*this, load<std::uint32_t>(0)};
}

// A table begins with the distance back to its list of fields: that list's size, the table's, and for each field its
// place in the table or 0.
FlatTable::FlatTable(const FlatBuffer& file, std::size_t at) : file_(&file), at_(at) {
  const std::int64_t list = static_cast<std::int64_t>(at) - file.load<std::int32_t>(at);
  if (!file.holds(at, sizeof(std::int32_t)) || list < 0) {
    file.broken_ = true;
    return;
  }
  fields_at_ = static_cast<std::size_t>(list);
  const std::size_t list_size = file.load<std::uint16_t>(fields_at_);
  size_ = file.load<std::uint16_t>(fields_at_ + 2);
  const bool whole = list_size >= 4 && file.holds(fields_at_, list_size) && file.holds(at, size_);
  if (!whole) file.broken_ = true;
  fields_ = whole ? list_size / 2 - 2 : 0;
}

std::size_t FlatTable::place(std::size_t field, std::size_t size) const {
  if (field >= fields_) return 0;
  const std::size_t offset = file_->load<std::uint16_t>(fields_at_ + 4 + 2 * field);
  if (offset == 0) return 0;
  if (offset + size <= size_) return at_ + offset;
  file_->broken_ = true;
  return 0;
}

std::size_t FlatTable::target(std::size_t field) const {
  const std::size_t at = place(field, sizeof(std::uint32_t));
  return at == 0 ? 0 : at + file_->load<std::uint32_t>(at);
}

FlatTable FlatTable::table(std::size_t field) const {
  const std::size_t at = target(field);
  return at == 0 ? FlatTable{} : FlatTable{*file_, at};
}

std::string_view FlatTable::text(std::size_t field) const {
  const FlatVector vector = this->vector(field, 1);
  return vector.size() == 0 ? std::string_view{} : file_->bytes_.substr(vector.at_, vector.size());
}

FlatVector FlatTable::vector(std::size_t field, std::size_t element_size) const {
  const std::size_t at = target(field);
  if (at == 0) return {};
  const std::size_t count = file_->load<std::uint32_t>(at);
  const std::size_t first = at + sizeof(std::uint32_t);
  if (!file_->holds(first, count * element_size)) return {};
  return {*file_, first, count};
}

FlatTable FlatVector::table(std::size_t i) const {
  const std::size_t at = at_ + i * sizeof(std::uint32_t);
  return {*file_, at + file_->load<std::uint32_t>(at)};
}

}  // namespace joulecast
