// SPDX-License-Identifier: Apache-2.0
// The store on both databases. PostgreSQL's cases need a server: $JOULECAST_TEST_POSTGRESQL names an empty database
// (tests/store/with_postgresql.sh starts one); without it they skip.
#include "store/store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "dataset/store_place.h"
#include "store/import.h"
#include "store/read_rows.h"
#include "store/writer.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable =
    "gpu,op,split,dtype,rows,cols,latency_s,torch\n"
    "Tesla T4,add,test,fp32,64,32,0.001,p2.1.0\n"
    "Tesla T4,softmax,train,fp32,64,32,0.002,p2.1.0\n"
    "Tesla P4,ln,test,fp32,64,32,0.003,p2.1.0\n"
    "Tesla P4,ln,test,fp32,64,32,0.003,p2.1.0\n";  // measured twice, with the same result

class StoreTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("joulecast_store_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    if (GetParam() == "sqlite") {
      place_ = folder_ / "test.db";
      return;
    }
    const char* url = std::getenv("JOULECAST_TEST_POSTGRESQL");
    if (url == nullptr) GTEST_SKIP() << "no server: JOULECAST_TEST_POSTGRESQL is not set";
    place_ = url;
    auto database = open_postgresql(place_, Access::kWrite);
    ASSERT_TRUE(database) << database.error().text();
    ASSERT_TRUE((*database)->execute("DROP SCHEMA joulecast CASCADE"));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static Store open(const std::string& place, Access access = Access::kWrite) {
    auto store = Store::open(place, access);
    EXPECT_TRUE(store) << store.error().text();
    return std::move(*store);
  }
  static ImportedTable import(Store& store, const std::string& path) {
    const auto tables = import_tables(store, {path}, [](const ImportedTable&) {});
    EXPECT_TRUE(tables) << tables.error().text();
    return tables ? tables->front() : ImportedTable();
  }
  // All rows with their keys, as one text.
  static std::string contents(Store& store, const RowFilter& filter = {}) {
    std::string out;
    const auto ok = store.read(filter, [&](const StoredRow& row) -> Result<void> {
      out += std::to_string(row.key.high) + " " + std::to_string(row.key.low);
      for (const Column column : all_columns()) out += "|" + cell_text(row.row.cell(column));
      out += "\n";
      return {};
    });
    EXPECT_TRUE(ok) << ok.error().text();
    return out;
  }
  static std::size_t count(Store& store, const RowFilter& filter) {
    std::size_t rows = 0;
    EXPECT_TRUE(store.read(filter, [&](const StoredRow&) -> Result<void> {
      ++rows;
      return {};
    }));
    return rows;
  }

  fs::path folder_;
  std::string place_;
};
INSTANTIATE_TEST_SUITE_P(, StoreTest, testing::Values("sqlite", "postgresql"),
                         [](const auto& database) { return database.param; });

TEST_P(StoreTest, ImportingTwiceChangesNothing) {
  Store store = open(place_);
  const std::string table = file("vec.csv", kTable);
  const ImportedTable first = import(store, table);
  EXPECT_EQ(first.rows, 4U);
  EXPECT_EQ(first.added, 4U);
  const std::string before = contents(store);
  const ImportedTable second = import(store, table);
  EXPECT_EQ(second.rows, 4U);
  EXPECT_EQ(second.added, 0U);
  EXPECT_EQ(contents(store), before);
}

TEST_P(StoreTest, TheSameRowsFromElsewhereAreTheSameRows) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  const std::string other =
      "gpu,op,split,dtype,rows,cols,latency_s,torch\n"
      "Tesla P4,ln,test,fp32,64,32,0.003,p2.1.0\n"    // was there
      "Tesla P4,ln,test,fp32,64,32,0.0031,p2.1.0\n";  // was not
  EXPECT_EQ(import(store, file("other.csv", other)).added, 1U);
}

TEST_P(StoreTest, ABrokenRowIsNamedAndTheRestIsKept) {
  Store store = open(place_);
  const ImportedTable table =
      import(store, file("vec.csv", std::string(kTable) + "Tesla P4,ln,test,fp32,64,x,0.003,p2.1.0\n"
                                                          "too,short\n"
                                                          "Tesla P4,ln,test,fp32,64,32,-1,p2.1.0\n"
                                                          "Tesla P4,tanh,test,fp32,64,32,0.004,p2.1.0\n"
                                                          "Tesla \xFF,tanh,test,fp32,64,32,0.004,p2.1.0\n"));
  EXPECT_EQ(table.rows, 5U);
  EXPECT_EQ(table.broken, 4U);
  ASSERT_EQ(table.broken_lines.size(), 4U);
  EXPECT_EQ(table.broken_lines[0].line, 6U);
  EXPECT_EQ(table.broken_lines[0].reason, "column 'cols': 'x' is not an integer");
  EXPECT_EQ(table.broken_lines[1].line, 7U);
  EXPECT_EQ(table.broken_lines[2].reason, "column 'latency_s': '-1' is not between 1e-09 and 1e+06 s");
  EXPECT_EQ(table.broken_lines[3].reason, "column 'gpu' is no UTF-8 text");
}

TEST_P(StoreTest, ATableThatIsNoneLeavesTheStoreAsItWas) {
  Store store = open(place_);
  const std::string good = file("vec.csv", kTable);
  const std::string bad = file("bad.csv", "a,b\n1,2\n");
  EXPECT_FALSE(import_tables(store, {good, bad}, [](const ImportedTable&) {}));
  EXPECT_EQ(contents(store), "");
}

TEST_P(StoreTest, AWriterThatDoesNotCommitLeavesTheStoreAsItWas) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  const std::string before = contents(store);
  {
    auto writer = StoreWriter::begin(store);
    ASSERT_TRUE(writer) << writer.error().text();
    Measurement row;
    row.set_text(Column::kName, "x");
    row.set_text(Column::kGpu, "a30");
    row.set_real(Column::kTime, 1.0);
    ASSERT_TRUE(writer->add(row, 0));
    ASSERT_TRUE(writer->flush());
  }
  EXPECT_EQ(contents(store), before);
}

TEST_P(StoreTest, RowsComeBackAsTheStructsOfTheTable) {
  Store store = open(place_);
  const std::string table = file("vec.csv", kTable);
  import(store, table);
  std::vector<MeasuredOperation> rows;
  TableSink sink;
  sink.operation = [&](MeasuredOperation row) { rows.push_back(std::move(row)); };
  const auto read = read_rows(place_, {}, sink);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->layout, "neusight_vec");
  const auto direct = read_table(table);
  ASSERT_TRUE(direct);
  ASSERT_EQ(rows.size(), direct->operations.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(measurement(rows[i]), measurement(direct->operations[i])) << i;
    EXPECT_EQ(*rows[i].graph, *direct->operations[i].graph) << i;
  }
  EXPECT_FALSE(read_rows(place_, {"no_such_layout"}, sink));
}

TEST_P(StoreTest, EveryColumnIsKeptExactly) {
  Store store = open(place_);
  Measurement row;
  for (const Column column : all_columns()) {
    // Bytes that need care somewhere: quotes, backslashes, braces, commas, line ends, letters beyond ASCII.
    if (info(column).type == ColumnType::kText) row.set_text(column, "a'b\"c\\d{e},f\ng\tµ NULL $1");
    if (info(column).type == ColumnType::kInteger) row.set_integer(column, std::int64_t{1} << 53);
    if (info(column).type == ColumnType::kReal) row.set_real(column, 0.1 + 0.2);
  }
  auto writer = StoreWriter::begin(store);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add(row, 3));
  ASSERT_TRUE(writer->commit());
  std::vector<StoredRow> read;
  ASSERT_TRUE(store.read({}, [&](const StoredRow& stored) -> Result<void> {
    read.push_back(stored);
    return {};
  }));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].row, row);
  EXPECT_EQ(read[0].occurrence, 3);
}

TEST_P(StoreTest, FiltersChoose) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  const auto rows = [&](auto set) {
    RowFilter filter;
    set(filter);
    return count(store, filter);
  };
  EXPECT_EQ(rows([](RowFilter&) {}), 4U);
  EXPECT_EQ(rows([](RowFilter& f) { f.gpus = {"Tesla T4"}; }), 2U);
  EXPECT_EQ(rows([](RowFilter& f) { f.operators = {"layer_norm", "softmax"}; }), 3U);
  EXPECT_EQ(rows([](RowFilter& f) { f.name_contains = "SoftMax"; }), 1U);
  EXPECT_EQ(rows([](RowFilter& f) { f.name_contains = "s%x"; }), 0U);
  EXPECT_EQ(rows([](RowFilter& f) { f.layouts = {"neusight_vec"}; }), 4U);
  EXPECT_EQ(rows([](RowFilter& f) { f.layouts = {"neusight_gemm"}; }), 0U);
  EXPECT_EQ(rows([](RowFilter& f) { f.with = {Column::kPower}; }), 0U);
  EXPECT_EQ(rows([](RowFilter& f) { f.kind = "network"; }), 0U);
  EXPECT_EQ(rows([](RowFilter& f) { f.limit = 3; }), 3U);
  EXPECT_EQ(rows([](RowFilter& f) { f.gpus = {"x' OR '1'='1"}; }), 0U);
}

TEST_P(StoreTest, CautionsAreChosenAsWholeWords) {
  Store store = open(place_);
  auto writer = StoreWriter::begin(store);
  ASSERT_TRUE(writer);
  for (const char* list : {"", "hot-l2", "coarse-clock,hot-l2", "hot-l2x"}) {
    Measurement row;
    row.set_text(Column::kName, "x");
    row.set_text(Column::kCautions, list);
    ASSERT_TRUE(writer->add(row, 0));
  }
  ASSERT_TRUE(writer->commit());
  RowFilter filter;
  filter.without_cautions = {"hot-l2"};
  EXPECT_EQ(count(store, filter), 2U);
}

TEST_P(StoreTest, SourcesAreCounted) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  const auto sources = store.sources();
  ASSERT_TRUE(sources) << sources.error().text();
  ASSERT_EQ(sources->size(), 1U);
  const SourceSummary& source = sources->front();
  EXPECT_EQ(source.layout, "neusight_vec");
  EXPECT_EQ(source.file, "vec.csv");
  EXPECT_EQ(source.rows, 4U);
  EXPECT_EQ(source.operations, 4U);
  EXPECT_EQ(source.with_time, 4U);
  EXPECT_EQ(source.with_power, 0U);
  const auto gpus = store.gpus();
  ASSERT_TRUE(gpus);
  EXPECT_EQ(*gpus, (std::vector<std::string>{"Tesla P4", "Tesla T4"}));
}

TEST_P(StoreTest, RowsAreCountedByKindWithinOneTable) {
  Store store = open(place_);
  auto writer = StoreWriter::begin(store);
  ASSERT_TRUE(writer);
  std::int64_t network = 0;
  for (const char* kind : {"operation", "network", "network"}) {
    Measurement row;
    row.set_text(Column::kKind, kind);
    row.set_text(Column::kName, "x");
    row.set_text(Column::kLayout, "mixed");
    ASSERT_TRUE(writer->add(row, std::string_view(kind) == "network" ? network++ : 0));
  }
  ASSERT_TRUE(writer->commit());
  const auto sources = store.sources();
  ASSERT_TRUE(sources) << sources.error().text();
  ASSERT_EQ(sources->size(), 1U);
  EXPECT_EQ(sources->front().operations, 1U);
  EXPECT_EQ(sources->front().networks, 2U);
  RowFilter networks;
  networks.kind = "network";
  EXPECT_EQ(count(store, networks), 2U);
}

TEST_P(StoreTest, ATableThatBroughtNothingNewIsNoSource) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  ASSERT_TRUE(store.database().execute("INSERT INTO origins (id, layout, file) VALUES (7, 'another', 'vec.csv')"));
  EXPECT_EQ(store.sources()->size(), 1U);
  const auto layouts = store.layouts();
  ASSERT_TRUE(layouts) << layouts.error().text();
  EXPECT_EQ(*layouts, std::vector<std::string>{"neusight_vec"});
}

TEST_P(StoreTest, MergingJoinsStoresOfBothKinds) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  const std::string whole = contents(store);
  Store other = open(folder_ / "other.db");
  import(other, file("more.csv",
                     "gpu,op,split,dtype,rows,cols,latency_s,torch\n"
                     "Tesla T4,add,test,fp32,64,32,0.001,p2.1.0\n"
                     "Tesla T4,tanh,test,fp32,64,32,0.005,p2.1.0\n"));
  const auto added = merge_stores(other, {&store, 1});
  ASSERT_TRUE(added) << added.error().text();
  EXPECT_EQ(added->front(), 3U);
  const auto back = merge_stores(store, {&other, 1});
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->front(), 1U);
  EXPECT_EQ(count(store, {}), 5U);
  EXPECT_EQ(count(other, {}), 5U);
  EXPECT_EQ(merge_stores(store, {&other, 1})->front(), 0U);
}

TEST_P(StoreTest, CheckFindsWhatWasChanged) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  const auto whole = store.check();
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->rows, 4U);
  EXPECT_EQ(whole->faults, 0U) << whole->complaints.front();
  ASSERT_TRUE(store.database().execute("UPDATE measurements SET time_s = 0.0010000001 WHERE time_s = 0.001"));
  EXPECT_EQ(store.check()->faults, 1U);
  ASSERT_TRUE(store.database().execute("UPDATE measurements SET time_s = 0.001 WHERE time_s = 0.0010000001"));
  EXPECT_EQ(store.check()->faults, 0U);
  ASSERT_TRUE(store.database().execute("UPDATE setups SET gpu = 'Tesla V100' WHERE gpu = 'Tesla P4'"));
  EXPECT_EQ(store.check()->faults, 4U);  // of two rows: their keys and the id of their setup
  ASSERT_TRUE(store.database().execute("UPDATE setups SET gpu = 'Tesla P4' WHERE gpu = 'Tesla V100'"));
  ASSERT_TRUE(store.database().execute("DELETE FROM subjects WHERE operator = 'softmax'"));
  EXPECT_EQ(store.check()->faults, 1U);
}

TEST_P(StoreTest, AViewInATablesPlaceIsRefused) {
  {
    Store store = open(place_);
    ASSERT_TRUE(store.database().execute("ALTER TABLE setups RENAME TO others"));
    ASSERT_TRUE(store.database().execute("CREATE VIEW setups AS SELECT * FROM others"));
  }
  EXPECT_FALSE(Store::open(place_, Access::kRead));
}

// Nor does it go anywhere else: not into a training, a table or another store.
TEST_P(StoreTest, ARowThatWasChangedIsNotRead) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  ASSERT_TRUE(store.database().execute("UPDATE measurements SET time_s = 0.0010000001 WHERE time_s = 0.001"));
  const auto read = store.read({}, [](const StoredRow&) -> Result<void> { return {}; });
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text().find("is not what its key says"), std::string::npos) << read.error().text();
  EXPECT_EQ(store.check()->rows, 4U);
}

// A join would pass over it.
TEST_P(StoreTest, ARowWithoutItsSetupIsNotPassedOver) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  ASSERT_TRUE(store.database().execute("DELETE FROM setups WHERE gpu = 'Tesla P4'"));
  std::size_t rows = 0;
  const auto read = store.read({}, [&](const StoredRow&) -> Result<void> {
    ++rows;
    return {};
  });
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text().find("measurements without their setup; joulecast dataset check"), std::string::npos)
      << read.error().text();
  EXPECT_EQ(rows, 0U);
}

TEST_P(StoreTest, SaysWhichWordsItsRowsHave) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  EXPECT_EQ(store.modes().value(), std::vector<std::string>{"inference"});
  EXPECT_EQ(store.precisions().value(), std::vector<std::string>{"fp32"});
}

TEST_P(StoreTest, ATextLongerThanAnyIsDamage) {
  Store store = open(place_);
  import(store, file("vec.csv", kTable));
  ASSERT_TRUE(store.database().execute("UPDATE measurements SET kernel = '" + std::string(20'000, 'x') + "'"));
  const auto read = store.read({}, [](const StoredRow&) -> Result<void> { return {}; });
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text().find("damaged"), std::string::npos) << read.error().text();
}

TEST_P(StoreTest, AnotherVersionIsRefused) {
  {
    Store store = open(place_);
    ASSERT_TRUE(store.database().execute("UPDATE meta SET value = 'joulecast.store/1'"));
  }
  const auto store = Store::open(place_, Access::kRead);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kUnsupported);
}

TEST(StorePlace, APasswordIsNotShown) {
  const auto store = Store::open("postgresql://me:secret@127.0.0.1:1/none?password=secret", Access::kRead);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().text().find("secret"), std::string::npos) << store.error().text();
  EXPECT_NE(store.error().text().find("postgresql://me@127.0.0.1:1/none"), std::string::npos) << store.error().text();
}

TEST(StorePlace, APlaceIsShownWithoutItsPassword) {
  EXPECT_EQ(shown_place("postgresql://me:se/c@ret@host:1/db?password=x"), "postgresql://me@host:1/db");
  EXPECT_EQ(shown_place("postgres://host/db?password=x"), "postgres://host/db");
  EXPECT_EQ(shown_place("postgresql://me:pa?ss@host:1/db"), "postgresql://me@host:1/db");
  EXPECT_EQ(shown_place("postgresql://me@host/db"), "postgresql://me@host/db");
  EXPECT_EQ(shown_place("folder/a:b@c.db?d"), "folder/a:b@c.db?d");
}

TEST(StorePlace, FilesThatAreNoStoreAreRefused) {
  const fs::path folder = fs::temp_directory_path() / ("joulecast_no_store_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "text.db") << std::string(4096, 'x');
  std::ofstream(folder / "empty.db") << "";
  for (const char* name : {"text.db", "empty.db", "absent.db", "."}) {
    EXPECT_FALSE(Store::open(folder / name, Access::kRead)) << name;
  }
  EXPECT_FALSE(Store::open(folder / "text.db", Access::kWrite));
  EXPECT_FALSE(Store::open("", Access::kWrite));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace joulecast
