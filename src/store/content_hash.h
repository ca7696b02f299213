// SPDX-License-Identifier: Apache-2.0
// What a store calls things by: hashes of their content (XXH3, https://github.com/Cyan4973/xxHash/blob/v0.8.1/doc/).
#pragma once

#include <cstdint>
#include <functional>

#include "dataset/measurement.h"

namespace joulecast {

// Signed, as databases have it.
struct RowKey {
  std::int64_t high = 0, low = 0;

  bool operator==(const RowKey&) const = default;
};

// Of all columns that are a measurement's identity.
RowKey identity_hash(const Measurement& row);
// The key of the n-th row of that identity, from 0 on: a table may have measured the same value twice.
RowKey row_key(const RowKey& identity, std::int64_t occurrence);
// Of the columns of one home. Requires: not kRow.
std::int64_t home_id(const Measurement& row, ColumnHome home);

}  // namespace joulecast

template <>
struct std::hash<joulecast::RowKey> {
  std::size_t operator()(const joulecast::RowKey& key) const noexcept { return static_cast<std::size_t>(key.low); }
};
