// Collectives that ran on a CPU backend's thread, joined with the moment at which the
// training thread handed them over -> collective_source. One thread; records in order
// of time as far as that is possible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "collector/convert/context.h"
#include "common/wire/record.h"
#include "common/wire/segment.h"

namespace tutti::collector::convert {

class CollectiveRecords {
 public:
  explicit CollectiveRecords(Context& context) : context_(context) {}

  void OnEnqueue(ThreadTable::Index thread, const wire::CollectiveEnqueueRecord& record);
  void OnCollective(ThreadTable::Index thread, const wire::CollectiveRecord& record);
  // A collective that a thread was inside when the trace ended. Call before Finish.
  void OnOpenSpan(ThreadTable::Index thread, const wire::OpenSpan& span);
  // Rows for what was handed over and never began.
  void Finish();

 private:
  struct Enqueue {
    ThreadTable::Index thread;
    wire::CollectiveEnqueueRecord record;
  };
  // The latest enqueue of this work that lies before |begin_ticks| and may be of this
  // communicator; it is taken out.
  std::optional<Enqueue> TakeEnqueue(uint64_t work, uint64_t begin_ticks, uint32_t communicator);
  // Fills what both a finished and a hanging collective have, and appends the row.
  void Write(ThreadTable::Index thread, const wire::CollectiveRecord& record,
             std::optional<int64_t> end_ns);
  void WriteNeverBegun(const Enqueue& enqueue);
  schema::CollectiveSourceRow RowFor(uint32_t communicator, int64_t sequence);

  Context& context_;
  std::map<uint64_t, std::vector<Enqueue>> waiting_;  // by work handle, in order of time
};

}  // namespace tutti::collector::convert
