// CUDA_GPU_MEMORY_USAGE_EVENTS: allocations and releases through the driver.
#include <array>
#include <map>
#include <tuple>

#include "collector/importers/nsys/device_activity.h"

namespace tutti::collector::importers::nsys {
namespace {

enum Column : size_t { kStart, kPid, kDevice, kAddress, kBytes, kKind, kOperation, kStream };
enum Operation : int64_t { kAllocation = 0, kDeallocation = 1 };
enum Kind : int64_t { kPageable = 0, kPinned = 1, kDeviceMemory = 2 };

// What a rank holds, by device type and device.
struct Held {
  std::map<int64_t, int64_t> blocks;  // address -> bytes
  int64_t bytes = 0;
};
using Place = std::tuple<size_t, std::string, int64_t>;  // rank, device type, device

const char* DeviceType(int64_t kind) {
  return kind == kPageable || kind == kPinned ? "cpu" : "cuda";
}

// delta_bytes of the event, and |held| after it.
std::optional<int64_t> Apply(Held& held, int64_t operation, int64_t address, int64_t bytes) {
  if (operation == kAllocation) {
    const auto [block, is_new] = held.blocks.insert_or_assign(address, bytes);
    (void)block;
    (void)is_new;
    if (__builtin_add_overflow(held.bytes, bytes, &held.bytes)) held.bytes = 0;
    return bytes;
  }
  const auto block = held.blocks.find(address);
  if (block == held.blocks.end()) return std::nullopt;  // allocated before the capture
  const int64_t released = block->second;
  held.blocks.erase(block);
  held.bytes -= released;
  return -released;
}

class Importer {
 public:
  explicit Importer(ImportState& state) : state_(state) {}

  void Add(TableCursor& row) {
    RankOutput* rank = state_.RankOf(row.Int(kPid));
    if (rank == nullptr) return state_.Skip(row, SkipReason::kNotARank);
    rank->CountEvent();
    const auto start = row.Int(kStart);
    const auto address = row.Int(kAddress);
    const auto bytes = row.Int(kBytes);
    const auto operation = row.Int(kOperation);
    const int64_t kind = row.Int(kKind).value_or(kDeviceMemory);
    if (!start || !bytes || !operation) return state_.Skip(row, SkipReason::kMissingValue, rank);
    if (*bytes < 0) return state_.Skip(row, SkipReason::kNegativeSize, rank);
    if (*operation != kAllocation && *operation != kDeallocation) {
      return state_.Skip(row, SkipReason::kUnknownType, rank);
    }
    const auto time_ns = state_.session.clock.ToTrace(*start);
    if (!time_ns) return state_.Skip(row, SkipReason::kTimeOutOfRange, rank);
    schema::MemoryEventRow event;
    event.time_ns = *time_ns;
    event.device_type = DeviceType(kind);
    if (event.device_type == "cuda") event.device_id = row.Int(kDevice);
    event.address = address.value_or(0);
    Held& held = held_[{rank->place(), event.device_type, event.device_id.value_or(-1)}];
    event.delta_bytes = Apply(held, *operation, event.address, *bytes);
    event.allocated_bytes = held.bytes;
    event.stream_id = row.Int(kStream);
    rank->Append(std::move(event));
    if (row.damaged()) state_.Skip(row, SkipReason::kOddValue, rank);
  }

 private:
  ImportState& state_;
  std::map<Place, Held> held_;
};

}  // namespace

Status ImportMemoryEvents(ImportState& state) {
  const ExportTable* table = state.database.Find("CUDA_GPU_MEMORY_USAGE_EVENTS");
  if (table == nullptr || !table->Has("start")) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(TableCursor row,
                         TableCursor::Open(state.database, *table,
                                           {"start", "globalPid", "deviceId", "address", "bytes",
                                            "memKind", "memoryOperationType", "streamId"},
                                           "ORDER BY start"));
  Importer importer(state);
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) return OkStatus();
    importer.Add(row);
  }
}

}  // namespace tutti::collector::importers::nsys
