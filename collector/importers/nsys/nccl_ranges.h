// NCCL's own NVTX ranges of one rank -> communicator, collective_source. Each call that
// moves data is a row; the kernel that it launched gives its begin and end where that is
// certain: one launch inside the call, or, of calls in a group, one launch inside
// ncclGroupEnd for all of them or one for each. A call that does not name its communicator (older
// NCCL) is of the only one that the process made, if there is just one and no call came
// before it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/conventions/nccl_group.h"
#include "collector/conventions/nccl_payload.h"
#include "collector/importers/nsys/marked_range.h"
#include "collector/importers/nsys/nccl_launches.h"
#include "collector/importers/nsys/rank_output.h"

namespace tutti::collector::importers::nsys {

class NcclRanges {
 public:
  // Both must outlive this.
  NcclRanges(RankOutput& rank, const NcclLaunches& launches) : rank_(rank), launches_(launches) {}

  // Ranges of NCCL's domain, in order of begin_ns.
  void OnRange(const MarkedRange& range);
  void Finish();

  // Calls that moved data, and those of them whose kernel is known.
  int64_t calls() const { return calls_; }
  int64_t linked() const { return linked_; }

  // The world as a communicator of all ranks told it: the largest seen.
  struct World {
    int64_t size = 0;
    int64_t rank = 0;
  };
  const World& world() const { return world_; }

 private:
  using Calls = std::vector<schema::CollectiveSourceRow>;
  void OnCall(const MarkedRange& range, std::string_view op);
  void WriteLaunched(const MarkedRange& launcher, Calls calls);
  int64_t IdOf(schema::CommunicatorRow& row);
  std::optional<int64_t> CommunicatorOf(const conventions::NcclPayload& payload);
  void OnInit(const MarkedRange& range);
  void Write(schema::CollectiveSourceRow row, const NcclKernel* kernel);

  RankOutput& rank_;
  const NcclLaunches& launches_;
  std::unordered_map<int64_t, conventions::NcclGroup<schema::CollectiveSourceRow>>
      groups_;                                                 // by thread
  std::map<uint64_t, schema::CommunicatorRow> communicators_;  // by the number that NCCL tells
  schema::CommunicatorRow unnumbered_;                         // the last one without a number
  int64_t made_ = 0;
  bool called_before_ = false;  // one that was made is not known
  World world_;
  int64_t calls_ = 0;
  int64_t linked_ = 0;
};

}  // namespace tutti::collector::importers::nsys
