// SPDX-License-Identifier: Apache-2.0
// Layouts as files: tests/data/tables/<case>/table.csv and what is read from it, in `expected`. With JOULECAST_GOLDEN
// set the expected files are written anew; read the diff.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "dataset/audit.h"
#include "dataset/measurement.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = fs::path(JOULECAST_SOURCE_DIR) / "tests/data/tables";
const fs::path kSeeds = fs::path(JOULECAST_SOURCE_DIR) / "fuzz/seeds/table";

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string row_text(const Measurement& row) {
  std::string out = fmt::format("line {}, part {}\n", *row.integer(Column::kLine), *row.integer(Column::kPart));
  for (const Column column : all_columns()) {
    const ColumnHome home = info(column).home;
    if (home == ColumnHome::kOrigin || column == Column::kLine || column == Column::kPart) continue;
    const std::string text = cell_text(row.cell(column));
    if (!text.empty()) out += fmt::format("  {} {}\n", info(column).name, text);
  }
  const auto ok = check_values(row);
  return ok ? out : out + fmt::format("  refused: {}\n", ok.error().text());
}

// Everything a store would be told of the table.
std::string read(const fs::path& path) {
  std::string out;
  Auditor auditor;
  TableSink sink;
  sink.operation = [&](MeasuredOperation row) {
    auditor.audit(row);
    out += row_text(measurement(row));
  };
  sink.network = [&](const MeasuredNetwork& row) { out += row_text(measurement(row)); };
  sink.other = [&](const MeasuredOther& row) { out += row_text(measurement(row)); };
  sink.unmapped = [&](const UnmappedLine& line) {
    out += fmt::format("line {} {}: {}\n", line.line,
                       line.code == ErrorCode::kUnsupported ? "is left out" : "is broken", line.reason);
  };
  const auto table = parse_table(contents(path), "table.csv", sink);
  if (!table) return "error: " + table.error().text() + "\n";
  return "layout " + table->layout + "\n" + out;
}

std::vector<std::string> cases() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(kCases)) out.push_back(entry.path().filename());
  std::sort(out.begin(), out.end());
  return out;
}

class LayoutCase : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, LayoutCase, testing::ValuesIn(cases()), [](const auto& one) { return one.param; });

TEST_P(LayoutCase, IsReadAsExpected) {
  const fs::path folder = kCases / GetParam();
  const std::string found = read(folder / "table.csv");
  if (std::getenv("JOULECAST_GOLDEN") != nullptr) std::ofstream(folder / "expected", std::ios::binary) << found;
  EXPECT_EQ(found, contents(folder / "expected"));
}

TEST(LayoutCases, NoLayoutIsWithoutOne) {
  std::set<std::string> seen;
  const auto add = [&](const fs::path& path) {
    const auto layout = recognise_table(path);
    if (layout) seen.emplace(*layout);
  };
  for (const std::string& name : cases()) add(kCases / name / "table.csv");
  for (const auto& entry : fs::directory_iterator(kSeeds)) add(entry.path());
  for (const std::string_view layout : table_layouts()) EXPECT_TRUE(seen.contains(std::string(layout))) << layout;
}

}  // namespace
}  // namespace joulecast
