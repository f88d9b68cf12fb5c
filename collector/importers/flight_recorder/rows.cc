#include "collector/importers/flight_recorder/rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tutti::collector::importers::flight_recorder {
namespace {

constexpr Oddity kEntryNotReadable{Severity::kDataLoss, "entry_not_readable",
                                   "entries of the flight recorder without an operation", ""};
constexpr Oddity kStatusUnmatched{
    Severity::kNotice, "pg_status_unmatched",
    "process groups whose progress is told by an id that no entry uses", ""};
constexpr Oddity kCommState{Severity::kInfo, "nccl_comm_state",
                            "states of NCCL communicators in the dump, which no table holds", ""};
constexpr Oddity kBatch{
    Severity::kInfo, "coalesced_batch",
    "entries that stand for a batch of calls; their progress is told with its calls", ""};
constexpr Oddity kTold{Severity::kInfo, "told_by_trace",
                       "calls of the dump that are over and stand in the profiler's trace as well",
                       ""};
constexpr Oddity kDtype{Severity::kNotice, "dtype_unknown",
                        "calls with a data type of unknown size, so without bytes", ""};

constexpr Oddity kRepeats{Severity::kDataLoss, "dump_repeats_itself",
                          "entries or groups of a dump that refers to the same values too often",
                          ""};
constexpr Oddity kOther{Severity::kNotice, "dump_oddity", "parts of the dump that were not used",
                        ""};

// Oddities that the parser counts, by the name it gives them.
const Oddity& OddityCalled(std::string_view name) {
  static constexpr std::array kKnown = {kEntryNotReadable, kStatusUnmatched, kCommState, kRepeats};
  const auto* found =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Oddity& o) { return o.name == name; });
  return found == kKnown.end() ? kOther : *found;
}

const char* TextOf(State state) {
  switch (state) {
    case State::kScheduled:
      return "scheduled";
    case State::kStarted:
      return "started";
    case State::kCompleted:
      return "completed";
    case State::kUntold:
      break;
  }
  return "";
}

std::optional<int64_t> PlaceIn(const std::vector<int64_t>& ranks, std::optional<int64_t> rank) {
  const auto found = rank ? std::find(ranks.begin(), ranks.end(), *rank) : ranks.end();
  if (found == ranks.end()) return std::nullopt;
  return found - ranks.begin();
}

schema::CommunicatorRow CommunicatorOf(const Group& group, int64_t ordinal,
                                       std::optional<int64_t> rank) {
  schema::CommunicatorRow row;
  row.backend = group.backend;
  if (!group.name.empty()) row.uid = group.name;
  if (!group.description.empty()) row.description = group.description;
  row.ordinal = ordinal;
  row.group_rank = PlaceIn(group.ranks, rank);
  if (!group.ranks.empty()) {
    row.group_size = static_cast<int64_t>(group.ranks.size());
    row.global_ranks = ListText(group.ranks);
  }
  row.last_enqueued_sequence = group.last_enqueued;
  row.last_started_sequence = group.last_started;
  row.last_completed_sequence = group.last_completed;
  return row;
}

void WidenTo(std::optional<int64_t> time_ns, TraceIdentity& identity) {
  if (!time_ns) return;
  identity.begin_ns = std::min(identity.begin_ns.value_or(*time_ns), *time_ns);
  identity.end_ns = std::max(identity.end_ns.value_or(*time_ns), *time_ns);
}

// The group of all ranks: torch calls it so; before descriptions it was the first.
std::optional<int64_t> WorldSizeOf(const Dump& dump) {
  size_t size = 0;
  for (const Group& group : dump.groups) {
    if (group.description == "default_pg") return static_cast<int64_t>(group.ranks.size());
    size = std::max(size, group.ranks.size());
  }
  if (size == 0) return std::nullopt;
  return static_cast<int64_t>(size);
}

class Writer {
 public:
  Writer(const Dump& dump, const JoinedTrace& joined, TraceSink& sink)
      : dump_(dump), sink_(sink), joined_(joined), next_ordinals_(joined.next_ordinals) {}

  void Write() {
    if (!sink_.identity.world_size) sink_.identity.world_size = WorldSizeOf(dump_);
    for (size_t i = 0; i < dump_.groups.size(); ++i) communicators_.push_back(CommunicatorFor(i));
    for (const Entry& entry : dump_.entries) {
      if (!entry.is_batch && !entry.is_p2p) {
        singles_.insert({entry.group, entry.collective_sequence.value_or(-1)});
      }
    }
    for (size_t i = 0; i < dump_.entries.size(); ++i) {
      const Entry& entry = dump_.entries[i];
      if (entry.is_batch && IsRedundant(entry)) {
        Skip(kBatch, i);
      } else if (joined_.Tells(entry)) {
        Skip(kTold, i);
      } else {
        WriteEntry(entry, i);
      }
    }
    for (const auto& [name, count] : dump_.oddities) {
      sink_.Count(OddityCalled(name), "", {}, count);
      if (name == kEntryNotReadable.name) sink_.sources.back().events_skipped += count;
    }
  }

 private:
  // Row id of the communicator of a group: the trace's own, or a new one.
  int64_t CommunicatorFor(size_t group) {
    if (group < joined_.communicators.size() && joined_.communicators[group]) {
      return *joined_.communicators[group];
    }
    const Group& told = dump_.groups[group];
    return sink_.Add(CommunicatorOf(told, next_ordinals_[told.backend]++, sink_.identity.rank));
  }

  void Skip(const Oddity& why, size_t entry) {
    ++sink_.sources.back().events_skipped;
    sink_.Count(why, PlaceOf(entry), dump_.entries[entry].created_ns);
  }

  static std::string PlaceOf(size_t entry) { return "entry " + std::to_string(entry); }

  // Whether a batch's entry says nothing that its calls don't. One of point-to-point calls
  // names no peer.
  bool IsRedundant(const Entry& batch) const {
    return batch.is_p2p || singles_.contains({batch.group, batch.collective_sequence.value_or(-1)});
  }

  void WriteEntry(const Entry& entry, size_t place) {
    schema::CollectiveSourceRow row;
    row.origin = "flight_recorder";
    row.communicator_id = communicators_[entry.group];
    row.sequence = entry.is_p2p ? entry.p2p_sequence : entry.collective_sequence;
    row.op_id = sink_.Intern(entry.op);
    row.dtype_id = sink_.Intern(entry.dtype());
    row.bytes = entry.Payload(static_cast<int64_t>(dump_.groups[entry.group].ranks.size()));
    if (!row.bytes && !entry.dtype().empty()) sink_.Count(kDtype, PlaceOf(place));
    row.enqueue_ns = entry.created_ns;
    row.begin_ns = entry.started_ns;
    row.end_ns = entry.completed_ns;
    row.peer = entry.peer;
    if (const char* state = TextOf(entry.state); *state != '\0') row.state = state;
    row.shapes_id = sink_.Intern(entry.Shapes());
    row.stack_id = sink_.Intern(entry.stack);
    row.enqueue_tid = ThreadOf(entry);
    // A dump reaches over hours; what a trace covers is what its own file does.
    if (!joined_.is_joined) {
      for (const auto& time_ns : {entry.created_ns, entry.started_ns, entry.completed_ns}) {
        WidenTo(time_ns, sink_.identity);
      }
    }
    sink_.Add(std::move(row));
    ++sink_.sources.back().events_read;
  }

  // pthread's number: torch does not tell the kernel's.
  std::optional<int64_t> ThreadOf(const Entry& entry) {
    if (!entry.thread_id) return std::nullopt;
    const int64_t pid = sink_.identity.pid.value_or(0);
    if (!entry.thread_name.empty()) {
      sink_.SetThreadName(pid, *entry.thread_id, entry.thread_name);
    }
    return sink_.Thread(pid, *entry.thread_id, entry.created_ns, entry.created_ns);
  }

  const Dump& dump_;
  TraceSink& sink_;
  const JoinedTrace& joined_;
  std::map<std::string, int64_t> next_ordinals_;
  std::vector<int64_t> communicators_;            // row ids, by place in dump_.groups
  std::set<std::pair<size_t, int64_t>> singles_;  // group and sequence of calls themselves
};

}  // namespace

std::string ListText(const std::vector<int64_t>& ranks) {
  std::string text = "[";
  for (const int64_t rank : ranks) text += (text.size() == 1 ? "" : ",") + std::to_string(rank);
  return text + "]";
}

void WriteDump(const Dump& dump, const JoinedTrace& joined, TraceSink& sink) {
  Writer(dump, joined, sink).Write();
}

}  // namespace tutti::collector::importers::flight_recorder
