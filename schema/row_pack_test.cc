#include "schema/row_pack.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "schema/reader.h"

namespace tutti::schema {
namespace {

struct ThingRow {
  int64_t id = 0;
  std::optional<int64_t> number = {};
  std::optional<double> real = {};
  std::string text = {};
  std::optional<std::string> word = {};
  std::optional<Value> any = {};
  TUTTI_ROW(ThingRow, "thing", id, number, real, text, word, any)
  friend bool operator==(const ThingRow&, const ThingRow&) = default;
};

constexpr const char* kThing =
    "CREATE TABLE thing(id INTEGER PRIMARY KEY, number INTEGER, real REAL, text TEXT NOT NULL,"
    " word TEXT, any ANY) STRICT";

const std::vector<ThingRow>& Things() {
  static const std::vector<ThingRow> things = {
      {1, {}, {}, "", {}, {}},
      {2, std::numeric_limits<int64_t>::min(), -0.1, "it's \"this\"", "", Value(int64_t{7})},
      {3, 0, 1e300, std::string("a\nb"), "w", Value(0.5)},
      {4, -1, 0.0, "\xc3\xa9", "w", Value(std::string("text"))},
      {5, 1, 3.0, "x", {}, Value(Blob{std::string("\0\xff", 2)})},
  };
  return things;
}

std::string Packed() {
  Packer packer;
  packer.AddRows(LayoutOf<ThingRow>(), Things().data(), 2);
  packer.AddRows(LayoutOf<ThingRow>(), Things().data() + 2, 3);
  return packer.bytes();
}

Database WithTable() {
  Database database = *Database::OpenMemory();
  EXPECT_TRUE(database.Execute(kThing).ok());
  return database;
}

TEST(RowPack, RowsComeOutAsTheyWentIn) {
  Database database = WithTable();
  const Result<int64_t> inserted = InsertPacked(database, Packed());
  ASSERT_TRUE(inserted.ok()) << inserted.status().message();
  EXPECT_EQ(*inserted, 5);
  const auto rows = ReadAll<ThingRow>(database, "ORDER BY id");
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(*rows, Things());
}

TEST(RowPack, BytesThatEndEarlyAreBadData) {
  const std::string packed = Packed();
  for (size_t size = 1; size < packed.size(); ++size) {
    Database database = WithTable();
    const Result<int64_t> inserted = InsertPacked(database, packed.substr(0, size));
    // Between two calls of AddRows nothing is missing.
    if (inserted.ok()) {
      EXPECT_EQ(*inserted, 2);
    } else {
      EXPECT_EQ(inserted.status().code(), StatusCode::kBadData) << size;
    }
  }
}

TEST(RowPack, RowThatATableRefusesIsAnError) {
  Database database = WithTable();
  ASSERT_TRUE(InsertPacked(database, Packed()).ok());
  EXPECT_FALSE(InsertPacked(database, Packed()).ok());
}

TEST(RowPack, ImageHoldsTheWholeDatabase) {
  Database database = WithTable();
  ASSERT_TRUE(InsertPacked(database, Packed()).ok());
  const Result<std::string> image = ImageOf(database);
  ASSERT_TRUE(image.ok()) << image.status().message();
  Database copy = *Database::OpenMemory();
  ASSERT_TRUE(copy.Execute("CREATE TABLE other(id)").ok());
  ASSERT_TRUE(LoadImage(copy, *image).ok());
  EXPECT_EQ(*ReadAll<ThingRow>(copy, "ORDER BY id"), Things());
  EXPECT_FALSE(copy.Execute("SELECT * FROM other").ok());
  // It grows as any other.
  EXPECT_TRUE(copy.Execute("CREATE TABLE more AS SELECT * FROM thing").ok());
}

}  // namespace
}  // namespace tutti::schema
