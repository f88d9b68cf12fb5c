// Names that a program gave to NVTX domains, categories and threads: rows of NVTX_EVENTS
// of their own kinds, which may come after the ranges that need them. Value type.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "collector/importers/nsys/global_id.h"
#include "collector/importers/nsys/import_state.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

// NVTX_EVENTS.eventType (ENUM_NSYS_EVENT_TYPE)
enum NvtxType : int64_t {
  kNvtxCategory = 33,
  kNvtxMark = 34,
  kNvtxPush = 35,   // a push whose pop was not seen, in old exports
  kNvtxStart = 37,  // the same of a started range
  kNvtxThread = 39,
  kNvtxPushPop = 59,
  kNvtxStartEnd = 60,
  kNvtxtCategory = 64,
  kNvtxtMark = 65,
  kNvtxtPushPop = 70,
  kNvtxtStartEnd = 71,
  kNvtxDomainCreate = 75,
  kNvtxDomainDestroy = 76,
};

struct NvtxNames {
  // By process and domain; by those and category. Absent: not named.
  std::map<std::pair<ProcessKey, int64_t>, std::string> domains;
  std::map<std::tuple<ProcessKey, int64_t, int64_t>, std::string> categories;

  // "" for the default domain, the number of one without a name.
  std::string DomainOf(ProcessKey process, int64_t domain) const;
  std::string CategoryOf(ProcessKey process, int64_t domain, int64_t category) const;
};

// Also gives threads the names that NVTX tells.
Result<NvtxNames> ReadNvtxNames(ImportState& state);
// Gives threads that have events the names that the system knows (ThreadNames), where the
// program gave none. After all events.
Status NameThreads(ImportState& state);

}  // namespace tutti::collector::importers::nsys
