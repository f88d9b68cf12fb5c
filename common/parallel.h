// Independent pieces of work on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace tutti {

// Calls work(i) for each i in [0, count), on at most `most_threads` threads of which one is the
// caller's, in no order; returns when all are done. `work` must not throw.
template <typename Work>
void ParallelFor(size_t count, const Work& work,
                 size_t most_threads = std::thread::hardware_concurrency()) {
  std::atomic<size_t> next{0};
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < std::min(count, most_threads); ++i) helpers.emplace_back(loop);
  loop();
}

}  // namespace tutti
