// Splits a batch of cells into records. The cells come from a traced process and may
// hold anything: every record is checked for its length and kind before it is handed
// on, by value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/wire/record.h"

namespace tutti::collector::convert {

// One record with the bytes that belong to it, copied out of the batch.
struct RecordView {
  wire::RecordHeader header;
  std::span<const std::byte> bytes;  // header.cells * kCellBytes, valid during the callback

  // The record as its struct; requires that header.kind is that struct's.
  template <typename Record>
  Record As() const {
    static_assert(sizeof(Record) <= wire::kCellBytes);
    Record record;
    std::memcpy(&record, bytes.data(), sizeof(record));
    return record;
  }
};

struct DecodeCounts {
  uint64_t records = 0;
  uint64_t unknown_records = 0;  // a kind of no version that this build knows; skipped
  uint64_t torn_cells = 0;       // cells that can't be the start of a record; skipped
};

inline constexpr bool IsKnownKind(wire::RecordKind kind) {
  return kind > wire::RecordKind::kPadding && kind <= wire::kLastRecordKind;
}

// Calls |handler(const RecordView&)| for each record of |cells| (a multiple of
// kCellBytes) in order. After a cell that can't start a record the next one is tried.
template <typename Handler>
void DecodeCells(std::span<const std::byte> cells, DecodeCounts& counts, Handler&& handler) {
  while (cells.size() >= wire::kCellBytes) {
    RecordView record;
    std::memcpy(&record.header, cells.data(), sizeof(record.header));
    const size_t bytes = size_t{record.header.cells} * wire::kCellBytes;
    const bool fits =
        bytes > 0 && record.header.cells <= wire::kMaxRecordCells && bytes <= cells.size();
    if (!fits || record.header.kind == wire::RecordKind::kPadding) {
      ++counts.torn_cells;
      cells = cells.subspan(wire::kCellBytes);
      continue;
    }
    if (IsKnownKind(record.header.kind)) {
      ++counts.records;
      record.bytes = cells.first(bytes);
      handler(record);
    } else {
      ++counts.unknown_records;
    }
    cells = cells.subspan(bytes);
  }
}

}  // namespace tutti::collector::convert
