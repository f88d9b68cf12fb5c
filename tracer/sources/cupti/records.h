// From a full buffer into the ring: walks its records with CUPTI itself, copies each with the
// texts that it points to, and frees what CUPTI gave away. On the tracer's own thread, which can
// wait for the collector; nothing here runs on a thread of the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/core/entry.h"
#include "tracer/sources/cupti/dump.h"
#include "tracer/sources/cupti/library.h"

namespace tutti::tracer::cupti {

class RecordWriter {
 public:
  explicit RecordWriter(const Library& library) noexcept : library_(library) {
    dump_.Open(library.version);
  }

  // Hands on the records of |data|; a ring that stays full for |patience_ns| makes it drop and
  // count them. |entry|'s thread is the one thread that calls this.
  void WriteBuffer(Entry& entry, uint8_t* data, size_t valid_bytes, int64_t patience_ns) noexcept;

  uint64_t records() const noexcept { return records_; }
  // Records that no cell can hold; no kind that is asked for has any.
  uint64_t too_long() const noexcept { return too_long_; }

 private:
  static constexpr uint32_t kMaxCallbackId = 2048;

  // Returns the number of the record's name.
  uint32_t WriteRecord(Entry& entry, const uint8_t* record, size_t bytes,
                       int64_t patience_ns) noexcept;
  void PrepareForDump(uint8_t* record, size_t bytes, uint32_t name) noexcept;
  uint32_t NameOf(Entry& entry, int kind, const uint8_t* record, size_t bytes) noexcept;
  uint32_t ApiNameOf(Entry& entry, int kind, const uint8_t* record) noexcept;

  const Library& library_;
  Dump dump_;
  uint64_t records_ = 0;
  uint64_t too_long_ = 0;
  uint32_t epoch_ = 0;                          // of the string indices below
  uint32_t api_names_[2][kMaxCallbackId] = {};  // by domain and callback id; 0 not looked up yet
};

}  // namespace tutti::tracer::cupti
