#include "tracer/sources/torch/pointer_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace tutti::tracer::torch {
namespace {

const void* Object(uintptr_t number) { return reinterpret_cast<const void*>(number * 16); }

TEST(PointerTable, GivesBackWhatWasPutOnce) {
  PointerTable<int, 16> table{};
  EXPECT_TRUE(table.Put(Object(1), 10));
  EXPECT_TRUE(table.Put(Object(2), 20));
  int value = 0;
  EXPECT_TRUE(table.Take(Object(1), &value));
  EXPECT_EQ(value, 10);
  EXPECT_FALSE(table.Take(Object(1), &value));
  EXPECT_TRUE(table.Take(Object(2), &value));
  EXPECT_EQ(value, 20);
}

TEST(PointerTable, ForgetsAnObjectWhoseAddressIsUsedAgain) {
  PointerTable<int, 16> table{};
  EXPECT_TRUE(table.Put(Object(1), 10));
  EXPECT_TRUE(table.Put(Object(1), 11));
  int value = 0;
  EXPECT_TRUE(table.Take(Object(1), &value));
  EXPECT_EQ(value, 11);
  EXPECT_FALSE(table.Take(Object(1), &value));
}

TEST(PointerTable, RefusesWhatDoesNotFitAndKeepsTheRest) {
  PointerTable<uintptr_t, 16> table{};
  for (uintptr_t number = 1; number <= 16; ++number) {
    EXPECT_TRUE(table.Put(Object(number), number));
  }
  EXPECT_FALSE(table.Put(Object(17), 17));
  for (uintptr_t number = 1; number <= 16; ++number) {
    uintptr_t value = 0;
    EXPECT_TRUE(table.Take(Object(number), &value));
    EXPECT_EQ(value, number);
  }
  EXPECT_TRUE(table.Put(Object(17), 17));
}

// Each of four threads hands its objects to another thread, through one table that is too
// small for all of them, so that slots are reused all the time.
TEST(PointerTable, HandsObjectsBetweenThreads) {
  constexpr uintptr_t kPairs = 2;
  constexpr uintptr_t kObjects = 50'000;
  auto table = std::make_unique<PointerTable<uintptr_t, 64>>();
  std::vector<std::thread> threads;
  std::atomic<uintptr_t> wrong{0};
  for (uintptr_t pair = 0; pair < kPairs; ++pair) {
    const uintptr_t first = 1 + pair * kObjects;
    threads.emplace_back([&, first] {
      for (uintptr_t number = first; number < first + kObjects; ++number) {
        while (!table->Put(Object(number), number)) {
          std::this_thread::yield();
        }
      }
    });
    threads.emplace_back([&, first] {
      for (uintptr_t number = first; number < first + kObjects; ++number) {
        uintptr_t value = 0;
        while (!table->Take(Object(number), &value)) {
          std::this_thread::yield();
        }
        wrong += value != number ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace tutti::tracer::torch
