// When and where an export was captured, and how its times become the trace's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/importers/nsys/export_database.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

// Times of an export are nanoseconds since its session began, unless it was exported
// with --ts-normalize (then since the Unix epoch) or shifted with --ts-shift.
class SessionClock {
 public:
  SessionClock() = default;
  explicit SessionClock(int64_t offset_ns) : offset_ns_(offset_ns) {}

  // Nanoseconds since the epoch; absent if they leave 64 bits.
  std::optional<int64_t> ToTrace(int64_t export_ns) const;
  int64_t offset_ns() const { return offset_ns_; }

 private:
  int64_t offset_ns_ = 0;
};

struct Session {
  SessionClock clock;
  bool has_start = false;          // false: times begin at 0, nobody knows when that was
  bool has_other_starts = false;   // several sessions in one file; the first one is used
  std::string host;                // empty unknown
  std::string product;             // 'NVIDIA Nsight Systems 2026.2.1.210'; empty unknown
  std::optional<int64_t> stop_ns;  // trace time at which capture ended, where told
};

Result<Session> ReadSession(ExportDatabase& database);

}  // namespace tutti::collector::importers::nsys
