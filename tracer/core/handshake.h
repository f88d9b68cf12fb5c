// One exchange with the collector over its unix socket (common/wire/handshake.h), and the
// mapping of the segment that comes of it. System calls, no allocation, a deadline on each
// wait; whatever the peer sends is checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/wire/handshake.h"
#include "common/wire/layout.h"
#include "tracer/core/environment.h"
#include "tracer/core/gate.h"

namespace tutti::tracer {

inline constexpr int64_t kHandshakeLimitNs = 3'000'000'000;

// Fills in everything about this process but the token.
wire::Hello MakeHello(const RankIdentity& identity, const char* reason) noexcept;

// Connects, sends |hello| and waits for the answer, |limit_ns| in all. nullptr if |*welcome|
// is a sound answer of a peer with our user id (or root's); then |*segment_file| is the
// descriptor that came with it, close-on-exec, or -1 if it was not accepted. Else what went
// wrong, as a phrase; |*segment_file| is -1.
const char* ExchangeHello(const SessionAddress& address, const wire::Hello& hello, int64_t limit_ns,
                          wire::Welcome* welcome, int* segment_file) noexcept;

// A mapped segment that was checked, with its rings as they were when they were checked.
struct MappedSegment {
  std::byte* base;
  wire::SegmentLayout layout;
  const RingRef* rings;  // layout.ring_count, in memory of their own
};

// Maps |file|, which must be a memfd of |bytes|, sealed against resizing and new seals (so
// that no access can fault). nullptr and |*mapped| filled in, or what is wrong and nothing
// left mapped. Mappings are for the process's life.
const char* MapSegment(int file, uint64_t bytes, MappedSegment* mapped) noexcept;

// |bytes| of private zeroed memory, nullptr if there is none.
void* MapPrivate(size_t bytes) noexcept;

}  // namespace tutti::tracer
