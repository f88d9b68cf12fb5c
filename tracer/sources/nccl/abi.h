// NCCL's interface for profiler plugins, versions 2 (NCCL 2.24 and 2.25), 3 (2.26), 4 (2.27) and 5
// (2.28 and later; newer releases take it too), written by hand: NCCL installs no header for it.
// Source: NCCL's ext-profiler/example/nccl/profiler_v2.h to profiler_v5.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::tracer::nccl {

// Bits of the mask by which a plugin asks for events, and an event's type.
inline constexpr uint64_t kCollective = 1u << 1;
inline constexpr uint64_t kPointToPoint = 1u << 2;

// What the descriptors of versions 4 and 5 have in common; version 5's are 8 bytes longer. In
// version 4 only the first byte of `type` is the type.
struct EventDescriptor {
  uint64_t type;
  void* parent;
  int rank;
  union {
    struct {
      uint64_t sequence;  // per operation and communicator
      const char* function;
      const void* send_buffer;
      void* receive_buffer;
      size_t count;
      int root;
      const char* datatype;
      uint8_t channels;
      uint8_t warps;
      const char* algorithm;
      const char* protocol;
    } collective;
    struct {
      const char* function;
      void* buffer;
      const char* datatype;
      size_t count;
      int peer;
      uint8_t channels;
    } point_to_point;
  };
};
static_assert(sizeof(EventDescriptor) == 104);
static_assert(offsetof(EventDescriptor, parent) == 8 && offsetof(EventDescriptor, rank) == 16);
static_assert(offsetof(EventDescriptor, collective.function) == 32);
static_assert(offsetof(EventDescriptor, collective.count) == 56);
static_assert(offsetof(EventDescriptor, collective.root) == 64);
static_assert(offsetof(EventDescriptor, collective.datatype) == 72);
static_assert(offsetof(EventDescriptor, collective.channels) == 80);
static_assert(offsetof(EventDescriptor, collective.algorithm) == 88);
static_assert(offsetof(EventDescriptor, collective.protocol) == 96);
static_assert(offsetof(EventDescriptor, point_to_point.datatype) == 40);
static_assert(offsetof(EventDescriptor, point_to_point.count) == 48);
static_assert(offsetof(EventDescriptor, point_to_point.peer) == 56);

// What NCCL may use at most (channels), or chose, for a collective of versions 2 and 3.
struct EarlyChoice {
  uint8_t most_channels;
  uint8_t warps;
  const char* algorithm;
  const char* protocol;
};

// Of versions 2 and 3: of a communicator nothing is told when one is made, each event names its
// own.
struct EarlyEventDescriptor {
  uint8_t type;
  void* parent;
  int rank;
  union {
    struct {
      const char* communicator;
      uint64_t hash;
      uint64_t sequence;
      const char* function;
      const void* send_buffer;
      void* receive_buffer;
      size_t count;
      int root;
      const char* datatype;
      union {
        struct {
          size_t traffic_bytes;
          EarlyChoice choice;
        } v2;
        EarlyChoice v3;
      };
    } collective;
    struct {
      const char* communicator;
      uint64_t hash;
      const char* function;
      void* buffer;
      const char* datatype;
      size_t count;
      int peer;
    } point_to_point;
  };
};
static_assert(sizeof(EarlyEventDescriptor) == 128);
static_assert(offsetof(EarlyEventDescriptor, collective) == 24);
static_assert(offsetof(EarlyEventDescriptor, collective.sequence) == 40);
static_assert(offsetof(EarlyEventDescriptor, collective.count) == 72);
static_assert(offsetof(EarlyEventDescriptor, collective.datatype) == 88);
static_assert(offsetof(EarlyEventDescriptor, collective.v3.algorithm) == 104);
static_assert(offsetof(EarlyEventDescriptor, collective.v3.protocol) + 8 ==
              120);  // all of version 3
static_assert(offsetof(EarlyEventDescriptor, collective.v2.choice.algorithm) == 112);
static_assert(offsetof(EarlyEventDescriptor, point_to_point.function) == 40);
static_assert(offsetof(EarlyEventDescriptor, point_to_point.peer) == 72);

using Result = int;  // ncclResult_t; 0 is success
using Log = void (*)(int level, unsigned long flags, const char* file, int line, const char* format,
                     ...);

struct ProfilerEarly {
  const char* name;
  Result (*init)(void** context, int* mask);
  Result (*start_event)(void* context, void** handle, EarlyEventDescriptor* event);
  Result (*stop_event)(void* handle);
  Result (*record_event_state)(void* handle, int state, void* arguments);
  Result (*finalize)(void* context);
};

struct ProfilerV4 {
  const char* name;
  Result (*init)(void** context, int* mask, const char* name, uint64_t hash, int nodes, int ranks,
                 int rank, Log log);
  Result (*start_event)(void* context, void** handle, EventDescriptor* event);
  Result (*stop_event)(void* handle);
  Result (*record_event_state)(void* handle, int state, void* arguments);
  Result (*finalize)(void* context);
};

struct ProfilerV5 {
  const char* name;
  Result (*init)(void** context, uint64_t hash, int* mask, const char* name, int nodes, int ranks,
                 int rank, Log log);
  Result (*start_event)(void* context, void** handle, EventDescriptor* event);
  Result (*stop_event)(void* handle);
  Result (*record_event_state)(void* handle, int state, void* arguments);
  Result (*finalize)(void* context);
};
static_assert(sizeof(ProfilerEarly) == 48);
static_assert(sizeof(ProfilerV4) == 48 && sizeof(ProfilerV5) == 48);

}  // namespace tutti::tracer::nccl
