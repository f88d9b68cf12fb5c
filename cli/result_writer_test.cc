#include "cli/result_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tutti::cli {
namespace {

using schema::Blob;
using schema::NullableValue;
using schema::Value;
using Rows = std::vector<std::vector<NullableValue>>;

std::string Write(ResultFormat format, std::vector<ResultColumn> columns, const Rows& rows,
                  bool color = false) {
  std::string text;
  const auto writer =
      ResultWriter::Make(format, std::move(columns), color, [&](std::string_view piece) {
        text += piece;
        return OkStatus();
      });
  for (const auto& row : rows) EXPECT_TRUE(writer->Add(row).ok());
  EXPECT_TRUE(writer->Finish().ok());
  return text;
}

NullableValue Text(std::string text) { return Value(std::move(text)); }
NullableValue Number(int64_t number) { return Value(number); }

const std::vector<ResultColumn> kColumns = {{"name", "TEXT"}, {"n", "INTEGER"}};

TEST(Aligned, PutsNumbersToTheRight) {
  EXPECT_EQ(Write(ResultFormat::kAligned, kColumns,
                  {{Text("aten::mm"), Number(7)}, {Text("é"), Number(1234)}, {{}, {}}}),
            "name         n\n"
            "aten::mm     7\n"
            "é         1234\n"
            "NULL      NULL\n");
}

TEST(Aligned, PrintsTheHeaderOfAnEmptyResult) {
  EXPECT_EQ(Write(ResultFormat::kAligned, kColumns, {}), "name  n\n");
}

TEST(Aligned, ColoursOnlyWhenAskedTo) {
  EXPECT_EQ(Write(ResultFormat::kAligned, {{"a", ""}}, {{{}}}, true),
            "\x1b[1ma\x1b[0m\n\x1b[2mNULL\x1b[0m\n");
}

TEST(Aligned, CutsLongCellsAndReplacesControlCharacters) {
  const std::string text = Write(ResultFormat::kAligned, {{"a", ""}},
                                 {{Text(std::string(300, 'x'))}, {Text("\x1b[2Jgone\n")}});
  EXPECT_NE(text.find(std::string(99, 'x') + "…\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\uFFFD[2Jgone \n"), std::string::npos) << text;
}

TEST(Aligned, KeepsTheWidthsOfTheFirstRowsHoweverManyThereAre) {
  Rows rows(5'000, {Text("x"), Number(1)});
  rows.back() = {Text("longer"), Number(22)};
  const std::string text = Write(ResultFormat::kAligned, kColumns, rows);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5'001);
  EXPECT_EQ(text.substr(text.size() - 11), "longer  22\n");
}

TEST(Tabs, AreOneLineARow) {
  EXPECT_EQ(Write(ResultFormat::kTabs, kColumns, {{Text("a\tb\nc"), Number(-1)}, {{}, Value(0.1)}}),
            "name\tn\na b c\t-1\n\t0.1\n");
}

TEST(Csv, QuotesWhatNeedsIt) {
  EXPECT_EQ(Write(ResultFormat::kCsv, kColumns,
                  {{Text("plain"), Number(-5)},
                   {Text("a,\"b\"\nc"), {}},
                   {Text("=1+1"), Value(2.5)},
                   {Text(""), Value(Blob{"\x01\xAB"})}}),
            "name,n\r\nplain,-5\r\n\"a,\"\"b\"\"\nc\",\r\n\"=1+1\",2.5\r\n\"\",x'01ab'\r\n");
}

TEST(Json, KeepsTypesAndColumnsOfOneName) {
  const std::string text =
      Write(ResultFormat::kJson, {{"x", "INTEGER"}, {"x", ""}, {"t", "TEXT"}},
            {{Number(INT64_MAX), Value(0.5), Text("\x1b\xC2\x9Bé")}, {{}, {}, {}}});
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "tutti.query/1");
  EXPECT_EQ(json["columns"][0], (nlohmann::json{{"name", "x"}, {"type", "INTEGER"}}));
  EXPECT_EQ(json["columns"][1], (nlohmann::json{{"name", "x_2"}, {"type", nullptr}}));
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][0]["x"], INT64_MAX);
  EXPECT_EQ(json["rows"][0]["x_2"], 0.5);
  EXPECT_TRUE(json["rows"][1]["t"].is_null());
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7F)) << int{c};
}

TEST(Json, IsValidWithoutRows) {
  EXPECT_TRUE(nlohmann::json::parse(Write(ResultFormat::kJson, kColumns, {}))["rows"].empty());
}

TEST(ResultWriter, StopsWhenItsReaderIsGone) {
  const auto writer = ResultWriter::Make(ResultFormat::kTabs, {{"a", ""}}, false,
                                         [](std::string_view) { return IoError("gone"); });
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    status = writer->Add({Text(std::string(10'000, 'x'))});
  }
  EXPECT_EQ(status.message(), "gone");
}

}  // namespace
}  // namespace tutti::cli
