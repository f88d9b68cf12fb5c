#include "collector/importers/memory_snapshot/rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "collector/importers/memory_snapshot/snapshot.h"
#include "collector/importers/memory_snapshot/totals.h"

namespace tutti::collector::importers::memory_snapshot {
namespace {

constexpr std::array kKnownOddities = {
    Oddity{Severity::kDataLoss, "segment_not_readable", "segments without address or size", ""},
    Oddity{Severity::kDataLoss, "block_not_readable", "blocks without a size", ""},
    Oddity{Severity::kDataLoss, "event_not_readable", "events without action, address or size", ""},
    Oddity{Severity::kDataLoss, "snapshot_repeats_itself",
           "parts of a snapshot that refers to the same values too often", ""},
    Oddity{Severity::kInfo, "external_annotations",
           "annotations beside the snapshot, which no table holds", ""},
    Oddity{Severity::kInfo, "allocator_settings", "settings of the allocator, which no table holds",
           ""},
};
constexpr Oddity kOtherOddity{Severity::kNotice, "snapshot_oddity",
                              "parts of the snapshot that were not used", ""};
constexpr Oddity kActionUnknown{Severity::kNotice, "memory_action_unknown",
                                "events with an action that is not known, kept without effect on "
                                "the totals",
                                ""};
constexpr Oddity kTimeUntold{Severity::kNotice, "memory_time_untold",
                             "events without a time: they are numbered in their order", ""};
constexpr Oddity kFreeWithoutAlloc{
    Severity::kInfo, "free_without_alloc",
    "blocks freed that the history does not show allocated: it begins later", ""};
constexpr Oddity kAllocOfLive{Severity::kNotice, "alloc_of_live_address",
                              "blocks allocated where one was live: the release is missing", ""};
constexpr Oddity kStackTooMuch{Severity::kDataLoss, "stack_left_out",
                               "stacks that are longer together than the file could tell", ""};
// Frames are shared by many stacks; a real snapshot makes three bytes of text of one.
constexpr size_t kStackBytesPerByte = 50;
constexpr size_t kStackBytesToStart = size_t{1} << 20;
constexpr Oddity kTotalsDisagree{Severity::kNotice, "memory_totals_disagree",
                                 "devices whose history does not lead to the snapshot's totals",
                                 ""};

// How an action changes the totals: +1, 0, -1 times the event's size. What a program holds
// goes down when it asks to free; that a stream still uses it is the allocator's affair.
struct Action {
  std::string_view name;
  int allocated;
  int reserved;
};
constexpr std::array kActions = {
    Action{"alloc", 1, 0},           Action{"free", -1, 0},
    Action{"free_requested", -1, 0}, Action{"free_completed", 0, 0},
    Action{"segment_alloc", 0, 1},   Action{"segment_free", 0, -1},
    Action{"segment_map", 0, 1},     Action{"segment_unmap", 0, -1},
    Action{"snapshot", 0, 0},        Action{"oom", 0, 0},
    Action{"user_defined", 0, 0},
};

const Action* FindAction(std::string_view name) {
  for (const Action& action : kActions) {
    if (action.name == name) return &action;
  }
  return nullptr;
}

// What is told of a device at the end, and what its history says before that.
struct Device {
  std::optional<int64_t> allocated_bytes;
  std::optional<int64_t> reserved_bytes;
  OpeningBalance allocated;
  OpeningBalance reserved;
};

void AddTo(std::optional<int64_t>& sum, int64_t bytes) {
  int64_t result = 0;
  if (!__builtin_add_overflow(sum.value_or(0), bytes, &result)) sum = result;
}

// First pass: totals only.
class Totals : public Visitor {
 public:
  void OnSegment(const Segment& segment) override {
    Device& device = devices[segment.device];
    AddTo(device.reserved_bytes, segment.bytes);
    if (segment.allocated_bytes) AddTo(device.allocated_bytes, *segment.allocated_bytes);
  }
  void OnBlock(const Block& /*block*/) override {}
  void OnEvent(const Event& event) override {
    const Action* action = FindAction(event.action);
    if (action == nullptr) return;
    Device& device = devices[static_cast<int64_t>(event.device)];
    if (action->allocated != 0) device.allocated.Add(action->allocated * event.bytes);
    if (action->reserved != 0) device.reserved.Add(action->reserved * event.bytes);
  }
  void OnOddity(std::string_view /*what*/, int64_t /*count*/) override {}

  std::map<int64_t, Device> devices;
};

class Writer : public Visitor {
 public:
  Writer(std::map<int64_t, Device> devices, size_t input_bytes, TraceSink& sink)
      : sink_(sink), stack_bytes_left_(kStackBytesToStart + kStackBytesPerByte * input_bytes) {
    for (const auto& [id, device] : devices) {
      running_[id] = {device.allocated.Opening(device.allocated_bytes),
                      device.reserved.Opening(device.reserved_bytes), 0};
      if (!device.allocated.Agrees(device.allocated_bytes) ||
          !device.reserved.Agrees(device.reserved_bytes)) {
        sink_.Count(kTotalsDisagree, "device " + std::to_string(id));
      }
    }
  }

  void OnSegment(const Segment& segment) override {
    schema::MemorySegmentRow row;
    row.device_id = segment.device;
    row.stream_id = segment.stream;
    row.address = segment.address;
    row.bytes = segment.bytes;
    row.allocated_bytes = segment.allocated_bytes;
    row.active_bytes = segment.active_bytes;
    row.requested_bytes = segment.requested_bytes;
    if (!segment.kind.empty()) row.kind = segment.kind;
    if (!segment.pool.empty()) row.pool = segment.pool;
    if (segment.is_expandable) row.is_expandable = *segment.is_expandable ? 1 : 0;
    row.stack_id = StackOf(segment.frames);
    segment_ = sink_.Add(std::move(row));
    CountRead();
  }

  void OnBlock(const Block& block) override {
    schema::MemoryBlockRow row;
    row.segment_id = segment_;
    row.address = block.address;
    row.bytes = block.bytes;
    row.requested_bytes = block.requested_bytes;
    row.state = block.state;
    row.stack_id = StackOf(block.frames);
    sink_.Add(std::move(row));
    CountRead();
  }

  void OnEvent(const Event& event) override {
    schema::MemoryEventRow row;
    row.time_ns = TimeOf(event);
    row.device_type = "cuda";
    row.device_id = static_cast<int64_t>(event.device);
    row.address = event.address;
    row.stream_id = event.stream;
    row.action = event.action;
    row.is_oom = event.action == "oom" ? 1 : 0;
    row.stack_id = StackOf(event.frames);
    const Action* action = FindAction(event.action);
    if (action == nullptr) Count(kActionUnknown, event, row.time_ns, event.action);
    Apply(action, event, row);
    if (action != nullptr) CheckLife(*action, event, row.time_ns);
    Widen(row.time_ns);
    sink_.Add(std::move(row));
    CountRead();
  }

  void OnOddity(std::string_view what, int64_t count) override {
    const Oddity* known = &kOtherOddity;
    for (const Oddity& oddity : kKnownOddities) {
      if (oddity.name == what) known = &oddity;
    }
    sink_.Count(*known, "", {}, count);
    if (known->severity == Severity::kDataLoss) sink_.sources.back().events_skipped += count;
  }

 private:
  struct Running {
    int64_t allocated_bytes = 0;
    int64_t reserved_bytes = 0;
    int64_t events = 0;
  };

  void CountRead() { ++sink_.sources.back().events_read; }

  // Called where something is odd: events are many.
  void Count(const Oddity& oddity, const Event& event, std::optional<int64_t> time_ns,
             std::string_view about = {}) {
    const int64_t number = running_[static_cast<int64_t>(event.device)].events - 1;
    const std::string place =
        "device " + std::to_string(event.device) + ", event " + std::to_string(number);
    sink_.Count(oddity, place, time_ns, 1, about);
  }

  int64_t TimeOf(const Event& event) {
    const int64_t number = running_[static_cast<int64_t>(event.device)].events++;
    int64_t time_ns = 0;
    if (event.time_us && !__builtin_mul_overflow(*event.time_us, 1000, &time_ns)) return time_ns;
    Count(kTimeUntold, event, {});
    return number;
  }

  void Apply(const Action* action, const Event& event, schema::MemoryEventRow& row) {
    Running& running = running_[static_cast<int64_t>(event.device)];
    row.delta_bytes = row.is_oom == 1 ? event.bytes : 0;
    if (action != nullptr) {
      row.delta_bytes = row.is_oom == 1 ? event.bytes : action->allocated * event.bytes;
      Change(running.allocated_bytes, action->allocated * event.bytes);
      Change(running.reserved_bytes, action->reserved * event.bytes);
    }
    row.allocated_bytes = running.allocated_bytes;
    row.reserved_bytes = running.reserved_bytes;
  }

  static void Change(int64_t& total, int64_t bytes) {
    int64_t changed = 0;
    if (!__builtin_add_overflow(total, bytes, &changed)) total = changed;
  }

  void CheckLife(const Action& action, const Event& event, int64_t time_ns) {
    if (action.allocated == 0) return;
    auto& live = live_[event.device];
    if (action.allocated > 0) {
      if (!live.emplace(event.address, event.bytes).second) {
        Count(kAllocOfLive, event, time_ns);
      }
    } else if (live.erase(event.address) == 0) {
      Count(kFreeWithoutAlloc, event, time_ns);
    }
  }

  void Widen(int64_t time_ns) {
    TraceIdentity& identity = sink_.identity;
    identity.begin_ns = std::min(identity.begin_ns.value_or(time_ns), time_ns);
    identity.end_ns = std::max(identity.end_ns.value_or(time_ns), time_ns);
  }

  // Events share their frames, which become text once.
  int64_t StackOf(pickle::Value frames) {
    if (frames.Items().empty()) return 0;
    const auto [stack, is_new] = stacks_.emplace(frames.identity(), 0);
    if (!is_new) return stack->second;
    const std::string text = StackText(frames);
    if (text.size() > stack_bytes_left_) {
      sink_.Count(kStackTooMuch, "");
      return 0;
    }
    stack_bytes_left_ -= text.size();
    return stack->second = sink_.Intern(text);
  }

  TraceSink& sink_;
  size_t stack_bytes_left_;
  std::map<int64_t, Running> running_;
  std::map<size_t, std::unordered_map<int64_t, int64_t>> live_;  // by device: address, bytes
  std::unordered_map<uint64_t, int64_t> stacks_;
  int64_t segment_ = 0;
};

}  // namespace

void WriteSnapshot(pickle::Value root, size_t input_bytes, TraceSink& sink) {
  Totals totals;
  Walk(root, input_bytes, totals);
  Writer writer(std::move(totals.devices), input_bytes, sink);
  Walk(root, input_bytes, writer);
}

}  // namespace tutti::collector::importers::memory_snapshot
