// One collective call of a rank out of the rows of several sources that saw it.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::analyzer {

// What one source says. Times ns; empty: not known.
struct SourceCall {
  int64_t id = 0;
  std::string origin = {};  // 'gloo_op', 'kernel', 'nccl_plugin', 'nccl_nvtx', 'flight_recorder' …
  std::optional<int64_t> communicator_id = {};
  std::optional<int64_t> sequence = {};
  std::string op = {};
  std::string dtype = {};
  std::optional<int64_t> bytes = {};
  std::optional<int64_t> enqueue_ns = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> peer = {};
  std::optional<int64_t> root = {};
  std::optional<int64_t> correlation_id = {};
};

// Whether the call had not ended when the trace did. What only NCCL's NVTX ranges tell, with
// no kernel found for it, has no times at all: nothing is known of its end.
bool IsOpen(const SourceCall& call);

// Joins rows of different origins with equal (communicator, sequence, op) or equal
// correlation id; rows of one origin are never joined. The times are those of the
// source nearest to where the work runs (Gloo's own, the kernel), the call's facts
// those of the first source that knows them in the order of SourceCall::origin above.
// `id` and `origin` are those of the row that gave the times. Result in the order in
// which the calls were enqueued. O(n log n).
std::vector<SourceCall> JoinSources(std::span<const SourceCall> rows);

}  // namespace tutti::analyzer
