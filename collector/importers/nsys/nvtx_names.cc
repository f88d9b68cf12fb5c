#include "collector/importers/nsys/nvtx_names.h"

namespace tutti::collector::importers::nsys {
namespace {

enum Column : size_t { kType, kTid, kDomain, kCategory, kText, kTextId };

Result<std::string> TextOf(ImportState& state, TableCursor& row) {
  if (auto text = row.Text(kText)) return *text;
  const auto id = row.Int(kTextId);
  if (!id) return std::string();
  TUTTI_ASSIGN_OR_RETURN(const auto text, state.strings.Find(*id));
  return text.value_or("");
}

Status Add(ImportState& state, TableCursor& row, NvtxNames& names) {
  const auto global_tid = row.Int(kTid);
  const int64_t domain = row.Int(kDomain).value_or(0);
  TUTTI_ASSIGN_OR_RETURN(const std::string text, TextOf(state, row));
  if (text.empty()) return OkStatus();
  const ProcessKey process = ProcessOf(global_tid.value_or(0));
  switch (row.Int(kType).value_or(0)) {
    case kNvtxDomainCreate:
      names.domains.try_emplace({process, domain}, text);
      break;
    case kNvtxCategory:
    case kNvtxtCategory:
      names.categories.try_emplace({process, domain, row.Int(kCategory).value_or(0)}, text);
      break;
    case kNvtxThread:
      if (RankOutput* rank = state.RankOf(global_tid); rank != nullptr && global_tid) {
        rank->NameThread(*global_tid, text);
      }
      break;
    default:
      break;
  }
  return OkStatus();
}

}  // namespace

Status NameThreads(ImportState& state) {
  const ExportTable* table = state.database.Find("ThreadNames");
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(TableCursor row,
                         TableCursor::Open(state.database, *table, {"globalTid", "nameId"}));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) return OkStatus();
    const auto global_tid = row.Int(0);
    const auto id = row.Int(1);
    if (!global_tid || !id) continue;
    RankOutput* rank = state.RankOf(global_tid);
    if (rank == nullptr || !rank->HasThread(*global_tid)) continue;
    TUTTI_ASSIGN_OR_RETURN(const auto text, state.strings.Find(*id));
    if (text) rank->NameThread(*global_tid, *text);
  }
}

std::string NvtxNames::DomainOf(ProcessKey process, int64_t domain) const {
  if (domain == 0) return "";
  const auto name = domains.find({process, domain});
  return name == domains.end() ? "domain " + std::to_string(domain) : name->second;
}

std::string NvtxNames::CategoryOf(ProcessKey process, int64_t domain, int64_t category) const {
  const auto name = categories.find({process, domain, category});
  return name == categories.end() ? "" : name->second;
}

Result<NvtxNames> ReadNvtxNames(ImportState& state) {
  NvtxNames names;
  const ExportTable* table = state.database.Find("NVTX_EVENTS");
  if (table != nullptr && table->Has("eventType")) {
    TUTTI_ASSIGN_OR_RETURN(
        TableCursor row,
        TableCursor::Open(state.database, *table,
                          {"eventType", "globalTid", "domainId", "category", "text", "textId"},
                          "WHERE eventType IN (33, 39, 64, 75)"));
    while (true) {
      TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
      if (!more) break;
      TUTTI_RETURN_IF_ERROR(Add(state, row, names));
    }
  }
  return names;
}

}  // namespace tutti::collector::importers::nsys
