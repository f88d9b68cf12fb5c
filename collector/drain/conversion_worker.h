// Runs conversions beside the drainer's loop, on a thread that only gets time that
// nobody else wants while training runs. Thread-safe: the loop posts, the thread works.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collector/os/file_descriptor.h"
#include "collector/rank/rank_conversion.h"
#include "common/status.h"

namespace tutti::collector::drain {

struct ConversionResult {
  uint32_t index;
  Status status;  // not ok: no file; the spool is kept
  rank::RankOutcome outcome;
};

class ConversionWorker {
 public:
  explicit ConversionWorker(rank::ConversionSettings settings);
  ~ConversionWorker();

  // The spool |spool_name| of process |index| holds |committed| whole bytes.
  void Progress(uint32_t index, const std::string& spool_name, uint64_t committed);
  // It is complete. Its result comes from TakeResults.
  void Complete(uint32_t index, const std::string& spool_name, uint64_t committed,
                std::vector<convert::Finding> findings);

  // From now on at the drainer's own priority: nobody trains any more.
  void Expedite();

  // Bytes of all spools whose rows are written, from any thread.
  uint64_t converted_bytes() const { return converted_bytes_.load(std::memory_order_relaxed); }

  // Becomes readable when results are there.
  int result_event() const { return event_.get(); }
  std::vector<ConversionResult> TakeResults();

 private:
  struct Job {
    std::string spool_name;
    uint64_t committed = 0;
    bool complete = false;
    bool failed = false;  // tried again when complete
    std::vector<convert::Finding> findings;
    std::unique_ptr<rank::RankConversion> conversion;
    uint64_t advanced_to = 0;
    uint64_t counted_bytes = 0;  // its part of converted_bytes_
  };
  void Start();
  void Stop();
  void Run(bool idle);
  // A job with work to do; requires mutex_.
  std::map<uint32_t, Job>::iterator NextJob();
  void Work(uint32_t index, Job& job, uint64_t committed, bool complete);
  void Finish(uint32_t index, Job& job, uint64_t committed);
  void Publish(ConversionResult result);
  void CountConverted(Job& job, uint64_t bytes);

  const rank::ConversionSettings settings_;
  std::atomic<uint64_t> converted_bytes_{0};
  os::FileDescriptor event_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<uint32_t, Job> jobs_;
  std::vector<ConversionResult> results_;
  bool stopping_ = false;
  bool expedited_ = false;
  std::thread thread_;
};

}  // namespace tutti::collector::drain
