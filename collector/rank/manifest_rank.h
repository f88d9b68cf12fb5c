// What a manifest says about a process that has been converted.
#pragma once

#include "collector/rank/rank_conversion.h"
#include "collector/run/manifest.h"

namespace tutti::collector::rank {

inline run::ManifestRank ManifestRankOf(const RankOutcome& outcome) {
  run::ManifestRank entry;
  entry.file = outcome.file + (outcome.spool_kept ? ".part" : "");
  entry.pid = outcome.pid;
  entry.rank = outcome.identity.rank;
  entry.attempt = outcome.identity.attempt;
  entry.world_size = outcome.identity.world_size;
  entry.rank_source = outcome.identity.source;
  entry.exit_status = outcome.exit_status;
  entry.events = outcome.events;
  entry.events_lost = outcome.events_lost;
  entry.torch_version = outcome.torch_version;
  entry.truth = outcome.truth;
  return entry;
}

}  // namespace tutti::collector::rank
