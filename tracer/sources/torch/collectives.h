// Gloo's collectives: who handed them over and when, when they began and ended on Gloo's
// worker thread, and for which group. Fed by the interposed functions (interpose.cc) and by
// the RecordFunctions that the works themselves open (operators.cc).
//
//   caller's thread    enqueue(group, work) ────────────► CollectiveEnqueueRecord
//   worker's thread      execute(work): begin ─ RecordFunction "gloo:…" (bytes, dtype)
//                                         end ──────────► CollectiveRecord, same work handle
//
// Sends and receives have no worker: they begin in send() or recv() and end in wait(), on
// whatever thread waits.
//
// All functions may be called on any thread, allocate nothing, never fail, and cost two loads
// in a process that is no rank. Sequences are counted in every process, recorded or not, so
// that they agree over ranks.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracer/core/entry.h"
#include "tracer/sources/torch/record.h"

namespace tutti::tracer::torch {

// A group's constructor is entered. Makes the process a rank.
void OnGroupConstruct(const void* gloo, int32_t rank, int32_t size) noexcept;

// |work| is about to be put into the queue of |gloo|.
void OnEnqueue(const void* gloo, const void* work) noexcept;

// A worker thread of Gloo begins and ends to run |work|.
void OnWorkBegin(const void* work) noexcept;
void OnWorkEnd() noexcept;

// The current thread calls |gloo| with a root or a peer (ranks in the group, -1 none); what it
// hands over next gets them. There is no counterpart: exceptions may leave the call, and what
// is remembered is only used for an operation of |gloo| that has such an argument.
void OnRootedCall(const void* gloo, int64_t root) noexcept;
// |outputs|, a std::vector<at::Tensor>, is what this rank receives: only the root passes in more.
void OnScatterCall(const void* gloo, int64_t root, const void* outputs) noexcept;
void OnPeerCall(const void* gloo, int32_t peer) noexcept;

// An operator of c10d begins on this thread, its span is |identity|. Gloo runs some of them as
// another operation (reduce_scatter_tensor as all_reduce); what is enqueued within keeps its
// name.
void OnCollectiveOperator(std::string_view name, uint64_t identity) noexcept;

inline constexpr std::string_view kC10dPrefix = "c10d::";
inline constexpr std::string_view kGlooPrefix = "gloo:";

// What a RecordFunction named kGlooPrefix… turned out to be.
enum class CollectiveRole : uint8_t {
  kNone,          // an ordinary range
  kWork,          // the work that this thread runs
  kPointToPoint,  // a send or receive; its end may come on another thread
};

// Called in its start and end callbacks, inside an Entry.
CollectiveRole OnCollectiveStart(Entry& entry, const Record& record) noexcept;
void OnCollectiveEnd(Entry& entry, const Record& record, CollectiveRole role) noexcept;

}  // namespace tutti::tracer::torch
