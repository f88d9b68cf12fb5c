// derived_rows.h against derived.sql, column by column.
#include "schema/derived_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schema/database.h"
#include "schema/sql.h"

namespace tutti::schema {
namespace {

template <typename Row>
class EveryDerivedRow : public testing::Test {};

template <typename Tuple>
struct TypesOf;
template <typename... Rows>
struct TypesOf<std::tuple<Rows...>> {
  using Type = testing::Types<Rows...>;
};
TYPED_TEST_SUITE(EveryDerivedRow, TypesOf<AllDerivedRows>::Type);

const char* SqlTypeOf(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kInteger:
      return "INTEGER";
    case ColumnKind::kReal:
      return "REAL";
    case ColumnKind::kText:
      return "TEXT";
    case ColumnKind::kAny:
      break;
  }
  return "ANY";
}

// cppcheck-suppress syntaxError // it does not know TYPED_TEST
TYPED_TEST(EveryDerivedRow, HasTheColumnsOfItsTable) {
  Database database = *Database::OpenMemory();
  ASSERT_TRUE(database.Execute(std::string(DerivedSql())).ok());
  const RowLayout& layout = LayoutOf<TypeParam>();
  Statement info =
      *database.Prepare("SELECT name, type, \"notnull\" = 0 AND pk = 0 FROM pragma_table_info(?1)");
  ASSERT_TRUE(info.BindAll(layout.table).ok());
  for (const ColumnBinding& column : layout.columns) {
    ASSERT_TRUE(*info.Step()) << layout.table << " has no column " << column.name;
    EXPECT_EQ(*info.Get<std::string>(0), column.name) << layout.table;
    EXPECT_EQ(*info.Get<std::string>(1), SqlTypeOf(column.kind)) << column.name;
    EXPECT_EQ(*info.Get<int64_t>(2) == 1, column.nullable) << layout.table << "." << column.name;
  }
  EXPECT_FALSE(*info.Step()) << layout.table << " has more columns than its struct";
}

TEST(AllDerivedRows, AreAllTables) {
  Database database = *Database::OpenMemory();
  ASSERT_TRUE(database.Execute(std::string(DerivedSql())).ok());
  EXPECT_EQ(*database.QueryOne<int64_t>("SELECT count(*) FROM sqlite_schema WHERE type = 'table'"),
            static_cast<int64_t>(std::tuple_size_v<AllDerivedRows>));
}

}  // namespace
}  // namespace tutti::schema
