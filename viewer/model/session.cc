#include "viewer/model/session.h"

#include <algorithm>

namespace tutti::viewer {

Session::Session(RunSummary summary, size_t threads, RankCache cache)
    : summary_(std::move(summary)), cache_(std::move(cache)) {
  ranks_.resize(summary_.ranks.size());
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  threads = std::min(threads, ranks_.size());
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { LoadRanks(); });
}

Session::Session(RunSummary summary, std::shared_ptr<NameTable> names,
                 std::vector<std::shared_ptr<const RankTrace>> ranks)
    : summary_(std::move(summary)),
      names_(std::move(names)),
      loaded_(ranks.size()),
      ranks_(std::move(ranks)) {}

Session::~Session() {
  is_stopping_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void Session::LoadRanks() {
  for (;;) {
    const size_t slot = next_.fetch_add(1);
    if (slot >= summary_.ranks.size() || is_stopping_) return;
    if (auto cached = cache_.Load(summary_, slot, names_.get())) {
      Publish(slot, std::make_shared<const RankTrace>(std::move(*cached)));
      continue;
    }
    auto trace = std::make_shared<const RankTrace>(LoadRankTrace(summary_, slot, names_.get()));
    Publish(slot, trace);
    if (is_stopping_) return;
    if (const auto kept = cache_.Store(summary_, slot, *names_, *trace); !kept.ok()) {
      const std::lock_guard lock(mutex_);
      cache_status_ = kept.status();
    }
  }
}

void Session::Publish(size_t slot, std::shared_ptr<const RankTrace> trace) {
  const std::lock_guard lock(mutex_);
  ranks_[slot] = std::move(trace);
  loaded_.fetch_add(1, std::memory_order_release);
  rank_loaded_.notify_all();
}

std::vector<std::shared_ptr<const RankTrace>> Session::Ranks() const {
  const std::lock_guard lock(mutex_);
  return ranks_;
}

Status Session::cache_status() const {
  const std::lock_guard lock(mutex_);
  return cache_status_;
}

void Session::WaitUntilComplete() {
  std::unique_lock lock(mutex_);
  rank_loaded_.wait(lock, [this] { return is_complete(); });
}

}  // namespace tutti::viewer
