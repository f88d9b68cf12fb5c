// Rows of an export that could not be used, counted by table and reason with the first
// one's row number, so that a user can look at it. Value type; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace tutti::collector::importers::nsys {

enum class SkipReason : uint8_t {
  kMissingValue,  // a value that the row is nothing without is NULL or of a wrong type
  kEndBeforeStart,
  kTimeOutOfRange,  // past 64-bit nanoseconds since the epoch
  kNegativeSize,
  kNotARank,     // of a process that ran nothing on a GPU
  kUnknownType,  // an event type or kind that this build doesn't know
  kOddValue,     // the row was kept, one of its values was not
  kNotMain,      // of a thread that neither called CUDA nor marked ranges
};

struct SkipText {
  const char* name;      // trace_stat.name
  const char* severity;  // trace_stat.severity
  const char* what;      // in words
  bool is_left_out;      // false: the row is there, not all of it
};
SkipText TextOf(SkipReason reason);

class SkippedRows {
 public:
  static constexpr size_t kNoRank = static_cast<size_t>(-1);  // of the file, of no rank

  using Key = std::tuple<size_t, SkipReason, std::string>;  // rank, reason, table
  struct Entry {
    int64_t count = 0;
    int64_t first_row = 0;
  };

  void Add(size_t rank, SkipReason reason, const std::string& table, int64_t row,
           int64_t count = 1) {
    Entry& entry = entries_[{rank, reason, table}];
    if (entry.count == 0) entry.first_row = row;
    entry.count += count;
  }

  const std::map<Key, Entry>& entries() const { return entries_; }

 private:
  std::map<Key, Entry> entries_;
};

}  // namespace tutti::collector::importers::nsys
