#include "exporter/perfetto/slice_nesting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace tutti::exporter::perfetto {
namespace {

struct Slice {
  int64_t begin_ns;
  int64_t end_ns;
};

// "B0@0 E0@5": what is begun and ended, on which track, when.
std::string Written(const std::vector<Slice>& slices) {
  SliceNesting nesting;
  std::string text;
  const auto end_until = [&](int64_t time_ns) {
    while (const auto ended = nesting.PopEnded(time_ns)) {
      text += "E" + std::to_string(ended->track) + "@" + std::to_string(ended->time_ns) + " ";
    }
  };
  for (const Slice& slice : slices) {
    end_until(slice.begin_ns);
    text += "B" + std::to_string(nesting.Place(slice.end_ns)) + "@" +
            std::to_string(slice.begin_ns) + " ";
  }
  end_until(SliceNesting::kNever - 1);
  return text;
}

// ns       0         10        20        30
// track 0  [====A===========)  [===C==)
//               [=B==)
// track 1                [=====D=====)
TEST(SliceNesting, SendsCrossingSlicesToAFurtherTrack) {
  EXPECT_EQ(Written({{0, 17}, {5, 10}, {14, 26}, {19, 26}}),
            "B0@0 B0@5 E0@10 B1@14 E0@17 B0@19 E0@26 E1@26 ");
}

TEST(SliceNesting, TakesSlicesThatTouchForSiblings) {
  EXPECT_EQ(Written({{0, 5}, {5, 9}}), "B0@0 E0@5 B0@5 E0@9 ");
}

TEST(SliceNesting, EndsWhatHasNoLengthAtOnce) {
  EXPECT_EQ(Written({{0, 5}, {2, 2}, {2, 2}, {5, 5}}), "B0@0 B0@2 E0@2 B0@2 E0@2 E0@5 B0@5 E0@5 ");
}

TEST(SliceNesting, NeverEndsWhatIsStillOpen) {
  EXPECT_EQ(Written({{0, SliceNesting::kNever}, {3, 4}}), "B0@0 B0@3 E0@4 ");
}

// Replays what was written on a stack per track: every end closes the innermost slice, at its
// own end, and times never go back.
TEST(SliceNesting, NestsWhateverComes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Slice> slices;
    for (int i = 0; i < 40; ++i) {
      const auto begin = static_cast<int64_t>(random() % 50);
      slices.push_back({begin, begin + static_cast<int64_t>(random() % 20)});
    }
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    SliceNesting nesting;
    std::vector<std::vector<int64_t>> open(41);
    int64_t now_ns = 0;
    size_t ended = 0;
    const auto end_until = [&](int64_t time_ns) {
      while (const auto end = nesting.PopEnded(time_ns)) {
        ASSERT_FALSE(open[end->track].empty());
        ASSERT_EQ(open[end->track].back(), end->time_ns);
        ASSERT_GE(end->time_ns, now_ns);
        now_ns = end->time_ns;
        open[end->track].pop_back();
        ++ended;
      }
    };
    for (const Slice& slice : slices) {
      end_until(slice.begin_ns);
      ASSERT_GE(slice.begin_ns, now_ns);
      now_ns = slice.begin_ns;
      open[nesting.Place(slice.end_ns)].push_back(slice.end_ns);
    }
    end_until(1000);
    EXPECT_EQ(ended, slices.size());
  }
}

}  // namespace
}  // namespace tutti::exporter::perfetto
