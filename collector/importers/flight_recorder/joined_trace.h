// What a trace that another file made (a profiler's, beside which a dump lies) knows already of
// what the dump tells.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/importers/flight_recorder/dump.h"
#include "collector/importers/trace_sink.h"
#include "common/status.h"

namespace tutti::collector::importers::flight_recorder {

struct JoinedTrace {
  bool is_joined = false;  // false: the dump makes a trace of its own, all else is empty
  // By place in Dump::groups: id of the communicator row that the trace has of the group;
  // nothing: it has none.
  std::vector<std::optional<int64_t>> communicators = {};
  std::map<std::string, int64_t> next_ordinals = {};  // of new communicators, by backend
  // Whether collectives of the trace itself are in it; then it tells of all between these.
  bool has_collectives = false;
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};

  // Whether the trace tells of a call that the dump says is over.
  bool Tells(const Entry& entry) const;
};

// Of a trace that `sink` adds to. Communicators of the trace learn how far the dump says that the
// rank had come in them.
Result<JoinedTrace> JoinTrace(const Dump& dump, TraceSink& sink);

}  // namespace tutti::collector::importers::flight_recorder
