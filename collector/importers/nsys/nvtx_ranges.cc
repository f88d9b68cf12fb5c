#include "collector/importers/nsys/nvtx_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "collector/conventions/nccl_call.h"
#include "collector/importers/nsys/nccl_ranges.h"
#include "collector/importers/nsys/nvtx_meaning.h"
#include "collector/importers/nsys/nvtx_names.h"
#include "collector/importers/nsys/nvtx_payloads.h"
#include "common/text.h"

namespace tutti::collector::importers::nsys {
namespace {

enum Column : size_t {
  kStart,
  kEnd,
  kType,
  kTid,
  kEndTid,
  kDomain,
  kCategory,
  kColour,
  kText,
  kTextId,
  kInt64,
  kUint64,
  kDouble,
  kInt32,
  kUint32,
  kFloat,
  kJsonText,
  kJsonTextId,
  kBinary,
};
const std::vector<std::string_view> kColumns = {
    "start",      "end",         "eventType",   "globalTid",  "endGlobalTid",
    "domainId",   "category",    "color",       "text",       "textId",
    "int64Value", "uint64Value", "doubleValue", "int32Value", "uint32Value",
    "floatValue", "jsonText",    "jsonTextId",  "binaryData"};

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

const char* KindOf(int64_t type) {
  switch (type) {
    case kNvtxPush:
    case kNvtxPushPop:
    case kNvtxtPushPop:
      return "push_pop";
    case kNvtxStart:
    case kNvtxStartEnd:
    case kNvtxtStartEnd:
      return "start_end";
    case kNvtxMark:
    case kNvtxtMark:
      return "mark";
    default:
      return nullptr;
  }
}

bool IsName(int64_t type) {
  return type == kNvtxCategory || type == kNvtxtCategory || type == kNvtxThread ||
         type == kNvtxDomainCreate || type == kNvtxDomainDestroy;
}

std::optional<int64_t> Colour(std::optional<int64_t> argb) {
  if (!argb || *argb == 0) return std::nullopt;
  return *argb & 0xffff'ffff;
}

// Unsigned numbers above 2^63 are stored as negative ones.
schema::Value UnsignedValue(int64_t bits) {
  if (bits >= 0) return bits;
  return static_cast<double>(static_cast<uint64_t>(bits));
}

struct Payload {
  std::optional<schema::Value> value = {};
  std::unique_ptr<nlohmann::ordered_json> json = nullptr;
};

// A rank's ranges while they are read.
struct RankRanges {
  RankRanges(RankOutput& rank, const NcclLaunches& launches)
      : meaning(rank), nccl(rank, launches) {}
  NvtxMeaning meaning;
  NcclRanges nccl;
  // Ends of the push/pop ranges that are open, by thread and domain.
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> open;
};

class NvtxImporter {
 public:
  NvtxImporter(ImportState& state, const NcclLaunches& launches, NvtxNames names,
               NvtxPayloads payloads)
      : state_(state), names_(std::move(names)), payloads_(std::move(payloads)) {
    for (RankOutput& rank : state.ranks) {
      ranks_.push_back(std::make_unique<RankRanges>(rank, launches));
    }
  }

  Status Import(TableCursor& row);
  void Finish();

 private:
  Result<std::string> TextOf(TableCursor& row);
  Result<Payload> PayloadOf(TableCursor& row, RankOutput& rank);
  std::optional<schema::Value> NumberOf(TableCursor& row);
  int64_t DepthOf(RankRanges& ranges, int64_t global_tid, int64_t domain, int64_t begin_ns,
                  std::optional<int64_t> end_ns);
  // Fills what doesn't depend on the kind; false, and counted, if the row can't be used.
  bool ReadTimes(TableCursor& row, RankOutput& rank, schema::RangeRow& range);
  void FindMeaning(RankRanges& ranges, const schema::RangeRow& range, MarkedRange marked,
                   ProcessKey process, int64_t domain);

  ImportState& state_;
  NvtxNames names_;
  NvtxPayloads payloads_;
  std::vector<std::unique_ptr<RankRanges>> ranks_;
};

Result<std::string> NvtxImporter::TextOf(TableCursor& row) {
  if (auto text = row.Text(kText)) return *text;
  const auto id = row.Int(kTextId);
  if (!id) return std::string();
  TUTTI_ASSIGN_OR_RETURN(auto text, state_.strings.Find(*id));
  return text.value_or("");
}

// Exports of some ages fill members of the union that the program didn't set with 0.
std::optional<schema::Value> NvtxImporter::NumberOf(TableCursor& row) {
  for (const size_t column : {size_t{kInt64}, size_t{kInt32}, size_t{kUint32}}) {
    if (const auto value = row.Int(column); value && *value != 0) return *value;
  }
  if (const auto value = row.Int(kUint64); value && *value != 0) return UnsignedValue(*value);
  for (const size_t column : {size_t{kDouble}, size_t{kFloat}}) {
    const auto value = row.Number(column);
    if (value && *value != 0 && std::isfinite(*value)) return *value;
  }
  // A zero counts where only one member was set.
  std::optional<schema::Value> zero;
  for (size_t column = kInt64; column <= kFloat; ++column) {
    const schema::NullableValue value = row.Any(column);
    if (!value) continue;
    if (zero) return std::nullopt;
    zero = *value;
  }
  if (zero && !std::holds_alternative<int64_t>(*zero) && !std::holds_alternative<double>(*zero)) {
    return std::nullopt;
  }
  return zero;
}

Result<Payload> NvtxImporter::PayloadOf(TableCursor& row, RankOutput& rank) {
  Payload payload;
  if (const schema::NullableValue data = row.Any(kBinary)) {
    if (auto json = payloads_.Decode(*data)) {
      payload.value = conventions::ToText(*json);
      payload.json = std::make_unique<nlohmann::ordered_json>(std::move(*json));
      return payload;
    }
    state_.Skip(row, SkipReason::kOddValue, &rank);
  }
  auto text = row.Text(kJsonText);
  if (const auto id = row.Int(kJsonTextId); !text && id) {
    TUTTI_ASSIGN_OR_RETURN(text, state_.strings.Find(*id));
  }
  if (text && !text->empty()) {
    payload.value = ToStorableText(*text);
    return payload;
  }
  payload.value = NumberOf(row);
  return payload;
}

// Rows come in order of begin, longer ones first.
int64_t NvtxImporter::DepthOf(RankRanges& ranges, int64_t global_tid, int64_t domain,
                              int64_t begin_ns, std::optional<int64_t> end_ns) {
  std::vector<int64_t>& open = ranges.open[{global_tid, domain}];
  while (!open.empty() && open.back() <= begin_ns) open.pop_back();
  const auto depth = static_cast<int64_t>(open.size());
  open.push_back(end_ns.value_or(kNever));
  return depth;
}

bool NvtxImporter::ReadTimes(TableCursor& row, RankOutput& rank, schema::RangeRow& range) {
  const auto start = row.Int(kStart);
  const auto end = row.Int(kEnd);
  const bool is_mark = range.kind == "mark";
  const auto time = IntervalOf(state_, row, &rank, start, is_mark || !end ? start : end);
  if (!time) return false;
  range.begin_ns = time->begin_ns;
  if (is_mark || end) range.end_ns = time->end_ns;
  return true;
}

void NvtxImporter::FindMeaning(RankRanges& ranges, const schema::RangeRow& range,
                               MarkedRange marked, ProcessKey process, int64_t domain) {
  const std::string domain_name = names_.DomainOf(process, domain);
  const bool is_named = names_.domains.contains({process, domain});
  if (domain_name == "tutti") return ranges.meaning.OnAnnotation(marked, range.kind == "mark");
  if (range.kind != "push_pop") return;
  const bool is_nccl =
      domain_name == "NCCL" || (domain != 0 && !is_named && conventions::IsNcclCall(marked.name));
  if (is_nccl) return ranges.nccl.OnRange(marked);
  ranges.meaning.OnRange(marked);
}

Status NvtxImporter::Import(TableCursor& row) {
  const auto global_tid = row.Int(kTid);
  RankOutput* rank = state_.RankOf(global_tid);
  const int64_t type = row.Int(kType).value_or(kNvtxPushPop);
  if (IsName(type)) return OkStatus();
  if (rank == nullptr) {
    state_.Skip(row, SkipReason::kNotARank);
    return OkStatus();
  }
  rank->CountEvent();
  const char* kind = KindOf(type);
  if (kind == nullptr) {
    state_.Skip(row, SkipReason::kUnknownType, rank);
    return OkStatus();
  }
  schema::RangeRow range;
  range.kind = kind;
  if (!ReadTimes(row, *rank, range)) return OkStatus();
  RankRanges& ranges = *ranks_[rank->place()];
  const int64_t tid_id = global_tid.value_or(0);
  const ProcessKey process = ProcessOf(tid_id);
  const int64_t domain = row.Int(kDomain).value_or(0);
  TUTTI_ASSIGN_OR_RETURN(const std::string text, TextOf(row));
  TUTTI_ASSIGN_OR_RETURN(const Payload payload, PayloadOf(row, *rank));
  range.tid = rank->Tid(tid_id, range.begin_ns, range.end_ns);
  const auto end_tid = row.Int(kEndTid);
  if (end_tid && *end_tid != tid_id && range.kind == "start_end" && range.end_ns) {
    range.end_tid = rank->Tid(*end_tid, range.end_ns);
  }
  range.domain_id = rank->Intern(names_.DomainOf(process, domain));
  range.category = row.Int(kCategory).value_or(0);
  range.category_id = rank->Intern(names_.CategoryOf(process, domain, range.category));
  range.name_id = rank->Intern(text);
  if (range.kind == "push_pop") {
    range.depth = DepthOf(ranges, tid_id, domain, range.begin_ns, range.end_ns);
  }
  range.argb = Colour(row.Int(kColour));
  range.payload = payload.value;
  rank->SawMainThread(tid_id);

  MarkedRange marked{tid_id,      range.tid, text, range.category,    range.begin_ns, range.end_ns,
                     range.depth, {},        {},   payload.json.get()};
  if (payload.value) {
    if (const auto* number = std::get_if<int64_t>(&*payload.value)) marked.integer = *number;
    if (const auto* number = std::get_if<double>(&*payload.value)) marked.real = *number;
  }
  FindMeaning(ranges, range, marked, process, domain);
  rank->Append(std::move(range));
  if (row.damaged()) state_.Skip(row, SkipReason::kOddValue, rank);
  return OkStatus();
}

void NvtxImporter::Finish() {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i]->meaning.Finish();
    ranks_[i]->nccl.Finish();
    const NcclRanges::World& world = ranks_[i]->nccl.world();
    TraceIdentity& identity = state_.ranks[i].sink().identity;
    if (world.size == 0) continue;
    if (!identity.world_size) identity.world_size = world.size;
    if (!identity.rank) {
      identity.rank = world.rank;
      identity.rank_source = "NCCL communicator";
    }
  }
}

// In order of time, enclosing ranges before enclosed ones.
std::string OrderOf(const ExportTable& table) {
  std::string order = "ORDER BY start";
  if (table.Has("end")) order += ", \"end\" IS NULL DESC, \"end\" DESC";
  return order;
}

}  // namespace

Status ImportNvtx(ImportState& state, const NcclLaunches& launches) {
  const ExportTable* table = state.database.Find("NVTX_EVENTS");
  if (table == nullptr || !table->Has("start")) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(NvtxNames names, ReadNvtxNames(state));
  TUTTI_ASSIGN_OR_RETURN(NvtxPayloads payloads, NvtxPayloads::Read(state.database));
  NvtxImporter importer(state, launches, std::move(names), std::move(payloads));
  TUTTI_ASSIGN_OR_RETURN(TableCursor row,
                         TableCursor::Open(state.database, *table, kColumns, OrderOf(*table)));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) break;
    TUTTI_RETURN_IF_ERROR(importer.Import(row));
  }
  importer.Finish();
  return OkStatus();
}

}  // namespace tutti::collector::importers::nsys
