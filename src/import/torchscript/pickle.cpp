// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <unordered_map>
#include <utility>

#include "import/text.h"
#include "import/torchscript/pickle_names.h"

namespace joulecast::torchscript {
namespace {

constexpr std::size_t kMaxValues = 4'000'000;

}  // namespace

class PickleReader {
 public:
  explicit PickleReader(std::string_view bytes) : bytes_(bytes) {
    // About as many as a module's data has.
    constexpr std::size_t kMost = 8192;
    out_.values_.reserve(std::min(bytes.size() / 5, kMost));
    out_.memory_ = std::make_unique<std::pmr::monotonic_buffer_resource>();
    stack_.reserve(64);
  }

  Result<Pickle> run() {
    while (!stopped_) {
      const std::size_t at = place_;
      auto done = step();
      if (!done) return tl::unexpected(std::move(done).error().in(fmt::format("byte {}", at)));
    }
    return std::move(out_);
  }

 private:
  Result<void> step() {
    if (!has(1)) return cut_off();
    const char code = bytes_[place_++];
    switch (code) {
      case '\x80':
        return skip_protocol();
      case '.':
        return stop();
      case '(':
        marks_.push_back(stack_.size());
        return {};
      case '}':
        return push({.kind = PickleKind::kDict, .items = no_items()});
      case ']':
        return push({.kind = PickleKind::kList, .items = no_items()});
      case ')':
        return push({.kind = PickleKind::kTuple});
      case 't':
        return tuple_of(pop_mark());
      case '\x85':
      case '\x86':
      case '\x87':
        return tuple_of(pop(static_cast<std::size_t>(static_cast<unsigned char>(code) - 0x84U)));
      case 'a':
      case 's':
        return append(code == 'a' ? 1 : 2);
      case 'e':
      case 'u':
        return append_marked(code == 'u');
      case 'c':
        return global();
      case 'R':
        return reduce();
      case '\x81':
        return new_object();
      case 'b':
        return build();
      case 'Q':
        return storage();
      default:
        return scalar_or_memo(code);
    }
  }

  Result<void> scalar_or_memo(char code) {
    switch (code) {
      case 'N':
        return push({});
      case '\x88':
      case '\x89':
        return push({.kind = PickleKind::kBool, .whole = code == '\x88' ? 1 : 0});
      case 'K':
        return integer(1);
      case 'M':
        return integer(2);
      case 'J':
        return integer(4);
      case '\x8a':
        return long_integer();
      case 'G':
        return real();
      case 'X':
        return string(4);
      case '\x8c':
      case 'U':
        return string(1);
      case 'q':
        return put(1);
      case 'r':
        return put(4);
      case 'h':
        return get(1);
      case 'j':
        return get(4);
      default:
        return invalid(fmt::format("opcode 0x{:02x}, which no TorchScript file has", static_cast<unsigned char>(code)));
    }
  }

  [[nodiscard]] bool has(std::size_t count) const { return bytes_.size() - place_ >= count; }
  static tl::unexpected<Error> cut_off() { return invalid("the pickle is cut off"); }
  Result<std::string_view> take(std::size_t count) {
    if (!has(count)) return cut_off();
    const std::string_view out = bytes_.substr(place_, count);
    place_ += count;
    return out;
  }
  // Requires: has(bytes).
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      out |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[place_++])) << (8 * i);
    }
    return out;
  }
  Result<std::string_view> line() {
    const std::size_t end = bytes_.find('\n', place_);
    if (end == std::string_view::npos) return cut_off();
    const std::string_view out = bytes_.substr(place_, end - place_);
    place_ = end + 1;
    return out;
  }

  [[nodiscard]] std::pmr::vector<PickleId> no_items() const { return std::pmr::vector<PickleId>(out_.memory_.get()); }
  Result<void> push(PickleValue value) {
    if (out_.values_.size() >= kMaxValues) return unsupported(fmt::format("more than {} values", kMaxValues));
    stack_.push_back(static_cast<PickleId>(out_.values_.size()));
    out_.values_.push_back(std::move(value));
    return {};
  }
  // Never what lies below the last mark.
  Result<PickleId> pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) return invalid("takes more values than there are");
    const PickleId out = stack_.back();
    stack_.pop_back();
    return out;
  }
  // The last `count` values. They are gone, yet may be read until the next one is pushed.
  Result<std::span<const PickleId>> pop(std::size_t count) {
    if (stack_.size() - (marks_.empty() ? 0 : marks_.back()) < count) {
      return invalid("takes more values than there are");
    }
    const auto out = std::span<const PickleId>(stack_).last(count);
    stack_.resize(stack_.size() - count);
    return out;
  }
  // Those since the last mark, likewise.
  Result<std::span<const PickleId>> pop_mark() {
    if (marks_.empty()) return invalid("takes values from a mark that is not there");
    const auto out = std::span<const PickleId>(stack_).subspan(marks_.back());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return out;
  }

  Result<void> skip_protocol() {
    if (!has(1)) return cut_off();
    const std::uint64_t version = number(1);
    if (version > 5) return unsupported(fmt::format("protocol {} of pickles", version));
    return {};
  }
  Result<void> stop() {
    JC_ASSIGN_OR_RETURN(out_.root_, pop());
    stopped_ = true;
    return {};
  }
  Result<void> integer(std::size_t bytes) {
    if (!has(bytes)) return cut_off();
    const std::uint64_t raw = number(bytes);
    const auto value = bytes == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(raw)) : std::int64_t(raw);
    return push({.kind = PickleKind::kInteger, .whole = value});
  }
  Result<void> long_integer() {
    if (!has(1)) return cut_off();
    const std::uint64_t size = number(1);
    if (size > 8) return unsupported("an integer beyond 64 bits");
    if (!has(size)) return cut_off();
    const std::uint64_t raw = number(size);
    const std::uint64_t unused = 64 - 8 * size;
    // The last byte has the sign.
    const std::int64_t value = size == 0 ? 0 : static_cast<std::int64_t>(raw << unused) >> unused;
    return push({.kind = PickleKind::kInteger, .whole = value});
  }
  Result<void> real() {
    JC_ASSIGN_OR_RETURN(const std::string_view text, take(8));
    std::uint64_t bits = 0;
    for (const char byte : text) bits = bits << 8U | static_cast<unsigned char>(byte);
    return push({.kind = PickleKind::kReal, .real = std::bit_cast<double>(bits)});
  }
  Result<void> string(std::size_t length_bytes) {
    if (!has(length_bytes)) return cut_off();
    const std::uint64_t length = number(length_bytes);
    JC_ASSIGN_OR_RETURN(const std::string_view text, take(length));
    return push({.kind = PickleKind::kText, .text = text});
  }

  Result<void> put(std::size_t bytes) {
    if (!has(bytes)) return cut_off();
    const std::uint64_t slot = number(bytes);
    if (stack_.empty()) return invalid("remembers a value that is not there");
    // Serializers number them from 0 on.
    if (slot == memo_.size()) {
      memo_.push_back(stack_.back());
    } else {
      (slot < memo_.size() ? memo_[slot] : memo_out_of_order_[slot]) = stack_.back();
    }
    return {};
  }
  Result<void> get(std::size_t bytes) {
    if (!has(bytes)) return cut_off();
    const std::uint64_t slot = number(bytes);
    if (stack_.size() >= kMaxValues) return unsupported(fmt::format("more than {} values", kMaxValues));
    if (slot < memo_.size()) {
      stack_.push_back(memo_[slot]);
      return {};
    }
    const auto found = memo_out_of_order_.find(slot);
    if (found == memo_out_of_order_.end()) return invalid(fmt::format("value {} was never remembered", slot));
    stack_.push_back(found->second);
    return {};
  }

  Result<void> tuple_of(const Result<std::span<const PickleId>>& items) {
    if (!items) return tl::unexpected(items.error());
    PickleValue out{.kind = PickleKind::kTuple, .items = no_items()};
    out.items.assign(items->begin(), items->end());
    return push(std::move(out));
  }
  Result<void> append_to(std::span<const PickleId> items, PickleKind wanted) {
    JC_ASSIGN_OR_RETURN(const PickleId target, pop());
    PickleValue& value = out_.values_[target];
    if (value.kind != wanted) return invalid("adds to what is no list or dict");
    added_ += items.size();
    if (added_ > kMaxValues) return unsupported(fmt::format("more than {} values", kMaxValues));
    value.items.insert(value.items.end(), items.begin(), items.end());
    stack_.push_back(target);
    return {};
  }
  Result<void> append(std::size_t count) {
    JC_ASSIGN_OR_RETURN(const auto items, pop(count));
    return append_to(items, count == 1 ? PickleKind::kList : PickleKind::kDict);
  }
  Result<void> append_marked(bool pairs) {
    JC_ASSIGN_OR_RETURN(const auto items, pop_mark());
    if (pairs && items.size() % 2 != 0) return invalid("a key without a value");
    return append_to(items, pairs ? PickleKind::kDict : PickleKind::kList);
  }

  Result<void> global() {
    JC_ASSIGN_OR_RETURN(const std::string_view module, line());
    JC_ASSIGN_OR_RETURN(const std::string_view name, line());
    if (!is_known_global(module, name)) {
      return invalid(
          fmt::format("names '{}.{}', which is not data of a TorchScript file", printable(module), printable(name)));
    }
    return push({.kind = PickleKind::kGlobal, .text = module, .name = name});
  }

  // ("storage", torch.FloatStorage, "0", "cpu", 9408)
  Result<void> storage() {
    JC_ASSIGN_OR_RETURN(const PickleId id, pop());
    const PickleValue& tuple = out_.values_[id];
    const auto is = [&](std::size_t i, PickleKind kind) {
      return i < tuple.items.size() && out_.values_[tuple.items[i]].kind == kind;
    };
    if (tuple.kind != PickleKind::kTuple || !is(0, PickleKind::kText) || !is(1, PickleKind::kGlobal) ||
        !is(2, PickleKind::kText) || !is(4, PickleKind::kInteger)) {
      return invalid("a persistent id that is no storage");
    }
    const auto element = element_of_storage(out_.values_[tuple.items[1]].name);
    PickleValue out{.kind = PickleKind::kStorage, .text = out_.values_[tuple.items[2]].text};
    out.whole = out_.values_[tuple.items[4]].whole;
    if (element) out.element = *element;
    return push(std::move(out));
  }

  Result<void> reduce() {
    JC_ASSIGN_OR_RETURN(const PickleId arguments, pop());
    JC_ASSIGN_OR_RETURN(const PickleId callee, pop());
    const PickleValue& function = out_.values_[callee];
    // A member of an enumeration is its value: it is compared with its like alone.
    if (function.kind == PickleKind::kGlobal && function.text.starts_with("__torch__")) {
      stack_.push_back(arguments);
      return {};
    }
    constexpr std::size_t kMaxArguments = 16;
    if (function.kind != PickleKind::kGlobal || out_.values_[arguments].kind != PickleKind::kTuple ||
        out_.values_[arguments].items.size() > kMaxArguments) {
      return invalid("calls what is no function of PyTorch's serializer");
    }
    const std::span<const PickleId> items = out_.values_[arguments].items;
    if (function.name == "OrderedDict") return push({.kind = PickleKind::kDict, .items = no_items()});
    if (function.name == "_rebuild_tensor_v2" || function.name == "_rebuild_qtensor") return tensor(items);
    // Of a list, a value with the name of its type, a parameter's tensor: the first argument.
    const bool wraps = function.name.starts_with("build_") || function.name == "restore_type_tag" ||
                       function.name == "_rebuild_parameter";
    if (wraps && !items.empty()) {
      stack_.push_back(items[0]);
      return {};
    }
    return push({.kind = PickleKind::kOther});
  }

  Result<Shape> numbers(PickleId id) {
    Shape out;
    const std::size_t axes = out_.values_[id].items.size();
    if (axes > kMaxRank) return unsupported(fmt::format("a tensor of {} axes", axes));
    for (const PickleId item : out_.values_[id].items) {
      if (out_.values_[item].kind != PickleKind::kInteger) return invalid("a tensor with an extent that is no integer");
      out.push_back(out_.values_[item].whole);
    }
    return out;
  }
  // storage, offset, extents, strides, ...
  Result<void> tensor(std::span<const PickleId> arguments) {
    if (arguments.size() < 4 || out_.values_[arguments[0]].kind != PickleKind::kStorage ||
        out_.values_[arguments[1]].kind != PickleKind::kInteger) {
      return invalid("a tensor without storage");
    }
    const PickleValue& source = out_.values_[arguments[0]];
    PickleTensor out{.storage = source.text, .offset = out_.values_[arguments[1]].whole};
    out.type.element = source.element;
    JC_ASSIGN_OR_RETURN(out.type.shape, numbers(arguments[2]));
    JC_ASSIGN_OR_RETURN(out.strides, numbers(arguments[3]));
    if (!checked_elements(out.type.shape)) return invalid("a tensor with extents that no tensor has");
    if (out.strides.size() != out.type.shape.size())
      return invalid("a tensor with strides that do not fit its extents");
    out_.tensors_.push_back(out);
    return push({.kind = PickleKind::kTensor, .whole = static_cast<std::int64_t>(out_.tensors_.size()) - 1});
  }

  Result<void> new_object() {
    JC_ASSIGN_OR_RETURN(const PickleId arguments, pop());
    JC_ASSIGN_OR_RETURN(const PickleId type, pop());
    const PickleValue& cls = out_.values_[type];
    const bool fits = cls.kind == PickleKind::kGlobal && cls.text.starts_with("__torch__") &&
                      out_.values_[arguments].kind == PickleKind::kTuple;
    if (!fits) return invalid("makes an object of what is no class of the file");
    PickleValue out{.kind = PickleKind::kObject, .text = cls.text, .name = cls.name, .items = no_items()};
    return push(std::move(out));
  }
  Result<void> build() {
    JC_ASSIGN_OR_RETURN(const PickleId state, pop());
    JC_ASSIGN_OR_RETURN(const PickleId target, pop());
    if (out_.values_[target].kind != PickleKind::kObject || !out_.values_[target].items.empty()) {
      return invalid("gives a state to what is no object, or has one");
    }
    out_.values_[target].items = {state};
    stack_.push_back(target);
    return {};
  }

  std::string_view bytes_;
  std::size_t place_ = 0;
  bool stopped_ = false;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleId> memo_;  // of the slots 0, 1, 2, ... that were given a value in this order
  std::unordered_map<std::uint64_t, PickleId> memo_out_of_order_;
  std::size_t added_ = 0;
  Pickle out_;
};

Result<Pickle> Pickle::read(std::string_view bytes) {
  return PickleReader(bytes).run();
}

std::span<const PickleId> Pickle::attributes(PickleId id) const {
  const PickleValue* state = &values_[id];
  if (state->kind == PickleKind::kObject && !state->items.empty()) state = &values_[state->items[0]];
  if (state->kind != PickleKind::kDict) return {};
  return std::span<const PickleId>(state->items);
}

const PickleValue* Pickle::attribute(PickleId id, std::string_view name) const {
  const auto items = attributes(id);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (values_[items[i]].kind == PickleKind::kText && values_[items[i]].text == name) return &values_[items[i + 1]];
  }
  return nullptr;
}

}  // namespace joulecast::torchscript
