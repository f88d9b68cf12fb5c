#include "analyzer/metrics/collective_timing.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <string>

namespace tutti::analyzer {
namespace {

enum class Volume { kPayload, kAllRanks, kNone };  // what algbw counts: c, n * c, nothing

struct OpFacts {
  std::string_view key;  // op without '_' and in lower case starts with it
  OpKind kind;
  Volume volume;
  int factor_times;  // busbw factor: factor_times * (n - 1) / n; 0: factor 1
};

// Longer keys before those that they start with.
constexpr std::array kOps = {
    OpFacts{"allreduce", OpKind::kAllToAll, Volume::kPayload, 2},
    OpFacts{"allgather", OpKind::kAllToAll, Volume::kAllRanks, 1},
    OpFacts{"reducescatter", OpKind::kAllToAll, Volume::kAllRanks, 1},
    OpFacts{"alltoall", OpKind::kAllToAll, Volume::kAllRanks, 1},
    OpFacts{"barrier", OpKind::kAllToAll, Volume::kNone, 0},
    OpFacts{"broadcast", OpKind::kFromRoot, Volume::kPayload, 0},
    OpFacts{"scatter", OpKind::kFromRoot, Volume::kAllRanks, 1},
    OpFacts{"gather", OpKind::kToRoot, Volume::kAllRanks, 1},
    OpFacts{"reduce", OpKind::kToRoot, Volume::kPayload, 0},
    OpFacts{"send", OpKind::kPointToPoint, Volume::kPayload, 0},
    OpFacts{"recv", OpKind::kPointToPoint, Volume::kPayload, 0},
};

const OpFacts* FactsOf(std::string_view op) {
  std::string key;
  for (const char c : op) {
    if (c != '_') key.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  const auto* facts = std::find_if(kOps.begin(), kOps.end(),
                                   [&](const OpFacts& f) { return key.starts_with(f.key); });
  return facts == kOps.end() ? nullptr : facts;
}

bool HasRoot(std::span<const CallTime> calls) {
  return std::any_of(calls.begin(), calls.end(), [](const CallTime& c) { return c.is_root; });
}

// Who hands data over need not wait for who takes it; if it was not done before the other came, it
// did (see the header).
bool StoodUntilItCame(const CallTime& own, const CallTime& other) {
  return !own.end_ns || *own.end_ns >= other.arrival_ns;
}

// Whether `other` holds up `own`.
bool WaitsFor(OpKind kind, const CallTime& own, const CallTime& other) {
  switch (kind) {
    case OpKind::kFromRoot:
      return other.is_root || (own.is_root && StoodUntilItCame(own, other));
    case OpKind::kToRoot:
      return own.is_root || (other.is_root && StoodUntilItCame(own, other));
    default:
      return true;
  }
}

int64_t ReadyTime(OpKind kind, std::span<const CallTime> calls, const CallTime& own) {
  int64_t ready = own.arrival_ns;
  for (const CallTime& other : calls) {
    if (WaitsFor(kind, own, other)) ready = std::max(ready, other.arrival_ns);
  }
  return ready;
}

// Whether anybody may be held up by `call`.
bool HoldsUp(OpKind kind, std::span<const CallTime> calls, const CallTime& call) {
  return std::any_of(calls.begin(), calls.end(),
                     [&](const CallTime& other) { return WaitsFor(kind, other, call); });
}

// The one rank at whose arrival `ready_ns` came; nothing where several did, or where
// nobody was held up.
std::optional<int> LastRank(OpKind kind, std::span<const CallTime> calls, int64_t ready_ns) {
  std::optional<int> last;
  for (const CallTime& call : calls) {
    if (call.arrival_ns != ready_ns || !HoldsUp(kind, calls, call)) continue;
    if (last) return std::nullopt;
    last = call.rank;
  }
  return last;
}

// A rank that nobody waits for is ready when it comes: the collective's own ready time is the
// last arrival of those that somebody waits for.
int64_t CollectiveReady(OpKind kind, std::span<const CallTime> calls) {
  int64_t ready = std::numeric_limits<int64_t>::min();
  for (const CallTime& call : calls) {
    if (HoldsUp(kind, calls, call)) ready = std::max(ready, call.arrival_ns);
  }
  return ready;
}

}  // namespace

OpKind KindOfOp(std::string_view op) {
  const OpFacts* facts = FactsOf(op);
  return facts == nullptr ? OpKind::kUnknown : facts->kind;
}

CollectiveTiming TimeCollective(OpKind kind, std::span<const CallTime> calls) {
  assert(!calls.empty());
  const bool rooted = kind == OpKind::kFromRoot || kind == OpKind::kToRoot;
  if (rooted && !HasRoot(calls)) kind = OpKind::kAllToAll;

  CollectiveTiming result;
  result.ready_ns = CollectiveReady(kind, calls);
  result.last_rank = LastRank(kind, calls, result.ready_ns);
  const auto [first, last] = std::minmax_element(
      calls.begin(), calls.end(),
      [](const CallTime& a, const CallTime& b) { return a.arrival_ns < b.arrival_ns; });
  result.skew_ns = last->arrival_ns - first->arrival_ns;
  for (const CallTime& call : calls) {
    CallTiming timing;
    timing.ready_ns = ReadyTime(kind, calls, call);
    const int64_t wait_ns = *timing.ready_ns - call.arrival_ns;
    timing.wait_ns = wait_ns;
    if (call.end_ns) {
      timing.wait_ns = std::min(wait_ns, *call.end_ns - call.arrival_ns);
      timing.transfer_ns = *call.end_ns - *timing.ready_ns;
      if (*timing.transfer_ns < 0) {
        ++result.clamped;
      } else if (!result.transfer_ns || *timing.transfer_ns < *result.transfer_ns) {
        result.transfer_ns = timing.transfer_ns;
      }
    }
    result.calls.push_back(timing);
  }
  return result;
}

std::optional<Bandwidth> BandwidthOf(std::string_view op, int64_t bytes, int ranks,
                                     int64_t transfer_ns) {
  const OpFacts* facts = FactsOf(op);
  if (facts == nullptr || facts->volume == Volume::kNone) return std::nullopt;
  if (bytes <= 0 || ranks < 1 || transfer_ns <= 0) return std::nullopt;
  const double volume = static_cast<double>(bytes) *
                        (facts->volume == Volume::kAllRanks ? static_cast<double>(ranks) : 1.0);
  Bandwidth bandwidth;
  bandwidth.algbw_gb_per_s = volume / static_cast<double>(transfer_ns);  // B/ns = 10^9 B/s
  if (ranks == 1) return bandwidth;
  const double factor =
      facts->factor_times == 0 ? 1.0 : facts->factor_times * static_cast<double>(ranks - 1) / ranks;
  bandwidth.busbw_gb_per_s = bandwidth.algbw_gb_per_s * factor;
  return bandwidth;
}

}  // namespace tutti::analyzer
