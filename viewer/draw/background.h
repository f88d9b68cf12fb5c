// A figure that takes too long for a frame: made by another thread, taken over when it is done.
// One at a time. The destructor waits for it.
#pragma once

#include <chrono>
#include <functional>
#include <future>

namespace tutti::viewer {

template <typename T>
class Background {
 public:
  bool is_busy() const { return future_.valid(); }
  // Only while it is not busy.
  void Start(std::function<T()> make) { future_ = std::async(std::launch::async, std::move(make)); }
  // Whether it has become ready; waits a moment, so that what is quick is there at once.
  bool Take(T* value) {
    if (!future_.valid()) return false;
    if (future_.wait_for(std::chrono::milliseconds(2)) != std::future_status::ready) return false;
    *value = future_.get();
    return true;
  }

 private:
  std::future<T> future_;
};

}  // namespace tutti::viewer
