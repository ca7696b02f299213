// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/pickle_names.h"

#include <algorithm>
#include <array>

namespace joulecast::torchscript {
namespace {

struct StorageName {
  std::string_view name;
  ElementType element;
};

constexpr std::array kStorages{
    StorageName{"BFloat16Storage", ElementType::kBFloat16},
    StorageName{"BoolStorage", ElementType::kBool},
    StorageName{"ByteStorage", ElementType::kUInt8},
    StorageName{"CharStorage", ElementType::kInt8},
    StorageName{"ComplexDoubleStorage", ElementType::kComplex128},
    StorageName{"ComplexFloatStorage", ElementType::kComplex64},
    StorageName{"DoubleStorage", ElementType::kFloat64},
    StorageName{"Float8_e4m3fnStorage", ElementType::kFloat8E4M3},
    StorageName{"Float8_e5m2Storage", ElementType::kFloat8E5M2},
    StorageName{"FloatStorage", ElementType::kFloat32},
    StorageName{"HalfStorage", ElementType::kFloat16},
    StorageName{"IntStorage", ElementType::kInt32},
    StorageName{"LongStorage", ElementType::kInt64},
    StorageName{"QInt32Storage", ElementType::kInt32},
    StorageName{"QInt8Storage", ElementType::kInt8},
    StorageName{"QUInt8Storage", ElementType::kUInt8},
    StorageName{"ShortStorage", ElementType::kInt16},
};

struct KnownGlobal {
  std::string_view module, name;
};

// What torch/csrc/jit/serialization/pickler.cpp writes, besides classes and storages.
constexpr std::array kGlobals{
    KnownGlobal{"collections", "OrderedDict"},
    KnownGlobal{"torch", "device"},
    KnownGlobal{"torch", "per_channel_affine"},
    KnownGlobal{"torch", "per_tensor_affine"},
    KnownGlobal{"torch._utils", "_rebuild_parameter"},
    KnownGlobal{"torch._utils", "_rebuild_qtensor"},
    KnownGlobal{"torch._utils", "_rebuild_tensor_v2"},
    KnownGlobal{"torch.jit._pickle", "build_boollist"},
    KnownGlobal{"torch.jit._pickle", "build_doublelist"},
    KnownGlobal{"torch.jit._pickle", "build_intlist"},
    KnownGlobal{"torch.jit._pickle", "build_tensorlist"},
    KnownGlobal{"torch.jit._pickle", "restore_type_tag"},
};

}  // namespace

std::optional<ElementType> element_of_storage(std::string_view name) {
  const auto* const it =
      std::find_if(kStorages.begin(), kStorages.end(), [&](const StorageName& s) { return s.name == name; });
  return it == kStorages.end() ? std::nullopt : std::optional(it->element);
}

bool is_known_global(std::string_view module, std::string_view name) {
  if (module.starts_with("__torch__")) return true;
  if (module == "torch" && element_of_storage(name)) return true;
  return std::any_of(kGlobals.begin(), kGlobals.end(),
                     [&](const KnownGlobal& g) { return g.module == module && g.name == name; });
}

}  // namespace joulecast::torchscript
