// SPDX-License-Identifier: Apache-2.0
#include "dataset/measurement.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dataset/cautions.h"
#include "dataset/details.h"

namespace joulecast {
namespace {

// Every field of a row set to something that is not its default.
MeasuredOperation full_operation() {
  MeasuredOperation row;
  row.graph = std::make_shared<const Graph>(linear_operation(64, 32, 16, ElementType::kFloat32, true));
  row.at = {.gpu = "a30",
            .gpu_label = "a30-no-tensor-cores",
            .mode = Mode::kTraining,
            .precision = Precision::kTf32,
            .runtime = Runtime::kPytorchEager,
            .software = "pytorch 2.5",
            .power_limit = Watts{150.0},
            .sm_clock = Hertz{1.2e9},
            .memory_clock = Hertz{1.215e9},
            .mig_profile = "1g.6gb",
            .scope = PowerScope::kHost,
            .campaign = "second",
            .low_power = true};
  row.readings = {.time = Seconds{1.0 / 3.0},
                  .time_std = Seconds{0.01},
                  .time_error = Seconds{0.001},
                  .power = Watts{150.0},
                  .power_std = Watts{2.0},
                  .power_error = Watts{0.2},
                  .energy = Joules{50.0},
                  .energy_std = Joules{1.0},
                  .energy_error = Joules{0.1},
                  .memory = Bytes{1e9},
                  .memory_error = Bytes{1e6},
                  .memory_kind = "smi",
                  .memory_relation = MemoryRelation::kAtMost,
                  .repeats = 100};
  row.from = {.table = "heidelberg_operations",
              .file = "heidelberg_operations.csv",
              .line = 7,
              .part = 1,
              .origin = std::make_shared<const Origin>(Origin{"somebody/repository", "MIT", "by hand"}),
              .upstream = "log@1:2",
              .primary = false,
              .anomaly = "power-unsteady,low-power-state",
              .split = "test"};
  row.label = "Linear(16, 32)";
  row.group = "linear 64x16";
  row.kernel = "sgemm";
  row.inplace = row.train_state_module = row.gradients_accumulated = row.inputs_skipped = true;
  row.input_gradient = false;
  row.details = "seed=7; input_gradient=0";
  row.weight_copies = 5;
  return row;
}

template <typename Row>
Row delivered(const Measurement& flat) {
  std::optional<Row> out;
  TableSink sink;
  const auto take = [&](auto row) {
    if constexpr (std::is_same_v<decltype(row), Row>) out = std::move(row);
  };
  sink.operation = take;
  sink.network = take;
  sink.other = take;
  OperationPool pool;
  const auto ok = deliver(flat, pool, sink);
  EXPECT_TRUE(ok) << (ok ? "" : ok.error().text());
  EXPECT_TRUE(out.has_value());
  return out.value_or(Row{});
}

TEST(Measurement, AnOperationComesBackWithEverything) {
  const MeasuredOperation row = full_operation();
  const Measurement flat = measurement(row);
  const auto again = delivered<MeasuredOperation>(flat);
  EXPECT_EQ(*again.graph, *row.graph);
  EXPECT_EQ(measurement(again), flat);
  EXPECT_EQ(again.at.low_power, true);
  EXPECT_FALSE(again.input_gradient) << "one of several details";
  EXPECT_EQ(again.readings.time->value(), 1.0 / 3.0);
  // No column was forgotten: what is not of an operation is all that is empty.
  for (const Column column : all_columns()) {
    const bool of_networks = column == Column::kBatch || column == Column::kImageSize || column == Column::kChannels ||
                             column == Column::kSequenceLength || column == Column::kPer ||
                             column == Column::kOptimizer || column == Column::kAttributes;
    EXPECT_EQ(std::holds_alternative<std::monostate>(flat.cell(column)), of_networks) << info(column).name;
  }
}

TEST(Measurement, ANetworkComesBackWithEverything) {
  MeasuredNetwork row;
  row.at = full_operation().at;
  row.readings = full_operation().readings;
  row.from = full_operation().from;
  row.model = "resnet50";
  row.batch = 32;
  row.image_size = 224;
  row.channels = 3;
  row.sequence_length = 128;
  row.optimizer = "sgd";
  row.gpu_count = 4;
  row.compiled = row.channels_last = row.kernels_alone = row.norms_in_halves = true;
  row.details = "layers=24";
  const Measurement flat = measurement(row);
  EXPECT_EQ(measurement(delivered<MeasuredNetwork>(flat)), flat);
  EXPECT_EQ(flat.text(Column::kState), "compiled,channels-last,kernels-alone,norms-in-halves");
}

TEST(Measurement, WhatIsNoStepOfOursComesBackAsAnother) {
  MeasuredOther row;
  row.at.gpu = "h100";
  row.readings.energy = Joules{0.5};
  row.model = "llama";
  row.network = true;
  row.per = "token";
  row.precision = "nvfp4";
  const Measurement flat = measurement(row);
  const auto again = delivered<MeasuredOther>(flat);
  EXPECT_EQ(measurement(again), flat);
  EXPECT_EQ(again.precision, "nvfp4");
  EXPECT_EQ(again.mode, "");
}

// A row of the file format, a cell at a time.
Result<void> parsed(const std::vector<std::pair<Column, std::string_view>>& cells) {
  Measurement m;
  for (const auto& [column, text] : cells) JC_RETURN_IF_ERROR(m.parse(column, text));
  OperationPool pool;
  return deliver(m, pool, {});
}

TEST(Measurement, SaysWhatIsWrongWithARow) {
  using C = Column;
  const auto complaint = [](const std::vector<std::pair<Column, std::string_view>>& cells) {
    const auto ok = parsed(cells);
    return ok ? std::string() : ok.error().text();
  };
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "1"}}), "");
  EXPECT_EQ(complaint({{C::kGpu, "a30"}, {C::kTime, "1"}}), "column 'name': '' is missing");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kTime, "1"}}), "column 'gpu': '' is missing");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}}), "no reading of time, power, energy or memory");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "0"}}), "column 'time_s': '0' is not above 0");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "1"}, {C::kTimeError, "-1"}}),
            "column 'time_se_s': '-1' is negative");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "1e7"}}),
            "column 'time_s': '10000000' is not between 1e-09 and 1e+06 s");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "1e7"}, {C::kPer, "training run"}}), "");
  EXPECT_EQ(complaint({{C::kTime, "1e999"}}), "column 'time_s': '1e999' is not a number");
  EXPECT_EQ(complaint({{C::kTime, "nan"}}), "column 'time_s': 'nan' is not a number");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "1"}, {C::kRuntime, "tensorrt"}}),
            "column 'runtime': 'tensorrt' is no runtime of ours; name it under 'software'");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "1"}, {C::kGpuCount, "0"}}),
            "column 'gpu_count': '0' is not a possible number");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "1"}, {C::kState, "compiled,channels-last"}}), "");
  EXPECT_EQ(complaint({{C::kName, "x"}, {C::kGpu, "a30"}, {C::kTime, "1"}, {C::kState, "compiled,channels_last"}}),
            "column 'state': 'compiled,channels_last' has a word that is none of inplace, train-state-module, "
            "gradients-accumulated, inputs-skipped, compiled, channels-last, kernels-alone, norms-in-halves");
  EXPECT_EQ(complaint({{C::kKind, "table"}}), "column 'kind': 'table' is neither operation nor network");
}

// What the other kind of rows has would be lost, and an operation that was timed four at once or for an epoch be taken
// for one.
TEST(Measurement, CellsOfTheOtherKindAreComplaints) {
  using C = Column;
  const auto complaint = [](bool operation, Column column, std::string_view text) {
    std::vector<std::pair<Column, std::string_view>> cells{{C::kName, "x"},         {C::kGpu, "a30"},
                                                           {C::kTime, "1"},         {C::kMode, "training"},
                                                           {C::kPrecision, "fp32"}, {column, text}};
    if (operation) cells.insert(cells.end(), {{C::kOperator, "activation"}, {C::kOperands, "f32[32]"}});
    const auto ok = parsed(cells);
    return ok ? std::string() : ok.error().text();
  };
  for (const auto& [column, text] : {std::pair{C::kBatch, "32"},
                                     {C::kImageSize, "224"},
                                     {C::kChannels, "3"},
                                     {C::kSequenceLength, "128"},
                                     {C::kOptimizer, "adam"},
                                     {C::kPer, "epoch"}}) {
    EXPECT_EQ(
        complaint(true, column, text),
        fmt::format("column '{}': '{}' is of a network, and stands in a row of an operation", info(column).name, text));
    EXPECT_EQ(complaint(false, column, text), "");
  }
  EXPECT_EQ(complaint(true, C::kGpuCount, "4"), "column 'gpu_count': '4' is not 1 in a row of an operation");
  EXPECT_EQ(complaint(true, C::kGpuCount, "1"), "");
  EXPECT_EQ(complaint(true, C::kState, "compiled"), "column 'state': 'compiled' says 'compiled' of an operation");
  EXPECT_EQ(complaint(false, C::kState, "inplace"), "column 'state': 'inplace' says 'inplace' of a network");
  for (const auto& [column, text] :
       {std::pair{C::kOperationGroup, "g"}, {C::kKernel, "sgemm"}, {C::kWeightCopies, "5"}}) {
    EXPECT_NE(complaint(false, column, text).find("is of an operation, and stands in a row of a network"),
              std::string::npos);
    EXPECT_EQ(complaint(true, column, text), "");
  }
  EXPECT_EQ(complaint(true, C::kDetails, "seed=7"), "");
  EXPECT_NE(complaint(true, C::kDetails, "seed"), "");
}

TEST(Measurement, OutOfMemoryIsAReading) {
  EXPECT_TRUE(parsed({{Column::kName, "x"}, {Column::kGpu, "a30"}, {Column::kMemoryRelation, ">"}}));
  EXPECT_FALSE(parsed({{Column::kName, "x"}, {Column::kGpu, "a30"}, {Column::kMemoryRelation, "<="}}));
}

TEST(Cautions, AreAddedOnceAndFoundAsWholeWords) {
  std::string list;
  add_caution(list, "hot-l2");
  add_caution(list, "coarse-clock");
  add_caution(list, "hot-l2");
  EXPECT_EQ(list, "hot-l2,coarse-clock");
  EXPECT_TRUE(has_caution("power-unsteady;hot-l2", "hot-l2"));
  EXPECT_FALSE(has_caution("hot-l2x", "hot-l2"));
  EXPECT_EQ(find_caution("no-such"), nullptr);
}

TEST(Cautions, AreAllInTheirDocument) {
  std::ifstream file(std::string(JOULECAST_SOURCE_DIR) + "/docs/formats/cautions.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view kSpoiled[] = {"", "time", "power, energy", "time, power, energy", "memory", "all"};
  for (const Caution& caution : cautions()) {
    const std::string row = "| `" + std::string(caution.word) + "` | " +
                            std::string(kSpoiled[static_cast<std::size_t>(caution.spoils)]) + " | " +
                            std::string(caution.meaning) + " |\n";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(Details, EscapeWhatWouldEndThem) {
  std::string details;
  add_detail(details, "a=b", "x;y");
  add_detail(details, "empty", " ");
  add_detail(details, "c", "100%\n");
  EXPECT_EQ(details, "a%3Db=x%3By; c=100%25%0A");
  const auto parsed = parse_details(details);
  ASSERT_TRUE(parsed);
  const std::vector<std::pair<std::string, std::string>> expected = {{"a=b", "x;y"}, {"c", "100%\n"}};
  EXPECT_EQ(*parsed, expected);
  EXPECT_FALSE(parse_details("x"));
  EXPECT_FALSE(parse_details("=x"));
  EXPECT_FALSE(parse_details("x=%4"));
}

}  // namespace
}  // namespace joulecast
