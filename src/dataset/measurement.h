// SPDX-License-Identifier: Apache-2.0
// One measurement as a flat record: the columns of docs/formats/measurements.md, which are those of the store too. They
// are said once, here and in measurement.cpp; files, databases and hashes walk the list.
//
//   Measurement m = measurement(operation);
//   m.text(Column::kGpu);
//   JC_RETURN_IF_ERROR(deliver(m, pool, sink));  // as the struct it came from
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "dataset/measured.h"
#include "dataset/operation.h"
#include "dataset/table.h"
#include "joulecast/result.h"

namespace joulecast {

enum class Column : std::uint8_t {
  // What ran.
  kKind,
  kName,
  kOperationGroup,
  kOperator,
  kOperands,
  kAttributes,
  kBatch,
  kImageSize,
  kChannels,
  kSequenceLength,
  kPer,
  kDetails,
  // Under what.
  kGpu,
  kGpuLabel,
  kGpuCount,
  kMigProfile,
  kSmClock,
  kMemoryClock,
  kPowerLimit,
  kMode,
  kPrecision,
  kRuntime,
  kSoftware,
  kOptimizer,
  kState,
  kWeightCopies,
  kPowerScope,
  kCampaign,
  kSplit,
  // Where it comes from.
  kLayout,
  kFile,
  kSource,
  kLicence,
  kProtocol,
  // What was read.
  kLine,
  kPart,
  kUpstream,
  kKernel,
  kIsPrimary,
  kCautions,
  kTime,
  kTimeStd,
  kTimeError,
  kPower,
  kPowerStd,
  kPowerError,
  kEnergy,
  kEnergyStd,
  kEnergyError,
  kMemory,
  kMemoryError,
  kMemoryKind,
  kMemoryRelation,
  kRepeats,
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::kRepeats) + 1;

enum class ColumnType : std::uint8_t { kText, kInteger, kReal };
// Columns of one home change together; a store keeps each different set of the first three once.
enum class ColumnHome : std::uint8_t { kSubject, kSetup, kOrigin, kRow };

struct ColumnInfo {
  std::string_view name;
  ColumnType type = ColumnType::kText;
  ColumnHome home = ColumnHome::kRow;
  // False for where a row stands in a file: the same measurement from elsewhere is the same measurement.
  bool identity = true;
};
const ColumnInfo& info(Column column);
std::optional<Column> find_column(std::string_view name);
const std::array<Column, kColumns>& all_columns();

// Longer texts are refused: no table we know comes near.
inline constexpr std::size_t kMaxCellText = 16'384;

class Measurement {
 public:
  // Absent: monostate. A text that is not stated is absent.
  using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

  [[nodiscard]] const Cell& cell(Column column) const { return cells_[static_cast<std::size_t>(column)]; }
  [[nodiscard]] const std::string& text(Column column) const;
  [[nodiscard]] std::optional<std::int64_t> integer(Column column) const;
  [[nodiscard]] std::optional<double> real(Column column) const;

  // Requires: the column's type. An empty text or optional is absent.
  void set_text(Column column, std::string_view value);
  void set_integer(Column column, std::optional<std::int64_t> value);
  void set_real(Column column, std::optional<double> value);
  // From what a file says. Errors: kInvalidInput for what is not of the column's type.
  Result<void> parse(Column column, std::string_view value);
  void clear() { cells_.fill(Cell()); }

  bool operator==(const Measurement&) const = default;

 private:
  std::array<Cell, kColumns> cells_;
};

// The cell as a file holds it; numbers read back as themselves.
std::string cell_text(const Measurement::Cell& cell);

Measurement measurement(const MeasuredOperation& row);
Measurement measurement(const MeasuredNetwork& row);
Measurement measurement(const MeasuredOther& row);

// Errors: kInvalidInput for a row without name, GPU or reading, and for numbers out of range.
Result<void> check_values(const Measurement& row);

// Hands the row to the sink as the struct it is: an operation where it names one of our operators, a network where it
// is one step of a whole network with words we know, otherwise as another. Errors: those of check_values(),
// kInvalidInput for words that are none of ours and for operations that are none.
Result<void> deliver(const Measurement& row, OperationPool& pool, const TableSink& sink);

}  // namespace joulecast
