// A campaign: launches of a training job in two versions, recorded in turns (A B B A …), so that
// what drifts meets both sides alike. The façade for the command line:
//
//   CampaignOptions options{.folder = "tutti-ci", .base = "git:main", .fresh = "."};
//   TUTTI_ASSIGN_OR_RETURN(Campaign campaign, RunCampaign(options));
//   // campaign.base[k] and campaign.fresh[k] are the k-th pair of runs
//
// The folder:
//
//   campaign.json       the plan and what became of every launch (campaign_log.h)
//   base-1 new-1 …      a run each, with a control.json beside its rank files
//   logs/base-1.log     what the job printed
//   source/base         the checkout of a git revision
//   set-aside/          launches that don't count: interrupted pairs, failed launches
//
// An interrupted campaign goes on where it stopped when it is run again with the same plan. A pair
// of which one launch is missing is done again as a whole: its launches must be neighbours in time.
// A launch that fails ends the campaign; it is tried again only if the caller says so, and never
// without a word. Messages and progress go to standard error.
// One thread; the process may have no other, for children are forked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::collector::campaign {

struct CampaignOptions {
  std::string folder = {};
  std::string base;   // a side, as side.h reads it
  std::string fresh;  // the same; equal to `base` for an A/A campaign
  std::string build;  // shell command, run in each folder or checkout before the first launch
  std::vector<std::string> command;         // words; see side.h
  std::vector<std::string> record_options;  // words for `tutti record`, of every launch
  std::string program;                      // the tutti that records
  int pairs = 6;
  int further_pairs = 0;  // after them, of those that confirm what the first showed
  int warm_up = 1;        // launches of each side before the first pair, that don't count
  int nproc = 0;  // ranks of the job on this machine, 0 unknown: so many take part in the control
  int64_t timeout_ns = 0;     // of a launch, 0 none
  bool control = true;        // time fixed work before each launch
  bool retry_failed = false;  // go on after a launch that failed before
  bool force = false;         // begin anew where another campaign is
};

struct Campaign {
  std::vector<std::string> base;   // paths of runs, in the order of pairs, further ones last
  std::vector<std::string> fresh;  // the same
  std::vector<std::string> notes;  // what limits the trust in it: retried launches, added pairs
};

// kUsage: a side that can't be, another campaign in the folder. kBadData: a build or a launch
// failed; the message names its log. kUnavailable: a signal arrived (os/interruption.h), and the
// campaign can be resumed.
Result<Campaign> RunCampaign(const CampaignOptions& options);

}  // namespace tutti::collector::campaign
