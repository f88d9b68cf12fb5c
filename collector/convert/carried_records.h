// What of a spool's older cells must be kept when they are dropped, because records that come later
// refer to it: who writes on a ring, names of threads, communicators, schemas of payloads, GPUs,
// notes. Of each the newest. Cells come from a traced process: whatever is kept is bounded.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collector/convert/cell_decoder.h"
#include "collector/spool/format.h"
#include "collector/spool/reader.h"

namespace tutti::collector::convert {

class CarriedRecords {
 public:
  // Takes in cells of |ring|, in the order in which they were written.
  void Look(uint32_t ring, std::span<const std::byte> cells);
  // The payload of a kCarried chunk of an older file of the spool.
  void LookCarried(std::span<const std::byte> payload);

  // The payload of a kCarried chunk: one CarriedHeader with its cells for each record, in the order
  // in which they were written.
  std::string Payload() const;

  // Events in the cells so far, as against records that tell about threads and losses.
  uint64_t events() const { return events_; }
  void AddEvents(uint64_t events) { events_ += events; }

  static constexpr size_t kMostRecords = 16'384;

 private:
  // Kind, and what tells records of it apart.
  using Key = std::tuple<uint8_t, uint64_t, uint64_t>;
  struct Carried {
    uint64_t order;
    uint32_t ring;
    std::vector<std::byte> cells;
  };
  void Take(uint32_t ring, const RecordView& record, bool count);

  std::map<Key, Carried> records_;
  uint64_t next_order_ = 0;
  uint64_t events_ = 0;
};

// Whether a record of this kind may be carried: what others refer to, and no event of a thread.
bool IsCarried(wire::RecordKind kind);

// Calls |handler(ring, cells)| for each entry of a kCarried chunk's payload.
template <typename Handler>
void ForEachCarried(std::span<const std::byte> bytes, Handler&& handler) {
  spool::PayloadReader payload(bytes);
  spool::CarriedHeader header;
  std::string_view cells;
  while (payload.Read(header) && payload.ReadText(size_t{header.cells} * wire::kCellBytes, cells)) {
    handler(header.ring, std::as_bytes(std::span(cells)));
  }
}

// Whether the loss of a record of this kind is the loss of an event. The others tell about threads
// and losses, which are known otherwise.
bool IsEvent(wire::RecordKind kind);

}  // namespace tutti::collector::convert
