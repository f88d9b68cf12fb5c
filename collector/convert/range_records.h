// NVTX ranges and marks that are no annotations -> range. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collector/convert/context.h"
#include "collector/convert/gpu_ranges.h"
#include "collector/convert/nccl_records.h"
#include "collector/convert/payload_json.h"
#include "common/wire/record.h"
#include "common/wire/segment.h"

namespace tutti::collector::convert {

class RangeRecords {
 public:
  // |nccl| gets the ranges of NCCL's domain, |gpu_ranges| the others; all must outlive this.
  RangeRecords(Context& context, NcclRecords& nccl, GpuRanges& gpu_ranges)
      : context_(context), nccl_(nccl), gpu_ranges_(gpu_ranges), schemas_(context.strings) {}

  void OnSchema(const wire::PayloadSchemaRecord& record) { schemas_.Define(record); }
  // Kept until the event that it belongs to comes.
  void OnPayload(ThreadTable::Index thread, const wire::PayloadRecord& record,
                 std::span<const std::byte> data);

  // Whether a payload waits for this event. Then its schema may stand in another ring:
  // the event should be handed on after all schemas of the same batch.
  bool HasPayload(ThreadTable::Index thread, uint32_t domain, uint64_t event_ticks) const;

  void OnRange(ThreadTable::Index thread, const wire::RangeRecord& record);
  void OnMark(ThreadTable::Index thread, const wire::MarkRecord& record);
  // Ends may come before their start if that is on another ring.
  void OnStart(ThreadTable::Index thread, const wire::RangeStartRecord& record);
  void OnEnd(ThreadTable::Index thread, const wire::RangeEndRecord& record);
  void OnOpenSpan(ThreadTable::Index thread, const wire::OpenSpan& span, uint32_t depth);

  // Rows for starts without end; counts ends without start and payloads without event.
  void Finish();

 private:
  using EventKey = std::tuple<ThreadTable::Index, uint32_t, uint64_t>;  // thread, domain, ticks
  struct Payload {
    wire::PayloadRecord record;
    std::vector<std::byte> data;
  };
  struct Start {
    ThreadTable::Index thread;
    wire::RangeStartRecord record;
  };
  struct End {
    ThreadTable::Index thread;
    uint64_t ticks;
  };

  // Extended payloads if there are any, else the number given with the event.
  std::optional<schema::Value> PayloadOf(ThreadTable::Index thread, uint32_t domain,
                                         uint64_t event_ticks, wire::PayloadType type,
                                         uint64_t bits);
  void WriteStarted(const Start& start, const End* end);

  Context& context_;
  NcclRecords& nccl_;
  GpuRanges& gpu_ranges_;
  PayloadSchemas schemas_;
  std::map<EventKey, std::vector<Payload>> payloads_;
  std::map<uint64_t, Start> starts_;  // by range id
  std::map<uint64_t, End> ends_;
};

}  // namespace tutti::collector::convert
