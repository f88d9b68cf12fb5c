// What the conversion found wrong or worth knowing, gathered into rows of trace_stat:
// one row per kind of finding with a count and a range in time, never a row per event.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "collector/convert/row_output.h"
#include "common/wire/record.h"

namespace tutti::collector::convert {

// Part of the trace's time in ns, both ends optional.
struct TimeRange {
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
};

struct Finding {
  wire::NoteSeverity severity = wire::NoteSeverity::kInfo;
  std::string name;    // stable short code
  std::string source;  // part that noticed it
  std::string detail;  // what was found, in words
  std::string advice;  // what to do about it
  int64_t count = 1;   // events that it concerns
  TimeRange range = {};
};

// Names of findings that others look for.
inline constexpr char kRingDropped[] = "ring_dropped";
inline constexpr char kSpoolFull[] = "spool_full";

class Findings {
 public:
  // Adds up the counts of findings with the same name, source and detail, and widens
  // their range.
  void Add(const Finding& finding);
  void Add(Finding finding, int64_t count, TimeRange range = {}) {
    finding.count = count;
    finding.range = range;
    Add(finding);
  }

  // A row for each finding; later Adds start anew.
  void Write(RowOutput& rows);

  // Sum of counts of severity kDataLoss so far.
  int64_t lost() const { return lost_; }

 private:
  void AdviseByCause();

  std::map<std::pair<std::string, std::string>, Finding> entries_;  // by name, source + detail
  int64_t next_id_ = 0;
  int64_t lost_ = 0;
};

}  // namespace tutti::collector::convert
