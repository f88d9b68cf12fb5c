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

// Whether this process asks NCCL for events; into |mask| for which.
bool Asks(int* mask) noexcept {
  *mask = 0;
  if (!Promote("ncclCommInit") || !Captures(wire::kCaptureNccl)) return false;
  *mask = static_cast<int>(kCollective | kPointToPoint);
  return true;
}

Result Init(void** context, uint64_t hash, int* mask, const char* name, int nodes, int ranks,
            int rank) noexcept {
  *context = nullptr;
  if (!Asks(mask)) return 0;
  Announce(hash, name, nodes, ranks, rank);
  *context = NewCommunicator(hash);
  return 0;
}

// What all versions tell of a call.
struct Call {
  uint64_t communicator;
  const char* function;
  int64_t sequence;
  uint64_t count;
  const char* datatype;
  const char* algorithm;
  const char* protocol;
  int root_or_peer;
  uint8_t channels;
};

constexpr int64_t kNoSequence = -1;  // of transfers

void Write(Entry& entry, const Call& call, bool is_collective) noexcept {
  entry.Emit(wire::NcclCallRecord{
      .header = HeaderOf(wire::RecordKind::kNcclCall, InternOptional(entry, call.function)),
      .ticks = entry.Now(),
      .communicator = call.communicator,
      .sequence = call.sequence,
      .count = call.count,
      .datatype = InternOptional(entry, call.datatype),
      .algorithm = InternOptional(entry, call.algorithm),
      .protocol = InternOptional(entry, call.protocol),
      .root_or_peer = call.root_or_peer,
      .channels = call.channels,
      .is_collective = is_collective,
      .reserved0 = {},
      .reserved1 = 0});
}

Call CallOf(const Communicator& communicator, const EventDescriptor& event,
            bool is_collective) noexcept {
  const uint64_t hash = communicator.hash;
  if (is_collective) {
    const auto& call = event.collective;
    return {hash,          call.function, static_cast<int64_t>(call.sequence),
            call.count,    call.datatype, call.algorithm,
            call.protocol, call.root,     call.channels};
  }
  const auto& call = event.point_to_point;
  return {hash,    call.function, kNoSequence, call.count,   call.datatype,
          nullptr, nullptr,       call.peer,   call.channels};
}

// How many channels a call may use isn't how many it does: these are left open.
Call CallOf(const EarlyEventDescriptor& event, const EarlyChoice& choice,
            bool is_collective) noexcept {
  if (is_collective) {
    const auto& call = event.collective;
    return {call.hash,       call.function, static_cast<int64_t>(call.sequence),
            call.count,      call.datatype, choice.algorithm,
            choice.protocol, call.root,     0};
  }
  const auto& call = event.point_to_point;
  return {call.hash, call.function, kNoSequence, call.count, call.datatype,
          nullptr,   nullptr,       call.peer,   0};
}

bool IsCall(uint64_t type) noexcept { return type == kCollective || type == kPointToPoint; }

Result StartEvent(void* context, void** handle, const EventDescriptor* event,
                  uint64_t type) noexcept {
  if (handle != nullptr) *handle = nullptr;
  if (context == nullptr || event == nullptr || !IsCall(type)) return 0;
  Entry entry(wire::kCaptureNccl);
  if (!entry) return 0;
  const bool is_collective = type == kCollective;
  Write(entry, CallOf(*static_cast<Communicator*>(context), *event, is_collective), is_collective);
  return 0;
}

Result StartEarlyEvent(void* context, void** handle, const EarlyEventDescriptor* event,
                       int version) noexcept {
  if (handle != nullptr) *handle = nullptr;
  if (context == nullptr || event == nullptr || !IsCall(event->type)) return 0;
  Entry entry(wire::kCaptureNccl);
  if (!entry) return 0;
  const bool is_collective = event->type == kCollective;
  const auto& choice = version == 2 ? event->collective.v2.choice : event->collective.v3;
  Write(entry, CallOf(*event, choice, is_collective), is_collective);
  return 0;
}

}  // namespace

Result InitEarly(void** context, int* mask) {
  static constinit char asked = 0;  // only that it isn't null matters
  *context = Asks(mask) ? &asked : nullptr;
  return 0;
}

Result InitV4(void** context, int* mask, const char* name, uint64_t hash, int nodes, int ranks,
              int rank, Log) {
  return Init(context, hash, mask, name, nodes, ranks, rank);
}

Result InitV5(void** context, uint64_t hash, int* mask, const char* name, int nodes, int ranks,
              int rank, Log) {
  return Init(context, hash, mask, name, nodes, ranks, rank);
}

Result StartEventV2(void* context, void** handle, EarlyEventDescriptor* event) {
  return StartEarlyEvent(context, handle, event, 2);
}

Result StartEventV3(void* context, void** handle, EarlyEventDescriptor* event) {
  return StartEarlyEvent(context, handle, event, 3);
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
