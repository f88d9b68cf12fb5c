// What the shell is told; one table for all verbs but `record`, which returns its child's
// status. Also how a Status becomes an exit code.
#pragma once

#include "common/status.h"

namespace tutti::cli {

enum ExitCode : int {
  kExitDone = 0,         // and no gate tripped
  kExitGateTripped = 1,  // regression, --fail-on
  kExitUsage = 2,
  kExitBadData = 3,       // unreadable data or schema
  kExitInconclusive = 4,  // only with --fail-on inconclusive
  kExitPartial = 5,       // --strict: ranks missing or events lost
  kExitRecordOurs = 125,  // `record`: the command was never started because of us
};

inline int ExitCodeOf(const Status& status) {
  if (status.ok()) return kExitDone;
  return status.code() == StatusCode::kUsage ? kExitUsage : kExitBadData;
}

}  // namespace tutti::cli
