#include "viewer/model/details.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "schema/database.h"

namespace tutti::viewer {
namespace {

// Columns that name a row of `string` (schema/raw.sql says so of all that end in _id "unless a
// reference says otherwise").
constexpr std::array kStringColumns = {"name_id",   "op_id",       "dtype_id",
                                       "shapes_id", "stack_id",    "kind_id",
                                       "domain_id", "category_id", "loader_id"};

constexpr auto kLinkBudget = std::chrono::milliseconds(500);

std::string TextOf(const schema::Value& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "(bytes)";
}

// The text of a string, "" if there is none.
std::string StringOf(schema::Database& database, int64_t id) {
  auto text = database.QueryOne<std::string>("SELECT text FROM string WHERE id = ?1", id);
  return text.ok() ? *text : "";
}

Result<Details> ReadRow(schema::Database& database, const std::string& table, int64_t row_id) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement,
                         database.Prepare("SELECT * FROM \"" + table + "\" WHERE id = ?1"));
  TUTTI_RETURN_IF_ERROR(statement.BindAll(row_id));
  TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return NotFoundError(table + ": no row " + std::to_string(row_id));
  Details details{table, {}};
  for (int i = 0; i < statement.column_count(); ++i) {
    const schema::NullableValue value = statement.GetAny(i);
    if (!value.has_value()) continue;
    std::string name = statement.column_name(i);
    const auto* id = std::get_if<int64_t>(&*value);
    const bool is_string = std::any_of(kStringColumns.begin(), kStringColumns.end(),
                                       [&](const char* column) { return name == column; });
    if (!is_string || id == nullptr) {
      details.columns.emplace_back(name, TextOf(*value));
    } else if (*id != 0) {
      details.columns.emplace_back(name.substr(0, name.size() - 3), StringOf(database, *id));
    }
  }
  return details;
}

}  // namespace

const char* TableOf(Source source) {
  switch (source) {
    case Source::kStepWindow:
      return "";
    case Source::kCollective:
      return "collective_source";
    case Source::kPhase:
      return "phase";
    case Source::kRange:
      return "range";
    case Source::kGpuRange:
      return "gpu_range";
    case Source::kCpuOp:
      return "cpu_op";
    case Source::kPythonCall:
      return "python_call";
    case Source::kApiCall:
      return "api_call";
    case Source::kKernel:
      return "kernel";
    case Source::kMemcpy:
      return "memcpy";
    case Source::kMemset:
      return "memset";
    case Source::kSync:
      return "sync";
    case Source::kOverhead:
      return "overhead";
    case Source::kDataWait:
      return "data_wait";
  }
  return "";
}

DetailReader::DetailReader(const RunSummary& summary) : summary_(summary) {}
DetailReader::~DetailReader() = default;

Status DetailReader::Open(uint32_t slot) {
  if (slot == slot_ && database_ != nullptr) return OkStatus();
  database_.reset();
  auto opened = schema::Database::OpenReadOnly(summary_.traces[slot], {.quick_check = false});
  if (!opened.ok()) return opened.status();
  database_ = std::make_unique<schema::Database>(std::move(*opened));
  slot_ = slot;
  return OkStatus();
}

Result<Details> DetailReader::Read(const RankTraces& ranks, const EventRef& ref) {
  const std::optional<Event> event = EventAt(ranks, ref);
  if (!event.has_value()) return NotFoundError("no such event");
  const std::string table = TableOf(event->source);
  if (table.empty()) return Details{"step_window", {{"step", std::to_string(event->row_id)}}};
  TUTTI_RETURN_IF_ERROR(Open(ref.rank));
  return ReadRow(*database_, table, event->row_id);
}

void DetailReader::AddPeers(const RankTraces& ranks, const EventRef& ref, const Event& event,
                            std::vector<Link>* links) const {
  const Collective* collective =
      summary_.FindCollective(summary_.ranks[ref.rank].rank, event.row_id);
  if (collective == nullptr) return;
  for (const schema::CollectiveCallRow& call : collective->calls) {
    const std::optional<size_t> slot = summary_.SlotOf(call.rank);
    if (!slot.has_value() || *slot == ref.rank || links->size() >= kMostLinks) continue;
    const auto peer = FindRow(ranks, static_cast<uint32_t>(*slot), Source::kCollective,
                              static_cast<uint32_t>(call.source_id));
    if (peer.has_value()) links->push_back({summary_.RankName(call.rank), *peer});
  }
}

void DetailReader::AddRows(const RankTraces& ranks, uint32_t slot, const std::string& kind,
                           Source source, const std::string& sql, int64_t row_id,
                           std::vector<Link>* links) {
  auto statement = database_->Prepare(sql + " LIMIT " + std::to_string(kMostLinks));
  if (!statement.ok() || !statement->BindAll(row_id).ok()) return;
  while (links->size() < kMostLinks) {
    const auto found = statement->Step();
    if (!found.ok() || !*found) return;
    const auto id = statement->Get<int64_t>(0);
    if (!id.ok()) return;
    const auto event = FindRow(ranks, slot, source, static_cast<uint32_t>(*id));
    if (event.has_value()) links->push_back({kind, *event});
  }
}

std::vector<Link> DetailReader::FindLinks(const RankTraces& ranks, const EventRef& ref) {
  std::vector<Link> links;
  const std::optional<Event> event = EventAt(ranks, ref);
  if (!event.has_value()) return links;
  if (event->source == Source::kCollective) AddPeers(ranks, ref, *event, &links);
  if (!Open(ref.rank).ok()) return links;
  database_->SetDeadline(kLinkBudget);
  const auto add = [&](const char* kind, Source source, const std::string& sql) {
    AddRows(ranks, ref.rank, kind, source, sql, event->row_id, &links);
  };
  const auto by_correlation = [](const char* table, const char* of) {
    return std::string("SELECT id FROM ") + table +
           " WHERE correlation_id = (SELECT correlation_id FROM " + of + " WHERE id = ?1)";
  };
  switch (event->source) {
    case Source::kKernel:
    case Source::kMemcpy:
    case Source::kMemset:
      add("launched by", Source::kApiCall, by_correlation("api_call", TableOf(event->source)));
      add("operator", Source::kCpuOp,
          "SELECT id FROM cpu_op WHERE external_id = (SELECT a.external_id FROM api_call AS a "
          "WHERE a.correlation_id = (SELECT correlation_id FROM " +
              std::string(TableOf(event->source)) + " WHERE id = ?1))");
      break;
    case Source::kApiCall:
      for (const Source source : {Source::kKernel, Source::kMemcpy, Source::kMemset}) {
        add("launched", source, by_correlation(TableOf(source), "api_call"));
      }
      break;
    case Source::kCollective:
      add("kernel", Source::kKernel, by_correlation("kernel", "collective_source"));
      break;
    case Source::kCpuOp:
      add("forward", Source::kCpuOp,
          "SELECT o.id FROM cpu_op AS b JOIN cpu_op AS o ON o.sequence_nr = b.sequence_nr "
          "WHERE b.id = ?1 AND b.scope = 1 AND b.sequence_nr >= 0 AND o.scope <> 1");
      add("backward", Source::kCpuOp,
          "SELECT o.id FROM cpu_op AS f JOIN cpu_op AS o ON o.sequence_nr = f.sequence_nr "
          "WHERE f.id = ?1 AND f.scope <> 1 AND f.sequence_nr >= 0 AND o.scope = 1");
      break;
    default:
      break;
  }
  database_->SetDeadline(std::chrono::milliseconds(-1));
  return links;
}

}  // namespace tutti::viewer
