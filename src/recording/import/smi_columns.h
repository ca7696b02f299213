// SPDX-License-Identifier: Apache-2.0
// What the columns of nvidia-smi's --query-gpu are.
#pragma once

#include <optional>
#include <string_view>

#include "joulecast/result.h"
#include "recording/channel.h"

namespace joulecast {

enum class SmiRole { kTime, kIndex, kUuid, kPci, kName, kDriver, kValue, kIgnored };

struct SmiColumn {
  SmiRole role = SmiRole::kIgnored;
  std::string_view name;  // without the unit
  // Of values.
  Signal signal = Signal::kPower;
  std::string_view source;
  double factor = 1;  // SI units of 1 where the cell has no unit of its own
};

// Of "power.draw [W]" or "power.draw". Errors: kInvalidInput for a unit that is not the column's.
Result<SmiColumn> smi_column(std::string_view header);
bool is_smi_column(std::string_view header);

// "75.20 W", "0 %", "P8", "0x0000000000000004" in SI units. Errors: kInvalidInput.
Result<double> smi_value(const SmiColumn& column, std::string_view cell);

}  // namespace joulecast
