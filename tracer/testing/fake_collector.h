// A collector for tests of the tracer: listens on a socket in a private directory, gives
// each process that says hello a segment, and keeps it for reading. Says what it is told to
// where a test wants a bad answer.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/wire/handshake.h"
#include "common/wire/layout.h"
#include "tracer/testing/segment_reader.h"

namespace tutti::tracer::testing {

// What a segment of most tests holds: four small rings of 64 cells and one of 512.
inline constexpr wire::SegmentShape kTestShape = {1024, 1u << 16, {{4, 64}, {1, 512}}};

// A sealed memfd with an initialised segment of |plan|. Throws on failure.
int MakeSegmentFile(const wire::SegmentPlan& plan, wire::ClockKind clock_kind,
                    uint32_t capture_mask);

class FakeCollector {
 public:
  struct Options {
    wire::SegmentShape shape = kTestShape;
    wire::ClockKind clock_kind = wire::ClockKind::kTsc;
    uint32_t capture_mask = ~0u;
    wire::WelcomeStatus status = wire::WelcomeStatus::kAccepted;
    std::string text = {};
    // In place of an answer: called with the connection, which is closed afterwards.
    std::function<void(int connection, const wire::Hello& hello)> answer = {};
  };

  FakeCollector() : FakeCollector(Options{}) {}
  explicit FakeCollector(Options options);
  ~FakeCollector();
  FakeCollector(const FakeCollector&) = delete;
  FakeCollector& operator=(const FakeCollector&) = delete;

  // For TUTTI_SESSION.
  const std::string& session() const { return session_; }

  // The segment of the |index|th process that was accepted; waits until it has been served and
  // its connection is closed, 20 s at most, then throws. The reader lives as long as this object.
  SegmentReader& segment(size_t index = 0);

  // Every hello so far, those of refused processes included.
  std::vector<wire::Hello> hellos() const;

 private:
  void Serve();
  std::unique_ptr<SegmentReader> Answer(int connection);

  Options options_;
  wire::SegmentPlan plan_;
  std::string directory_;
  std::string session_;
  int listener_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<wire::Hello> hellos_;
  std::vector<std::unique_ptr<SegmentReader>> segments_;
  std::thread thread_;
};

// Sends |welcome| with |files| over |connection|, for Options::answer.
void SendWelcome(int connection, const wire::Welcome& welcome, const std::vector<int>& files);

}  // namespace tutti::tracer::testing
