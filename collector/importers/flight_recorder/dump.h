// A dump of torch's flight recorder (TORCH_NCCL_DUMP_ON_TIMEOUT, the debug socket) as
// plain structures, whatever its version and notation (pickle, JSON).
// The layout: torch/csrc/distributed/c10d/FlightRecorder.hpp and FlightRecorderDetail.hpp,
// versions 1.0 to 2.10. JSON differs: 0 is written for a time that is not known, numbers
// of pg_status are texts, a dump without entries has no such key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/importers/pickle/value.h"
#include "common/status.h"

namespace tutti::collector::importers::flight_recorder {

// A process group as this rank was told of it.
struct Group {
  std::string name;            // unique in the job; of old dumps the local id
  std::string description;     // "default_pg"
  std::vector<int64_t> ranks;  // global, by group rank; empty: not told
  std::string backend = "nccl";
  // How far the rank was: of the last call, collective or point-to-point. Nothing: not told.
  std::optional<int64_t> last_enqueued;
  std::optional<int64_t> last_started;
  std::optional<int64_t> last_completed;
};

// A tensor argument.
struct Tensor {
  std::string dtype;  // ours: "float32"
  std::vector<int64_t> sizes;
  std::optional<int64_t> bytes;  // nothing: dtype unknown, or beyond 64 bits
};

enum class State { kUntold, kScheduled, kStarted, kCompleted };

// One call.
struct Entry {
  size_t group = 0;  // place in Dump::groups
  std::optional<int64_t> collective_sequence;
  std::optional<int64_t> p2p_sequence;
  std::string op;
  std::optional<int64_t> peer;  // in the group's numbers
  bool is_p2p = false;
  bool is_batch = false;  // stands for a batch of calls, see names.h
  State state = State::kUntold;
  std::optional<int64_t> created_ns;  // since the Unix epoch
  std::optional<int64_t> started_ns;  // when the watchdog saw it; later than it was
  std::optional<int64_t> completed_ns;
  std::optional<int64_t> timeout_ms;
  std::optional<int64_t> thread_id;
  std::string thread_name;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::string stack;  // innermost frame first, "function (file:line)", one a line

  // What collective_source.bytes means: one rank's share of `ranks` (nccl-tests' count).
  std::optional<int64_t> Payload(int64_t ranks) const;
  std::string dtype() const;
  std::string Shapes() const;  // "[2048, 5120] -> [8192, 5120]"
};

struct Dump {
  std::string version;          // "2.9", "" untold
  std::string nccl_version;     // the same
  std::optional<int64_t> rank;  // that the content tells
  std::vector<Group> groups;
  std::vector<Entry> entries;  // in the order in which they were recorded
  // What could not be used, by what it is: "entry_not_readable", "pg_status_unmatched", …
  std::map<std::string, int64_t> oddities;
};

// True for plain data that is a dump: a dict with a version and entries, groups or
// states; or, before versions, a list of entries.
bool IsDump(pickle::Value root);

// Requires IsDump(root). Never fails: what can't be used is counted in `oddities`. Work and
// memory are bounded by `input_bytes`, the size of the file: a pickle may refer to one long
// list from a million places.
Dump ParseDump(pickle::Value root, size_t input_bytes);

// The rank that is in every group of the dump, if there is only one.
std::optional<int64_t> CommonRank(std::span<const Group> groups);

}  // namespace tutti::collector::importers::flight_recorder
