// A run while it is looked at: its summary at once, its ranks' events as threads load them.
// The interface calls Ranks() each frame and draws what is there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "viewer/model/name_table.h"
#include "viewer/model/rank_cache.h"
#include "viewer/model/rank_trace.h"
#include "viewer/model/run_summary.h"

namespace tutti::viewer {

class Session {
 public:
  // Starts loading with `threads` threads (0: as many as there are cores), first ranks first.
  Session(RunSummary summary, size_t threads, RankCache cache = RankCache(""));
  // Of ranks that are there already (tests).
  Session(RunSummary summary, std::shared_ptr<NameTable> names,
          std::vector<std::shared_ptr<const RankTrace>> ranks);
  // Stops after the ranks that are being loaded.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const RunSummary& summary() const { return summary_; }
  const NameTable& names() const { return *names_; }

  // Of every rank of the summary; null while it is not loaded. What is there stays.
  std::vector<std::shared_ptr<const RankTrace>> Ranks() const;
  // Grows with each rank that is loaded.
  size_t loaded() const { return loaded_.load(std::memory_order_acquire); }
  bool is_complete() const { return loaded() == summary_.ranks.size(); }
  void WaitUntilComplete();
  // Why a rank will have to be read anew the next time, if it will.
  Status cache_status() const;

 private:
  void LoadRanks();
  void Publish(size_t slot, std::shared_ptr<const RankTrace> trace);

  RunSummary summary_;
  RankCache cache_{""};
  std::shared_ptr<NameTable> names_ = std::make_shared<NameTable>();
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> loaded_ = 0;
  std::atomic<bool> is_stopping_ = false;
  mutable std::mutex mutex_;  // guards ranks_ and cache_status_
  Status cache_status_;
  std::condition_variable rank_loaded_;
  std::vector<std::shared_ptr<const RankTrace>> ranks_;
  std::vector<std::thread> threads_;
};

}  // namespace tutti::viewer
