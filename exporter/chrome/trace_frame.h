// What stands around the events of a Chrome trace: the rank, its GPUs and groups, names of
// processes, threads and streams; and the number by which each of those is called.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "schema/database.h"
#include "schema/rows.h"

namespace tutti::exporter::chrome {

struct TraceFrame {
  int64_t base_ns = 0;  // taken off all times
  int64_t pid = 0;      // of the events on threads
  schema::ProcessRow process;
  std::vector<schema::DeviceRow> devices;
  std::vector<schema::StreamRow> streams;
  std::vector<schema::ThreadRow> threads;
  std::vector<schema::CommunicatorRow> communicators;

  // Keys before "traceEvents", each followed by a comma.
  std::string Header() const;
  // Metadata events, in order.
  std::vector<std::string> Names() const;
};

Result<TraceFrame> ReadFrame(schema::Database& trace);

}  // namespace tutti::exporter::chrome
