// Process groups and communicators as one process announced them, each perhaps several
// times with more known. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collector/convert/row_output.h"
#include "collector/convert/string_table.h"
#include "common/wire/record.h"

namespace tutti::collector::convert {

class CommunicatorTable {
 public:
  void Announce(const wire::CommunicatorRecord& record, const StringTable& strings);

  // A communicator of NCCL by the number that all its ranks know it by. |rank| and |size|: own
  // place in it and ranks in it, as its making told.
  void AnnounceNccl(uint64_t hash, int64_t rank, int64_t size);
  // Its value for communicator_id columns; announced or not.
  int64_t IdOfNccl(uint64_t hash) { return NumberOfNccl(hash); }

  // Value for communicator_id columns; none for a communicator never announced.
  std::optional<int64_t> IdOf(uint32_t communicator) const;
  wire::Backend BackendOf(uint32_t communicator) const;

  // (Re)writes the rows of communicators that changed since the last call.
  void WriteChanged(RowOutput& rows);

 private:
  struct Communicator {
    schema::CommunicatorRow row;
    wire::Backend backend = wire::Backend::kUnknown;
    bool changed = true;
  };
  uint32_t NumberOfNccl(uint64_t hash);
  void NumberPerBackend();

  // By the tracer's number, which is the order of creation; NCCL's follow, by numbers of our own.
  std::map<uint32_t, Communicator> communicators_;
  std::map<uint64_t, uint32_t> nccl_;  // by hash
};

// "0,3,5" -> "[0,3,5]"; absent if it is not a list of non-negative numbers.
std::optional<std::string> RankListToJson(std::string_view list);

const char* BackendName(wire::Backend backend);

}  // namespace tutti::collector::convert
