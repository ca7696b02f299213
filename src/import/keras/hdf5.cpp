// SPDX-License-Identifier: Apache-2.0
// Sections are those of the HDF5 File Format Specification, version 3.0.
#include "import/keras/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>

#include "import/keras/import_keras.h"
#include "import/text.h"

namespace joulecast::keras {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n"sv;
constexpr std::uint64_t kUndefined = ~std::uint64_t{0};

// Messages of object headers.
constexpr std::uint64_t kContinuation = 0x10;
constexpr std::uint64_t kAttribute = 0x0C;
constexpr std::uint64_t kAttributeInfo = 0x15;

// Numbers one after the other; what lies outside reads as 0 and is remembered.
class Cursor {
 public:
  Cursor(std::string_view bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}

  std::uint64_t number(std::size_t size) {
    const std::string_view field = take(size);
    std::uint64_t out = 0;
    for (std::size_t i = field.size(); i-- > 0;) out = out << 8U | static_cast<unsigned char>(field[i]);
    return out;
  }
  std::string_view take(std::uint64_t size) {
    if (at_ > bytes_.size() || size > bytes_.size() - at_) {
      broken_ = true;
      return {};
    }
    const std::string_view out = bytes_.substr(static_cast<std::size_t>(at_), static_cast<std::size_t>(size));
    at_ += size;
    return out;
  }
  void align(std::uint64_t start, std::uint64_t to) { at_ += (to - (at_ - start) % to) % to; }
  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::string_view bytes_;
  std::uint64_t at_;
  bool broken_ = false;
};

tl::unexpected<Error> corrupted(std::string_view what) {
  return invalid(fmt::format("truncated or corrupted HDF5 file: {}", what));
}

std::optional<std::size_t> signature_place(std::string_view bytes) {
  constexpr std::size_t kLast = std::size_t{1} << 30U;
  for (std::size_t at = 0; at < bytes.size() && at <= kLast; at = at == 0 ? 512 : 2 * at) {
    if (bytes.substr(at).starts_with(kSignature)) return at;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Result<RootAttributes> run() {
    const auto start = signature_place(bytes_);
    if (!start) return invalid("is no HDF5 file");
    bytes_ = bytes_.substr(*start);  // addresses count from there
    JC_ASSIGN_OR_RETURN(const std::uint64_t root, root_header());
    JC_RETURN_IF_ERROR(bytes_.substr(0, root).size() == root && bytes_.substr(root).starts_with("OHDR")
                           ? read_header_2(root)
                           : read_header_1(root));
    return std::move(out_);
  }

 private:
  struct Block {
    std::uint64_t at, size;
  };

  // II. The superblock: where the root group's header lies.
  Result<std::uint64_t> root_header() {
    Cursor c(bytes_, kSignature.size());
    const std::uint64_t version = c.number(1);
    if (version > 3) return unsupported(fmt::format("HDF5 superblock of version {}", version));
    if (version <= 1) {
      c.take(4);
      offset_size_ = c.number(1);
      length_size_ = c.number(1);
      c.take(1 + 2 + 2 + 4 + (version == 1 ? 4 : 0));
      c.take(4 * offset_size_);  // base, free space, end of file, driver
      c.take(offset_size_);      // name of the root group's entry
    } else {
      offset_size_ = c.number(1);
      length_size_ = c.number(1);
      c.take(1 + 3 * offset_size_);
    }
    const bool sizes = offset_size_ >= 2 && offset_size_ <= 8 && length_size_ >= 2 && length_size_ <= 8;
    if (!sizes) return corrupted("its superblock");
    const std::uint64_t root = c.number(offset_size_);
    if (c.broken() || root >= bytes_.size()) return corrupted("its superblock");
    return root;
  }

  // IV.A.1. Header of version 1: messages in blocks, each begun at a multiple of 8.
  Result<void> read_header_1(std::uint64_t at) {
    Cursor c(bytes_, at);
    if (c.number(1) != 1) return corrupted("the root group's header");
    c.take(1 + 2 + 4);
    const std::uint64_t size = c.number(4);
    c.take(4);
    if (c.broken()) return corrupted("the root group's header");
    blocks_.push_back({c.at(), size});
    return read_blocks(
        [](Cursor& cursor, Message& message) {
          message.type = cursor.number(2);
          message.size = cursor.number(2);
          message.flags = cursor.number(1);
          cursor.take(3);
        },
        0);
  }

  // IV.A.2. Header of version 2: blocks end with a checksum of 4 bytes.
  Result<void> read_header_2(std::uint64_t at) {
    Cursor c(bytes_, at + 4);
    const std::uint64_t version = c.number(1);
    const std::uint64_t flags = c.number(1);
    if (version != 2) return corrupted("the root group's header");
    if ((flags & 0x20U) != 0) c.take(16);
    if ((flags & 0x10U) != 0) c.take(4);
    const std::uint64_t size = c.number(std::size_t{1} << (flags & 3U));
    if (c.broken()) return corrupted("the root group's header");
    blocks_.push_back({c.at(), size});
    const bool ordered = (flags & 0x04U) != 0;
    return read_blocks(
        [ordered](Cursor& cursor, Message& message) {
          message.type = cursor.number(1);
          message.size = cursor.number(2);
          message.flags = cursor.number(1);
          if (ordered) cursor.take(2);
        },
        4);
  }

  struct Message {
    std::uint64_t type = 0, size = 0, flags = 0;
  };

  // `frame`: bytes before and behind the messages of a block that is continued elsewhere.
  template <typename ReadPrefix>
  Result<void> read_blocks(ReadPrefix prefix, std::uint64_t frame) {
    constexpr std::size_t kMaxBlocks = 10'000;
    constexpr std::size_t kMaxMessages = 100'000;
    std::size_t messages = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (i >= kMaxBlocks) return unsupported("the root group's header has more parts than any real file's");
      const Block block = blocks_[i];
      const std::uint64_t first = block.at + (i > 0 ? frame : 0);
      const std::uint64_t inner = i > 0 ? block.size - std::min(block.size, 2 * frame) : block.size;
      if (first > bytes_.size() || inner > bytes_.size() - first) return corrupted("a part of the root group's header");
      Cursor c(bytes_.substr(0, static_cast<std::size_t>(first + inner)), first);
      while (c.at() + 4 < first + inner) {
        Message message;
        prefix(c, message);
        if (c.at() > first + inner) break;
        const std::string_view body = c.take(message.size);
        if (c.broken()) return corrupted("a message of the root group");
        if (++messages > kMaxMessages) return unsupported("the root group has more messages than any real file's");
        JC_RETURN_IF_ERROR(read_message(message, body));
      }
    }
    return {};
  }

  Result<void> read_message(const Message& message, std::string_view body) {
    if (message.type == kContinuation) {
      Cursor c(body, 0);
      const std::uint64_t at = c.number(offset_size_);
      blocks_.push_back({at, c.number(length_size_)});
      return {};
    }
    if (message.type == kAttributeInfo) return read_attribute_info(body);
    if (message.type != kAttribute) return {};
    if ((message.flags & 0x02U) != 0) return unsupported("an attribute is stored as a shared message");
    return read_attribute(body);
  }

  // IV.A.2.v. Where many or large attributes lie, in a heap of their own.
  Result<void> read_attribute_info(std::string_view body) {
    Cursor c(body, 1);
    const std::uint64_t flags = c.number(1);
    if ((flags & 1U) != 0) c.take(2);
    const std::uint64_t heap = c.number(offset_size_);
    const std::uint64_t none = offset_size_ == 8 ? kUndefined : (std::uint64_t{1} << (8 * offset_size_)) - 1;
    if (!c.broken() && heap != none) {
      return unsupported("attributes lie in dense storage of HDF5; save the model as .keras");
    }
    return {};
  }

  // IV.A.2.m. Version 1 pads its parts to multiples of 8.
  Result<void> read_attribute(std::string_view body) {
    Cursor c(body, 0);
    const std::uint64_t version = c.number(1);
    c.take(1);
    const std::uint64_t name_size = c.number(2);
    const std::uint64_t type_size = c.number(2);
    const std::uint64_t space_size = c.number(2);
    if (version == 3) c.take(1);
    const std::uint64_t start = c.at();
    const auto part = [&](std::uint64_t size) {
      const std::string_view out = c.take(size);
      if (version == 1) c.align(start, 8);
      return out;
    };
    const std::string_view padded = part(name_size);
    const std::string_view name = padded.substr(0, padded.find('\0'));
    const std::string_view type = part(type_size);
    const std::string_view space = part(space_size);
    if (c.broken() || version < 1 || version > 3) return corrupted("an attribute of the root group");
    if (out_.names.size() < kLongestInError) {
      out_.names += fmt::format("{}'{}'", out_.names.empty() ? "" : ", ", printable(name));
    }
    if (name != name_) return {};
    if (space.size() < 2 || space[1] != 0) return unsupported(fmt::format("'{}' is no single text", printable(name)));
    JC_ASSIGN_OR_RETURN(
        out_.text, text_of(type, body.substr(static_cast<std::size_t>(std::min<std::uint64_t>(c.at(), body.size())))));
    return {};
  }

  // IV.A.2.d. Class 3 is text in place, class 9 with text inside a reference into the global heap.
  Result<std::string> text_of(std::string_view type, std::string_view data) {
    Cursor t(type, 0);
    const std::uint64_t kind = t.number(1) & 0x0FU;
    const std::uint64_t bits = t.number(3);
    const std::uint64_t size = t.number(4);
    if (t.broken()) return corrupted("the type of an attribute");
    Cursor c(data, 0);
    if (kind == 3) {
      const std::string_view text = c.take(size);
      if (c.broken()) return corrupted("the text of an attribute");
      return std::string(text.substr(0, text.find('\0')));
    }
    if (kind != 9 || (bits & 0x0FU) != 1) return unsupported(fmt::format("'{}' is no text", name_));
    const std::uint64_t length = c.number(4);
    const std::uint64_t collection = c.number(offset_size_);
    const std::uint64_t place = c.number(4);
    if (c.broken()) return corrupted("the text of an attribute");
    return heap_object(collection, place, length);
  }

  // III.E. Objects of a collection stand one after the other, padded to multiples of 8.
  Result<std::string> heap_object(std::uint64_t collection, std::uint64_t place, std::uint64_t length) {
    Cursor c(bytes_, collection);
    if (c.take(4) != "GCOL") return corrupted("the global heap");
    c.take(4);
    const std::uint64_t end = collection + std::min<std::uint64_t>(c.number(length_size_), bytes_.size());
    while (!c.broken() && c.at() + 8 + length_size_ <= end) {
      const std::uint64_t number = c.number(2);
      c.take(6);
      const std::uint64_t size = c.number(length_size_);
      if (number == 0) break;
      const std::string_view object = c.take(size);
      c.align(collection, 8);
      if (c.broken() || number != place) continue;
      const std::string_view text =
          object.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(length, object.size())));
      return std::string(text.substr(0, text.find('\0')));
    }
    return corrupted("the global heap");
  }

  std::string_view bytes_, name_;
  std::uint64_t offset_size_ = 8, length_size_ = 8;
  std::deque<Block> blocks_;
  RootAttributes out_;
};

}  // namespace

bool is_hdf5(std::string_view bytes) {
  return signature_place(bytes).has_value();
}

Result<RootAttributes> read_root_attribute(std::string_view bytes, std::string_view name) {
  return Reader(bytes, name).run();
}

}  // namespace joulecast::keras
