// rows.h against raw.sql, column by column, and every table written and read back.
#include "schema/rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schema/batch.h"
#include "schema/database.h"
#include "schema/reader.h"
#include "schema/sql.h"

namespace tutti::schema {
namespace {

template <typename Row>
class EveryRow : public testing::Test {
 protected:
  void SetUp() override {
    Result<Database> database = Database::OpenMemory();
    ASSERT_TRUE(database.ok());
    database_.emplace(std::move(database).value());
    ASSERT_TRUE(database_->Execute(std::string(RawSql())).ok());
  }
  std::optional<Database> database_;
};

template <typename Tuple>
struct TypesOf;
template <typename... Rows>
struct TypesOf<std::tuple<Rows...>> {
  using Type = testing::Types<Rows...>;
};
TYPED_TEST_SUITE(EveryRow, TypesOf<AllRawRows>::Type);

struct SqlColumn {
  std::string name;
  std::string type;
  bool nullable;
};

std::vector<SqlColumn> ColumnsOf(Database& database, std::string_view table) {
  std::vector<SqlColumn> columns;
  Statement info =
      *database.Prepare("SELECT name, type, \"notnull\" = 0 AND pk = 0 FROM pragma_table_info(?1)");
  EXPECT_TRUE(info.BindAll(table).ok());
  while (*info.Step()) {
    columns.push_back(
        {*info.Get<std::string>(0), *info.Get<std::string>(1), *info.Get<int64_t>(2) == 1});
  }
  return columns;
}

std::string SqlTypeOf(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kInteger:
      return "INTEGER";
    case ColumnKind::kReal:
      return "REAL";
    case ColumnKind::kText:
      return "TEXT";
    case ColumnKind::kAny:
      return "ANY";
  }
  return "";
}

// cppcheck-suppress syntaxError // it does not know TYPED_TEST
TYPED_TEST(EveryRow, HasTheColumnsOfItsTable) {
  const RowLayout& layout = LayoutOf<TypeParam>();
  const std::vector<SqlColumn> columns = ColumnsOf(*this->database_, layout.table);
  ASSERT_EQ(columns.size(), layout.columns.size()) << layout.table;
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnBinding& binding = layout.columns[i];
    EXPECT_EQ(binding.name, columns[i].name) << layout.table;
    EXPECT_EQ(SqlTypeOf(binding.kind), columns[i].type) << layout.table << "." << binding.name;
    EXPECT_EQ(binding.nullable, columns[i].nullable) << layout.table << "." << binding.name;
  }
}

// A value that differs from column to column, so that mixed-up columns are found.
void Fill(int64_t& field, int64_t seed) { field = seed; }
void Fill(std::string& field, int64_t seed) { field = "text " + std::to_string(seed); }
void Fill(Value& field, int64_t seed) { field = static_cast<double>(seed) / 4; }
template <typename T>
void Fill(std::optional<T>& field, int64_t seed) {
  Fill(field.emplace(), seed);
}

// Columns that a CHECK limits get a value that it allows.
void Allow(RangeRow& row) { row.kind = "start_end"; }
void Allow(FlowRow& row) { row.kind = "other"; }
void Allow(CollectiveSourceRow& row) { row.state = "started"; }
void Allow(CounterRow& row) { row.kind = "gauge"; }
void Allow(MemoryEventRow& row) { row.is_oom = 1; }
void Allow(TraceStatRow& row) { row.severity = "notice"; }
template <typename Row>
void Allow(Row&) {}

template <typename Row>
Row FullRow() {
  Row row;
  int64_t seed = (int64_t{1} << 53) + 1;  // a double could not hold it
  std::apply([&](const auto&... field) { (Fill(row.*field.member, ++seed), ...); }, Row::Columns());
  Allow(row);
  return row;
}

template <typename Row>
bool Equal(const Row& a, const Row& b) {
  return std::apply(
      [&](const auto&... field) { return ((a.*field.member == b.*field.member) && ...); },
      Row::Columns());
}

TYPED_TEST(EveryRow, ComesBackAsItWasWritten) {
  const std::vector<TypeParam> rows = {FullRow<TypeParam>()};
  BatchInserter<TypeParam> inserter = *BatchInserter<TypeParam>::Make(*this->database_);
  const Result<int64_t> rejected = inserter.Insert(rows);
  ASSERT_TRUE(rejected.ok()) << rejected.status().message();
  EXPECT_EQ(*rejected, 0);
  const Result<std::vector<TypeParam>> read = ReadAll<TypeParam>(*this->database_);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), 1u);
  EXPECT_TRUE(Equal(read->front(), rows.front()));
}

TYPED_TEST(EveryRow, ComesBackWithItsNulls) {
  TypeParam row;
  Allow(row);
  BatchInserter<TypeParam> inserter = *BatchInserter<TypeParam>::Make(*this->database_);
  EXPECT_EQ(*inserter.Insert(std::vector<TypeParam>{row}), 0);
  const std::vector<TypeParam> read = *ReadAll<TypeParam>(*this->database_);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_TRUE(Equal(read.front(), row));
}

TYPED_TEST(EveryRow, IsRefusedOrReplacedWhenItsKeyIsThereAlready) {
  std::vector<TypeParam> rows = {FullRow<TypeParam>(), FullRow<TypeParam>()};
  BatchInserter<TypeParam> inserter = *BatchInserter<TypeParam>::Make(*this->database_);
  const Result<int64_t> rejected = inserter.Insert(rows);
  ASSERT_TRUE(rejected.ok()) << rejected.status().message();
  const bool has_key =
      *this->database_->template QueryOne<int64_t>(
          "SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0", TypeParam::kTable) > 0;
  EXPECT_EQ(*rejected, has_key && !TypeParam::kKeyed ? 1 : 0);
  EXPECT_EQ(ReadAll<TypeParam>(*this->database_)->size(), has_key ? 1u : 2u);
  EXPECT_TRUE(has_key || !TypeParam::kKeyed) << "a keyed row needs a primary key";
}

TEST(AllRawRows, AreAllTablesOfTheSql) {
  Database database = *Database::OpenMemory();
  ASSERT_TRUE(database.Execute(std::string(RawSql())).ok());
  EXPECT_EQ(*database.QueryOne<int64_t>("SELECT count(*) FROM sqlite_schema WHERE type = 'table'"),
            static_cast<int64_t>(std::tuple_size_v<AllRawRows>));
}

}  // namespace
}  // namespace tutti::schema
