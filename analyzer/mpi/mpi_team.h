// A team of MPI processes. Process 0 leads; the others wait for orders in Serve().
// For each stretch of passes the leader sends everybody an order with its ranks, and the derived
// tables as far as they are of these ranks; everybody, the leader too, runs the passes over its
// ranks, whose files it alone reads, and the rows come back to the leader.
//
// A process that dies ends the job (MPI knows no better); what was done up to then is in the
// folder for parts, and the next job over the same files goes on from there.
// Between MPI_Init and MPI_Finalize only; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/decisions.h"
#include "analyzer/mpi/order.h"
#include "analyzer/team.h"

namespace tutti::analyzer::mpi {

// The leader's side.
class MpiTeam : public Team {
 public:
  // `parts` is a folder that every process sees; `decisions` are those of the analysis.
  MpiTeam(Decisions decisions, std::string parts)
      : decisions_(std::move(decisions)), parts_(std::move(parts)) {}

  Result<ShardRows> Run(std::span<const Pass> passes, size_t first, RunContext& context,
                        std::optional<size_t>& failed_file) override;
  int64_t resumed() const { return resumed_; }  // pieces of work that were found done

 private:
  Decisions decisions_;
  std::string parts_;
  int64_t resumed_ = 0;
};

// Ends Serve() in the others. Called by the leader, once.
void Dismiss();

// What the others do until they are dismissed. Failures are the leader's to tell.
void Serve(const AnalyzeOptions& options);

}  // namespace tutti::analyzer::mpi
