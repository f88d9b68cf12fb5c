// Which process group a state of pg_status belongs to: states are told by the local id
// of a group, everything else by its name in the job.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/importers/flight_recorder/dump.h"

namespace tutti::collector::importers::flight_recorder {

struct StatusOfId {
  std::string id;
  std::optional<int64_t> last_enqueued;
  std::optional<int64_t> last_started;
  std::optional<int64_t> last_completed;
};

// Entries tell the name of some ids (`group_of_id`: place in `groups`). A rank without
// entries, which is the one that hangs, tells none: ids and names both count up as groups
// are made, so between two known ones, where there are as many ids as names, they pair in
// order. Returns how many states found no group.
int64_t AssignStatus(std::span<const StatusOfId> states,
                     const std::map<std::string, size_t>& group_of_id, std::vector<Group>& groups);

}  // namespace tutti::collector::importers::flight_recorder
