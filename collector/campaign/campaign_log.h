// FOLDER/campaign.json: what a campaign measures and what became of its launches, so that it can
// be resumed and later be believed. Replaced as a whole after each launch.
// Value types; one writer at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::collector::campaign {

// Two campaigns are one if their plans are equal: then launches of both may be compared.
struct Plan {
  std::string base = {};           // as typed
  std::string base_identity = {};  // side.h
  std::string fresh = {};
  std::string fresh_identity = {};
  std::string build = {};
  std::vector<std::string> command = {};
  std::vector<std::string> record_options = {};

  bool operator==(const Plan&) const = default;
};

struct LaunchEntry {
  bool is_new = false;
  int pair = 0;             // from 1
  int attempt = 1;          // of this place; more than one where a failed launch was tried again
  std::string run = {};     // name in the folder, "" if it is set aside
  std::string state = {};   // "done", "failed", "interrupted", "set aside"
  std::string remark = {};  // what went wrong
  int64_t begin_ns = 0;     // CLOCK_REALTIME
  int64_t wall_ns = 0;
  std::optional<int64_t> control_ns = {};  // median
};

struct CampaignLog {
  Plan plan;
  std::vector<int> pairs_asked = {};       // for each time it was run with another number
  std::vector<LaunchEntry> launches = {};  // in the order in which they ran

  // The launch that counts at a place; null if there is none.
  const LaunchEntry* Done(bool is_new, int pair) const;
  // The last one at a place, whatever became of it.
  const LaunchEntry* Last(bool is_new, int pair) const;
};

// Nothing if the folder has none. kBadData: it has, and it can't be read.
Result<std::optional<CampaignLog>> ReadCampaignLog(const std::string& folder);
Status WriteCampaignLog(const std::string& folder, const CampaignLog& log);

// "base-3", "new-3".
std::string PlaceName(bool is_new, int pair);

}  // namespace tutti::collector::campaign
