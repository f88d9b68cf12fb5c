#include "tracer/sources/nccl/plugin.h"

#include <atomic>
#include <cstring>

#include "tracer/core/entry.h"
#include "tracer/core/session.h"

namespace tutti::tracer::nccl {
namespace {

// A communicator of this process. Never freed: NCCL may use a context after it finalised it.
struct Communicator {
  uint64_t hash;
};

struct Communicators {
  static constexpr uint32_t kCapacity = 4096;
  static inline constinit std::atomic<uint32_t> used{0};
  static inline constinit Communicator all[kCapacity]{};
};

// nullptr if there are more than anybody makes: their events are left out then.
Communicator* NewCommunicator(uint64_t hash) noexcept {
  const uint32_t index = Communicators::used.load(std::memory_order_relaxed);
  if (index >= Communicators::kCapacity) return nullptr;  // first, so that it can't wrap
  const uint32_t own = Communicators::used.fetch_add(1, std::memory_order_relaxed);
  if (own >= Communicators::kCapacity) return nullptr;
  Communicators::all[own].hash = hash;
  return &Communicators::all[own];
}

uint32_t InternOptional(Entry& entry, const char* text) noexcept {
  return text != nullptr ? entry.Intern(text, std::strlen(text)) : wire::kNoString;
}

void Announce(uint64_t hash, const char* name, int nodes, int ranks, int rank) noexcept {
  Entry entry(wire::kCaptureNccl);
  if (!entry) return;
  entry.Emit(wire::NcclCommunicatorRecord{
      .header = HeaderOf(wire::RecordKind::kNcclCommunicator, InternOptional(entry, name)),
      .ticks = entry.Now(),
      .hash = hash,
      .rank = rank,
      .size = ranks,
      .nodes = nodes,
      .reserved0 = 0,
      .reserved = {}});
}

Result Init(void** context, uint64_t hash, int* mask, const char* name, int nodes, int ranks,
            int rank) noexcept {
  *context = nullptr;
  *mask = 0;
  if (!Promote("ncclCommInit") || !Captures(wire::kCaptureNccl)) return 0;
  Announce(hash, name, nodes, ranks, rank);
  *context = NewCommunicator(hash);
  *mask = static_cast<int>(kCollective | kPointToPoint);
  return 0;
}

void Write(Entry& entry, const Communicator& communicator, const EventDescriptor& event,
           bool is_collective) noexcept {
  const auto& collective = event.collective;
  const auto& transfer = event.point_to_point;
  entry.Emit(wire::NcclCallRecord{
      .header =
          HeaderOf(wire::RecordKind::kNcclCall,
                   InternOptional(entry, is_collective ? collective.function : transfer.function)),
      .ticks = entry.Now(),
      .communicator = communicator.hash,
      .sequence = is_collective ? static_cast<int64_t>(collective.sequence) : -1,
      .count = is_collective ? collective.count : transfer.count,
      .datatype = InternOptional(entry, is_collective ? collective.datatype : transfer.datatype),
      .algorithm = is_collective ? InternOptional(entry, collective.algorithm) : 0,
      .protocol = is_collective ? InternOptional(entry, collective.protocol) : 0,
      .root_or_peer = is_collective ? collective.root : transfer.peer,
      .channels = is_collective ? collective.channels : transfer.channels,
      .is_collective = is_collective,
      .reserved0 = {},
      .reserved1 = 0});
}

Result StartEvent(void* context, void** handle, const EventDescriptor* event,
                  uint64_t type) noexcept {
  if (handle != nullptr) *handle = nullptr;
  if (context == nullptr || event == nullptr || (type != kCollective && type != kPointToPoint)) {
    return 0;
  }
  Entry entry(wire::kCaptureNccl);
  if (entry) Write(entry, *static_cast<Communicator*>(context), *event, type == kCollective);
  return 0;
}

}  // namespace

Result InitV4(void** context, int* mask, const char* name, uint64_t hash, int nodes, int ranks,
              int rank, Log) {
  return Init(context, hash, mask, name, nodes, ranks, rank);
}

Result InitV5(void** context, uint64_t hash, int* mask, const char* name, int nodes, int ranks,
              int rank, Log) {
  return Init(context, hash, mask, name, nodes, ranks, rank);
}

Result StartEventV4(void* context, void** handle, EventDescriptor* event) {
  return StartEvent(context, handle, event, event != nullptr ? event->type & 0xff : 0);
}

Result StartEventV5(void* context, void** handle, EventDescriptor* event) {
  return StartEvent(context, handle, event, event != nullptr ? event->type : 0);
}

Result StopEvent(void*) { return 0; }
Result RecordEventState(void*, int, void*) { return 0; }
Result Finalize(void*) { return 0; }

}  // namespace tutti::tracer::nccl
