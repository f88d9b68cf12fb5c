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
  void NumberPerBackend();

  std::map<uint32_t, Communicator> communicators_;  // by the tracer's number: creation order
};

// "0,3,5" -> "[0,3,5]"; absent if it is not a list of non-negative numbers.
std::optional<std::string> RankListToJson(std::string_view list);

const char* BackendName(wire::Backend backend);

}  // namespace tutti::collector::convert
