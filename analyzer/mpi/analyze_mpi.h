// The analyzer's façade for several processes: what Analyze() does, by all processes that mpirun
// started, on as many machines as see the run's folder. The tables are the same, whatever their
// number.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/analyze.h"
#include "common/status.h"

namespace tutti::analyzer {

struct MpiAnalysis {
  bool is_leader = false;  // whose outcome counts: in the others nothing else is set
  std::string path;        // the file with the derived tables
  int64_t resumed = 0;     // pieces of work that an earlier, killed analysis had done
};

// Called by every process with the same arguments, once, and not from a thread. A failure is
// the leader's to tell, also where another process had it; the other processes then return as if
// nothing was. What is done is kept in OUTPUT.parts until all is, and taken up there.
Result<MpiAnalysis> AnalyzeWithMpi(const std::string& run_or_file, const AnalyzeOptions& options);

}  // namespace tutti::analyzer
