#include "tracer/sources/torch/decimal.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tutti::tracer::torch {
namespace {

std::string Decimal(int64_t number) {
  char buffer[kMaxDecimalDigits];
  return {buffer, WriteDecimal(buffer, number)};
}

TEST(WriteDecimal, WritesWhatEverybodyWrites) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const int64_t number : {int64_t{0}, int64_t{7}, int64_t{-1}, int64_t{10}, int64_t{1'000'005},
                               int64_t{-90}, kMin, kMax}) {
    EXPECT_EQ(Decimal(number), std::to_string(number));
  }
}

}  // namespace
}  // namespace tutti::tracer::torch
