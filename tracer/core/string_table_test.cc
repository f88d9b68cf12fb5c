#include "tracer/core/string_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tracer/testing/fake_collector.h"

namespace tutti::tracer {
namespace {

// A table in a segment of its own, with the collector's view of it.
class StringTableTest : public ::testing::Test {
 protected:
  void Make(uint32_t capacity, uint64_t arena_bytes) {
    const wire::SegmentPlan plan =
        wire::PlanShape({capacity, arena_bytes, {{1, wire::kMinRingCells}}});
    reader_ = std::make_unique<testing::SegmentReader>(
        testing::MakeSegmentFile(plan, wire::ClockKind::kTsc, 0), plan);
    auto* base = reinterpret_cast<std::byte*>(&reader_->header());
    table_.Attach(base, wire::ReadLayout(reader_->header()));
  }

  std::unique_ptr<testing::SegmentReader> reader_;
  StringTable table_;
};

TEST_F(StringTableTest, OneTextHasOneIndexWhereverItIsStored) {
  Make(64, 4096);
  const std::string a = "aten::add";
  const std::string b = "aten::add";
  const uint32_t index = table_.Intern(a);
  EXPECT_NE(index, wire::kNoString);
  EXPECT_EQ(table_.Intern(b), index);
  EXPECT_NE(table_.Intern("aten::mul"), index);
  EXPECT_EQ(reader_->String(index), "aten::add");
  EXPECT_EQ(table_.Text(index), "aten::add");
}

TEST_F(StringTableTest, EmptyTextIsNoString) {
  Make(64, 4096);
  EXPECT_EQ(table_.Intern(""), wire::kNoString);
  EXPECT_EQ(reader_->header().strings_refused.load(), 0u);
}

TEST_F(StringTableTest, TextMayHoldZeroes) {
  Make(64, 4096);
  const std::string with_zero("a\0b", 3);
  const uint32_t index = table_.Intern(with_zero);
  EXPECT_EQ(reader_->String(index), with_zero);
  EXPECT_NE(table_.Intern("a"), index);
}

TEST_F(StringTableTest, AFullTableRefusesAndCounts) {
  Make(8, 4096);  // seven strings, index 0 is none
  for (int i = 0; i < 7; ++i) EXPECT_NE(table_.Intern("s" + std::to_string(i)), wire::kNoString);
  for (int i = 7; i < 10; ++i) EXPECT_EQ(table_.Intern("s" + std::to_string(i)), wire::kNoString);
  EXPECT_NE(table_.Intern("s3"), wire::kNoString);  // those that are there still are
  EXPECT_EQ(reader_->header().strings_refused.load(), 3u);
  EXPECT_EQ(reader_->Strings().size(), 7u);
}

TEST_F(StringTableTest, AFullArenaRefusesAndCounts) {
  Make(64, 100);
  EXPECT_NE(table_.Intern(std::string(60, 'a')), wire::kNoString);
  EXPECT_EQ(table_.Intern(std::string(60, 'b')), wire::kNoString);
  EXPECT_EQ(reader_->header().strings_refused.load(), 1u);
  EXPECT_EQ(reader_->Strings(), std::vector<std::string>{std::string(60, 'a')});
}

TEST(CutText, CutsBetweenCharactersAndSaysSo) {
  char buffer[wire::kMaxStringBytes];
  EXPECT_EQ(CutText("short", buffer), "short");
  const std::string fits(wire::kMaxStringBytes, 'x');
  EXPECT_EQ(CutText(fits, buffer), fits);
  EXPECT_EQ(CutText(fits + "x", buffer), std::string(wire::kMaxStringBytes - 3, 'x') + "…");
  std::string umlauts;
  while (umlauts.size() <= wire::kMaxStringBytes) umlauts += "ü";
  const std::string_view cut = CutText(umlauts, buffer);
  EXPECT_EQ(cut.size(), wire::kMaxStringBytes - 1);  // 4093 is inside an "ü"
  EXPECT_TRUE(cut.ends_with("ü…"));
}

TEST_F(StringTableTest, LongTextIsStoredCut) {
  Make(64, 1u << 16);
  const uint32_t index = table_.Intern(std::string(10000, 'y'));
  EXPECT_EQ(reader_->String(index), std::string(wire::kMaxStringBytes - 3, 'y') + "…");
}

TEST_F(StringTableTest, ThreadsThatRaceAgreeOnEachText) {
  constexpr size_t kThreads = 4;
  constexpr size_t kTexts = 2000;
  Make(4 * kTexts * 4, 1u << 20);
  std::vector<std::vector<uint32_t>> indices(kThreads, std::vector<uint32_t>(kTexts));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kTexts; ++i) {
        indices[t][i] = table_.Intern("operator " + std::to_string(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kTexts; ++i) {
    ASSERT_EQ(reader_->String(indices[0][i]), "operator " + std::to_string(i));
    for (size_t t = 1; t < kThreads; ++t) {
      ASSERT_EQ(indices[t][i], indices[0][i]) << i;
    }
  }
  EXPECT_EQ(reader_->header().strings_refused.load(), 0u);
}

}  // namespace
}  // namespace tutti::tracer
