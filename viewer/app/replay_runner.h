// Opens a replay and asks it on a thread of its own, so that a slider may ask while it is moved:
// the newest question is answered next, those before it are dropped. When there is none, the
// usual ones are answered one by one. Functions may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "viewer/replay.h"

namespace tutti::viewer {

// What is known once the replay is open. A value that does not change.
struct ReplayFacts {
  int64_t measured_ns = 0;
  int64_t unchanged_ns = 0;
  int64_t steps = 0;
  std::vector<PathPiece> path;     // in order of time
  std::vector<EventSlack> slacks;  // by rank, then time
  // Of something of `rank` that begins or ends then, nullopt unknown.
  std::optional<int64_t> SlackAt(int64_t rank, int64_t time_ns) const;
};

class ReplayRunner {
 public:
  enum class Phase : uint8_t { kNone, kClosed, kOpening, kReady, kFailed };

  // Without an opener there is none to ask.
  explicit ReplayRunner(ReplayOpener opener);
  ~ReplayRunner();
  ReplayRunner(const ReplayRunner&) = delete;
  ReplayRunner& operator=(const ReplayRunner&) = delete;

  void Open();  // begins to, unless it has
  void Ask(std::vector<std::string> words);
  void WaitUntilIdle();  // opened, and all is answered

  Phase phase() const { return phase_.load(std::memory_order_acquire); }
  bool is_busy() const;
  std::string error() const;                         // why it failed
  std::shared_ptr<const ReplayFacts> facts() const;  // nullptr until kReady
  std::optional<Result<Prediction>> answer() const;  // to the last question that was answered
  std::vector<Prediction> usual() const;             // so far, largest saving first
  // Grows whenever any of these changes.
  size_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  void Work();
  bool OpenReplay();

  const ReplayOpener opener_;
  std::atomic<Phase> phase_;
  std::atomic<size_t> version_ = 0;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  bool is_stopping_ = false;
  bool works_ = false;
  std::optional<std::vector<std::string>> question_;
  std::vector<std::vector<std::string>> usual_questions_;  // still to be asked, last first
  std::string error_;
  std::shared_ptr<const ReplayFacts> facts_;
  std::optional<Result<Prediction>> answer_;
  std::vector<Prediction> usual_;
  std::unique_ptr<Replay> replay_;  // used by the thread alone
  std::thread thread_;
};

}  // namespace tutti::viewer
