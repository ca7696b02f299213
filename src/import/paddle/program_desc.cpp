// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/program_desc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "import/protobuf.h"
#include "import/text.h"

namespace joulecast::paddle {
namespace {

using namespace protobuf;
using aten::Argument;
using aten::Integer;

constexpr std::size_t kMaxBlocks = 10'000;
constexpr std::int64_t kNoParent = -1;

struct Names {
  std::string_view slot;
  std::vector<std::string_view> variables;
};

struct RawOperation {
  std::string_view type;
  std::vector<Names> inputs, outputs;
  std::vector<Attribute> attributes;
  std::vector<std::int64_t> blocks;
};

struct RawBlock {
  std::int64_t index = 0, parent = kNoParent;
  std::vector<Variable> variables;
  std::vector<RawOperation> operations;
};

// What an attribute may hold; which of it counts says `type`.
struct RawAttribute {
  std::string_view name, text;
  std::int64_t type = -1, integer = 0, truth = 0, block = 0;
  double real = 0.0;
  std::vector<Integer> integers;
  std::vector<double> reals;
  std::vector<std::int64_t> blocks;
};

// AttrType of framework.proto.
enum AttributeType : std::int64_t {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kBoolean,
  kBooleans,
  kBlock,
  kLong,
  kBlocks,
  kLongs,
  kFloat64s,
  kVar,
  kVars,
  kFloat64,
  kScalar,
  kScalars,
};

Argument value_of(RawAttribute& raw) {
  switch (raw.type) {
    case kInt:
    case kLong:
      return Integer{raw.integer};
    case kFloat:
    case kFloat64:
      return raw.real;
    case kString:
      return raw.text;
    case kBoolean:
      return raw.truth != 0;
    case kInts:
    case kLongs:
    case kBooleans:
      return std::move(raw.integers);
    case kFloats:
    case kFloat64s:
    case kScalars:
      return std::move(raw.reals);
    case kScalar:
      return raw.real;
    default:
      return aten::Setting{};
  }
}

// Members are named after the message that they read.
class Reader {
 public:
  Result<void> program(pbf_reader r, std::vector<RawBlock>& out) {
    return read_fields(r, message(1, [&](pbf_reader m) -> Result<void> {
                         if (out.size() >= kMaxBlocks)
                           return unsupported(fmt::format("more than {} blocks", kMaxBlocks));
                         return block(m, out.emplace_back());
                       }));
  }

  // Where reading was when it failed.
  [[nodiscard]] std::string place() const {
    if (operations_ == 0) return "";
    return fmt::format(" at or after operator {} '{}'", operations_ - 1, printable(type_));
  }

 private:
  Result<void> count(std::size_t entries = 1) {
    entries_ += entries;
    if (entries_ > kMaxEntries) return unsupported("has more entries than any real model");
    return {};
  }

  Result<void> block(pbf_reader r, RawBlock& out) {
    const auto one_variable = [&](pbf_reader m) -> Result<void> {
      JC_RETURN_IF_ERROR(count());
      return variable(m, out.variables.emplace_back());
    };
    const auto one_operation = [&](pbf_reader m) -> Result<void> {
      if (++operations_ > kMaxOperations) return unsupported(fmt::format("more than {} operators", kMaxOperations));
      return operation(m, out.operations.emplace_back());
    };
    return read_fields(r, integer(1, out.index), integer(2, out.parent), message(3, one_variable),
                       message(4, one_operation));
  }

  Result<void> variable(pbf_reader r, Variable& out) {
    std::int64_t persistable = 0;
    const auto type = [&](pbf_reader m) { return variable_type(m, out); };
    JC_RETURN_IF_ERROR(read_fields(r, text(1, out.name), message(2, type), integer(3, persistable)));
    out.persistable = persistable != 0;
    return {};
  }

  // Tensors, and lists of them (DENSE_TENSOR_ARRAY) as far as their elements are alike.
  Result<void> variable_type(pbf_reader r, Variable& out) {
    const auto described = [&](pbf_reader m) {
      return read_fields(m, message(1, [&](pbf_reader tensor) { return tensor_desc(tensor, out); }));
    };
    return read_fields(r, message(3, described));
  }

  // dims: packed or not.
  template <typename Add>
  auto integers(std::uint32_t number, Add add) {
    return std::make_pair(Field{varint_field(number), [add](pbf_reader& r) { return add(r.get_int64()); }},
                          Field{text_field(number), [add](pbf_reader& r) -> Result<void> {
                                  for (const std::int64_t value : r.get_packed_int64()) JC_RETURN_IF_ERROR(add(value));
                                  return {};
                                }});
  }

  Result<void> tensor_desc(pbf_reader r, Variable& out) {
    TensorType type;
    std::int64_t kind = -1;
    bool possible = true;
    const auto dimension = integers(2, [&](std::int64_t extent) -> Result<void> {
      possible = possible && extent >= -1 && extent <= kMaxElements && !type.shape.full();
      type.shape.push_back(extent);
      return count();
    });
    JC_RETURN_IF_ERROR(read_fields(r, integer(1, kind), dimension.first, dimension.second));
    type.element = element_of(kind);
    out.types = {possible ? std::optional(type) : std::nullopt};
    return {};
  }

  auto slots(std::uint32_t number, std::vector<Names>& list) {
    return message(number, [this, &list](pbf_reader m) -> Result<void> {
      JC_RETURN_IF_ERROR(count());
      Names& names = list.emplace_back();
      const Field argument{text_field(2), [&](pbf_reader& field) -> Result<void> {
                             names.variables.push_back(view(field));
                             return count();
                           }};
      return read_fields(m, text(1, names.slot), argument);
    });
  }

  Result<void> operation(pbf_reader r, RawOperation& out) {
    const Field type{text_field(3), [&](pbf_reader& field) -> Result<void> {
                       type_ = out.type = view(field);
                       return {};
                     }};
    return read_fields(r, slots(1, out.inputs), slots(2, out.outputs), type,
                       message(4, [&](pbf_reader m) { return attribute(m, out); }));
  }

  auto floating(std::uint32_t number, double& out) {
    return Field{float_field(number), [&out](pbf_reader& r) -> Result<void> {
                   out = static_cast<double>(r.get_float());
                   return {};
                 }};
  }
  auto doubled(std::uint32_t number, double& out) {
    return Field{double_field(number), [&out](pbf_reader& r) -> Result<void> {
                   out = r.get_double();
                   return {};
                 }};
  }

  // BOOLEAN, LONG or FLOAT64; all are read as a real number.
  Result<double> scalar(pbf_reader r) {
    std::int64_t type = 0;
    std::int64_t truth = 0;
    std::int64_t whole = 0;
    double real = 0.0;
    JC_RETURN_IF_ERROR(read_fields(r, integer(1, type), integer(2, truth), integer(3, whole), doubled(4, real)));
    if (type == 1) return truth != 0 ? 1.0 : 0.0;
    return type == 2 ? static_cast<double>(whole) : real;
  }

  Result<void> attribute(pbf_reader r, RawOperation& out) {
    JC_RETURN_IF_ERROR(count());
    RawAttribute raw;
    JC_RETURN_IF_ERROR(attribute_fields(r, raw));
    if (raw.type == kBlock) out.blocks.push_back(raw.block);
    if (raw.type == kBlocks) out.blocks = raw.blocks;
    out.attributes.push_back({raw.name, value_of(raw)});
    return {};
  }

  Result<void> attribute_fields(pbf_reader r, RawAttribute& raw) {
    const auto whole = [&](std::int64_t value) -> Result<void> {
      raw.integers.push_back({value});
      return count();
    };
    const auto blocks = integers(14, [&](std::int64_t value) -> Result<void> {
      raw.blocks.push_back(value);
      return count();
    });
    const auto ints = integers(6, whole);
    const auto bools = integers(11, whole);
    const auto longs = integers(15, whole);
    const auto real = [&](double value) -> Result<void> {
      raw.reals.push_back(value);
      return count();
    };
    const Field float_one{float_field(7), [&](pbf_reader& m) { return real(static_cast<double>(m.get_float())); }};
    const Field float_list{text_field(7), [&](pbf_reader& m) -> Result<void> {
                             for (const float value : m.get_packed_float()) {
                               JC_RETURN_IF_ERROR(real(static_cast<double>(value)));
                             }
                             return {};
                           }};
    const Field double_one{double_field(16), [&](pbf_reader& m) { return real(m.get_double()); }};
    const auto one_scalar = [&](pbf_reader m) -> Result<void> {
      JC_ASSIGN_OR_RETURN(raw.real, scalar(m));
      return {};
    };
    const auto scalars = [&](pbf_reader m) -> Result<void> {
      JC_ASSIGN_OR_RETURN(const double value, scalar(m));
      return real(value);
    };
    return read_fields(r, text(1, raw.name), integer(2, raw.type), integer(3, raw.integer), floating(4, raw.real),
                       text(5, raw.text), ints.first, ints.second, float_one, float_list, integer(10, raw.truth),
                       bools.first, bools.second, integer(12, raw.block), integer(13, raw.integer), blocks.first,
                       blocks.second, longs.first, longs.second, double_one, doubled(19, raw.real),
                       message(20, one_scalar), message(21, scalars));
  }

  std::size_t operations_ = 0, entries_ = 0;
  std::string_view type_;
};

// Names of variables become numbers; a block sees those of the blocks around it.
class Linker {
 public:
  explicit Linker(std::vector<RawBlock>& raw) : raw_(raw), scopes_(raw.size()) {}

  Result<Program> run() {
    out_.by_names = true;
    out_.blocks.resize(raw_.size());
    for (std::size_t i = 0; i < raw_.size(); ++i) {
      auto done = link(i);
      if (!done) return tl::unexpected(std::move(done).error().in(fmt::format("block {}", i)));
    }
    return std::move(out_);
  }

 private:
  Result<void> link(std::size_t place) {
    RawBlock& block = raw_[place];
    if (block.index != static_cast<std::int64_t>(place))
      return invalid(fmt::format("says it is block {}", block.index));
    const bool root = place == 0;
    if (root ? block.parent != kNoParent : block.parent < 0 || block.parent >= block.index) {
      return invalid(fmt::format("is in block {}", block.parent));
    }
    for (Variable& variable : block.variables) {
      const auto [at, fresh] = scopes_[place].emplace(variable.name, static_cast<VariableId>(out_.variables.size()));
      if (!fresh) return invalid(fmt::format("variable '{}' is there twice", printable(variable.name)));
      out_.variables.push_back(std::move(variable));
    }
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
      auto done = link(place, block.operations[i]);
      if (done) continue;
      const auto label = fmt::format("operator {} '{}'", i, printable(block.operations[i].type));
      return tl::unexpected(std::move(done).error().in(label));
    }
    return {};
  }

  Result<void> link(std::size_t place, RawOperation& raw) {
    Operation& op = out_.blocks[place].operations.emplace_back();
    op.type = raw.type;
    op.attributes = std::move(raw.attributes);
    JC_ASSIGN_OR_RETURN(op.inputs, slots(place, raw.inputs));
    JC_ASSIGN_OR_RETURN(op.outputs, slots(place, raw.outputs));
    for (const std::int64_t inner : raw.blocks) {
      const bool inside = inner > 0 && inner < static_cast<std::int64_t>(raw_.size()) &&
                          raw_[static_cast<std::size_t>(inner)].parent == static_cast<std::int64_t>(place);
      if (!inside) return invalid(fmt::format("runs block {}, which is not inside of its own", inner));
      op.blocks.push_back(static_cast<std::uint32_t>(inner));
    }
    return {};
  }

  Result<std::vector<Slot>> slots(std::size_t place, const std::vector<Names>& names) {
    std::vector<Slot> out;
    for (const Names& one : names) {
      Slot& slot = out.emplace_back();
      slot.name = one.slot;
      for (const std::string_view name : one.variables) {
        JC_ASSIGN_OR_RETURN(const VariableId id, find(place, name));
        slot.variables.push_back(id);
      }
    }
    return out;
  }

  Result<VariableId> find(std::size_t place, std::string_view name) {
    if (name == "@EMPTY@") return kNoVariable;
    std::int64_t scope = static_cast<std::int64_t>(place);
    for (std::size_t depth = 0; scope >= 0; ++depth) {
      if (depth > kMaxBlockDepth)
        return unsupported(fmt::format("blocks are nested more than {} deep", kMaxBlockDepth));
      const auto& names = scopes_[static_cast<std::size_t>(scope)];
      if (const auto found = names.find(name); found != names.end()) return found->second;
      scope = raw_[static_cast<std::size_t>(scope)].parent;
    }
    return invalid(fmt::format("variable '{}' is in no block around it", printable(name)));
  }

  std::vector<RawBlock>& raw_;
  std::vector<std::unordered_map<std::string_view, VariableId>> scopes_;
  Program out_;
};

}  // namespace

ElementType element_of(std::int64_t var_type) {
  using enum ElementType;
  constexpr auto kTypes = std::to_array<std::pair<std::int64_t, ElementType>>({{0, kBool},
                                                                               {1, kInt16},
                                                                               {2, kInt32},
                                                                               {3, kInt64},
                                                                               {4, kFloat16},
                                                                               {5, kFloat32},
                                                                               {6, kFloat64},
                                                                               {20, kUInt8},
                                                                               {21, kInt8},
                                                                               {22, kBFloat16},
                                                                               {23, kComplex64},
                                                                               {24, kComplex128},
                                                                               {32, kFloat8E4M3},
                                                                               {33, kFloat8E5M2},
                                                                               {36, kUInt16},
                                                                               {37, kUInt32},
                                                                               {38, kUInt64}});
  const auto* const it =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& one) { return one.first == var_type; });
  return it == kTypes.end() ? kUnknown : it->second;
}

// A block begins with its number, 0, and that of the block around it, -1: ten bytes of a varint.
bool is_program_desc(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.size() < 16 || bytes[0] != '\x0A') return false;
  std::size_t at = 1;
  while (at < 11 && (static_cast<unsigned char>(bytes[at]) & 0x80U) != 0) ++at;
  return bytes.substr(at + 1).starts_with("\x08\x00\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv);
}

Result<Program> read_program_desc(std::string_view bytes) {
  std::vector<RawBlock> blocks;
  Reader reader;
  try {
    JC_RETURN_IF_ERROR(reader.program(pbf_reader(bytes.data(), bytes.size()), blocks));
  } catch (const protozero::exception& e) {  // the one place that third-party exceptions may reach
    return invalid(fmt::format("truncated or corrupted, or no ProgramDesc ({}){}", e.what(), reader.place()));
  }
  if (blocks.empty()) return invalid("has no block: not a program of Paddle, or truncated");
  return Linker(blocks).run();
}

}  // namespace joulecast::paddle
