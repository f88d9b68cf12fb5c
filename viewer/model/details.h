// Everything that the files know about one event, fetched by its row when it is asked for.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "viewer/model/event_set.h"
#include "viewer/model/run_summary.h"

namespace tutti::schema {
class Database;
}

namespace tutti::viewer {

struct Details {
  std::string table;                                         // that the row is in
  std::vector<std::pair<std::string, std::string>> columns;  // those that are not NULL; names of
                                                             // strings in place of their ids
};

// An event that another one belongs to.
struct Link {
  std::string kind;  // "launched by", "launched", "forward", "backward", "rank 3"
  EventRef event;
};

// Not thread-safe. Keeps the file that was asked last open.
class DetailReader {
 public:
  explicit DetailReader(const RunSummary& summary);
  ~DetailReader();

  Result<Details> Read(const RankTraces& ranks, const EventRef& ref);
  // The event's launch or what it launched, its forward or backward, the same collective on other
  // ranks; at most kMostLinks. Gives up a look-up that takes longer than half a second.
  std::vector<Link> FindLinks(const RankTraces& ranks, const EventRef& ref);

  static constexpr size_t kMostLinks = 64;

 private:
  Status Open(uint32_t slot);
  void AddPeers(const RankTraces& ranks, const EventRef& ref, const Event& event,
                std::vector<Link>* links) const;
  void AddRows(const RankTraces& ranks, uint32_t slot, const std::string& kind, Source source,
               const std::string& sql, int64_t row_id, std::vector<Link>* links);

  const RunSummary& summary_;
  uint32_t slot_ = UINT32_MAX;
  std::unique_ptr<schema::Database> database_;
};

// The table of a source, "" where it is a derived one.
const char* TableOf(Source source);

}  // namespace tutti::viewer
