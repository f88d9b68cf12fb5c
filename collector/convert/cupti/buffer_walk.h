// Walks a buffer of activity records as CUPTI filled it, without CUPTI: for buffers that were
// written to a file, and to know what the traced process's own library should have found. The
// bytes may be anything. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collector/convert/cupti/activity_layout.h"

namespace tutti::collector::convert::cupti {

enum class WalkEnd {
  kComplete,     // the last record ends where the buffer does
  kTruncated,    // the buffer ends within a record; its begin was not handed on
  kUnknownKind,  // nobody knows how long the next record is
};

struct Walk {
  uint64_t records = 0;
  size_t bytes = 0;  // of the records that were handed on
  WalkEnd end = WalkEnd::kComplete;
};

// Calls |handler(uint32_t kind, ActivityView)| for each record of |buffer| (its valid bytes only)
// in order; |version| is cuptiGetVersion() of the library that wrote it.
template <typename Handler>
Walk WalkBuffer(std::span<const std::byte> buffer, uint32_t version, Handler&& handler) {
  Walk walk;
  while (walk.bytes < buffer.size()) {
    const std::span<const std::byte> rest = buffer.subspan(walk.bytes);
    const auto kind = ActivityView(rest).Find(kKind);
    const size_t bytes = kind ? RecordBytes(*kind, version) : 0;
    if (!kind || bytes > rest.size()) {
      walk.end = WalkEnd::kTruncated;
      return walk;
    }
    if (bytes == 0) {
      walk.end = WalkEnd::kUnknownKind;
      return walk;
    }
    handler(*kind, ActivityView(rest.first(bytes)));
    walk.bytes += bytes;
    ++walk.records;
  }
  return walk;
}

}  // namespace tutti::collector::convert::cupti
