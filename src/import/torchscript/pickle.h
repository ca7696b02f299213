// SPDX-License-Identifier: Apache-2.0
// Pickles of TorchScript archives as data. Nothing is ever called: the few functions that PyTorch's serializer names
// (rebuild a tensor, a typed list) are known by what they stand for, every other name is an error.
//
//   JC_ASSIGN_OR_RETURN(const Pickle pickle, Pickle::read(bytes));
//   const PickleValue* weight = pickle.attribute(pickle.root(), "weight");
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/tensor.h"

namespace joulecast::torchscript {

enum class PickleKind : std::uint8_t {
  kNone,
  kBool,
  kInteger,
  kReal,
  kText,
  kList,
  kTuple,
  kDict,     // items: key, value, key, value, ...
  kGlobal,   // text: module, name
  kObject,   // name: the class "__torch__.Net"; items: its state where it has one
  kStorage,  // text: the member of the archive that holds it
  kTensor,   // whole: which of tensors()
  kOther,    // devices, quantizers: what no importer looks at
};

using PickleId = std::uint32_t;

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  ElementType element = ElementType::kUnknown;  // of storages
  std::int64_t whole = 0;                       // integers and bools; elements of storages
  double real = 0.0;
  std::string_view text{}, name{};
  std::pmr::vector<PickleId> items{};
};

struct PickleTensor {
  std::string_view storage{};
  std::int64_t offset = 0;  // in elements
  TensorType type{};
  Shape strides{};  // one an axis
};

// Borrows the bytes it is read from.
class Pickle {
 public:
  // Errors name the place: kInvalidInput for bytes that are no pickle and names that no TorchScript file has;
  // kUnsupported beyond 4 million values.
  static Result<Pickle> read(std::string_view bytes);

  [[nodiscard]] PickleId root() const { return root_; }
  [[nodiscard]] const PickleValue& value(PickleId id) const { return values_[id]; }
  [[nodiscard]] const PickleTensor& tensor(const PickleValue& value) const {
    return tensors_[static_cast<std::size_t>(value.whole)];
  }
  // Of an object's state or a dict; nullptr where there is none.
  [[nodiscard]] const PickleValue* attribute(PickleId id, std::string_view name) const;
  // The items of an object's state that is a dict: name, value, ...; of others empty.
  [[nodiscard]] std::span<const PickleId> attributes(PickleId id) const;

  Pickle(Pickle&&) = default;
  Pickle& operator=(Pickle&&) = delete;  // would free what the values lie in before them
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;
  ~Pickle() = default;

 private:
  friend class PickleReader;
  Pickle() = default;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_;  // of the values' items
  std::vector<PickleValue> values_;
  std::vector<PickleTensor> tensors_;
  PickleId root_ = 0;
};

}  // namespace joulecast::torchscript
