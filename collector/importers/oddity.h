// What an importer found wrong in a file or could not use, gathered into rows of
// trace_stat: one per kind, with a count, a range in time and the place of the first.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/wire/record.h"
#include "schema/rows.h"

namespace tutti::collector::importers {

using Severity = wire::NoteSeverity;

// A kind of finding; the texts are the same for all of its kind.
struct Oddity {
  Severity severity = Severity::kNotice;
  std::string_view name;    // stable short code, e.g. 'event_malformed'
  std::string_view detail;  // what was found, in words
  std::string_view advice;  // what to do about it, "" nothing
};

class OddityLedger {
 public:
  // `source` names the part that noticed, e.g. 'import.kineto'; `where` the first place,
  // e.g. "a.json, byte 4711". `about` tells kinds apart that share a name (a category,
  // a table) and is put behind the detail.
  void Count(const Oddity& oddity, std::string_view source, std::string_view where,
             std::optional<int64_t> time_ns = {}, int64_t count = 1, std::string_view about = {});

  // Adds what another ledger counted.
  void Absorb(OddityLedger other);

  // How many of this name, so far.
  int64_t CountOf(std::string_view name) const;

  // The rows, ids from `first_id`; the ledger is empty afterwards.
  std::vector<schema::TraceStatRow> Take(int64_t first_id);

 private:
  // A file may have as many kinds as it likes; beyond these they are counted together.
  static constexpr size_t kMostKinds = 1'000;
  std::map<std::pair<std::string, std::string>, schema::TraceStatRow> rows_;  // name, about
};

}  // namespace tutti::collector::importers
