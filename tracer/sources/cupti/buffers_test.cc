#include "tracer/sources/cupti/buffers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace tutti::tracer::cupti {
namespace {

std::unique_ptr<Buffers> Mapped() {
  auto buffers = std::make_unique<Buffers>();
  EXPECT_TRUE(buffers->Map());
  return buffers;
}

TEST(Buffers, GivesFullOnesBackInOrder) {
  const auto buffers = Mapped();
  uint8_t* const first = buffers->Take();
  uint8_t* const second = buffers->Take();
  uint8_t* const third = buffers->Take();
  buffers->GiveBack(second, 20);
  buffers->GiveBack(first, 10);
  Buffers::Full full = buffers->NextFull();
  EXPECT_EQ(full.data, second);
  EXPECT_EQ(full.valid_bytes, 20U);
  buffers->GiveBack(third, 30);  // while the older ones are being taken
  full = buffers->NextFull();
  EXPECT_EQ(full.data, first);
  full = buffers->NextFull();
  EXPECT_EQ(full.data, third);
  EXPECT_EQ(buffers->NextFull().data, nullptr);
}

TEST(Buffers, HasAnEndThatIsCounted) {
  const auto buffers = Mapped();
  std::vector<uint8_t*> taken;
  for (uint32_t i = 0; i < Buffers::kSlots; ++i) taken.push_back(buffers->Take());
  for (uint8_t* data : taken) ASSERT_NE(data, nullptr);
  EXPECT_EQ(buffers->Take(), nullptr);
  EXPECT_EQ(buffers->refused(), 1U);
  buffers->GiveBack(taken[7], 0);  // nothing was written: free at once
  EXPECT_EQ(buffers->Take(), taken[7]);
  buffers->GiveBack(taken[9], 1);
  EXPECT_EQ(buffers->Take(), nullptr);
  buffers->Release(buffers->NextFull().slot);
  EXPECT_EQ(buffers->Take(), taken[9]);
}

TEST(Buffers, IgnoresWhatIsNotIts) {
  const auto buffers = Mapped();
  uint8_t foreign = 0;
  buffers->GiveBack(&foreign, 1);
  buffers->GiveBack(nullptr, 1);
  EXPECT_EQ(buffers->NextFull().data, nullptr);
}

// Threads take, fill and give back as fast as they can, one empties: nothing is lost, nothing is
// there twice, and each thread's buffers come in its order.
TEST(Buffers, SurvivesManyThreads) {
  constexpr int kThreads = 4;
  constexpr uint64_t kEach = 20'000;
  const auto buffers = Mapped();
  std::vector<std::thread> threads;
  for (uint64_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([&buffers, id] {
      for (uint64_t number = 0; number < kEach;) {
        uint8_t* const data = buffers->Take();
        if (data == nullptr) {
          std::this_thread::yield();
          continue;
        }
        const uint64_t words[] = {id, number++};
        std::memcpy(data, words, sizeof(words));
        buffers->GiveBack(data, sizeof(words));
      }
    });
  }
  std::map<uint64_t, uint64_t> next;
  for (uint64_t seen = 0; seen < kThreads * kEach;) {
    const Buffers::Full full = buffers->NextFull();
    if (full.data == nullptr) {
      std::this_thread::yield();
      continue;
    }
    uint64_t words[2];
    std::memcpy(words, full.data, sizeof(words));
    ASSERT_EQ(words[1], next[words[0]]++) << "thread " << words[0];
    buffers->Release(full.slot);
    ++seen;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(buffers->given_back(), kThreads * kEach);
  EXPECT_EQ(buffers->released(), kThreads * kEach);
}

}  // namespace
}  // namespace tutti::tracer::cupti
