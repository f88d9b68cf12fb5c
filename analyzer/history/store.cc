#include "analyzer/history/store.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "analyzer/compare/metric.h"
#include "analyzer/metrics/steady.h"
#include "common/text.h"
#include "schema/database.h"

namespace tutti::analyzer::history {
namespace {

using schema::Database;
using schema::Statement;

constexpr int64_t kApplicationId = 0x74746869;  // "tthi"
constexpr int64_t kVersion = 1;

constexpr const char* kSchema = R"sql(
CREATE TABLE launch (
  id       INTEGER PRIMARY KEY,
  series   TEXT NOT NULL,     -- workload, ranks, kind of device: what may be compared over time
  begin_ns INTEGER NOT NULL,  -- when it ran (CLOCK_REALTIME)
  name     TEXT NOT NULL,     -- as the user gave it
  label    TEXT NOT NULL,     -- a commit or version, '' none
  epoch    TEXT NOT NULL,     -- machine and libraries
  UNIQUE (series, begin_ns)
) STRICT;
CREATE TABLE value (
  launch_id INTEGER NOT NULL REFERENCES launch (id),
  metric    TEXT NOT NULL,  -- of docs/compare.md
  value     REAL NOT NULL,  -- in the metric's unit
  PRIMARY KEY (launch_id, metric)
) STRICT, WITHOUT ROWID;
)sql";

bool Exists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

Status CheckKind(Database& database, const std::string& path) {
  const auto id = database.QueryOne<int64_t>("PRAGMA application_id");
  const auto version = database.QueryOne<int64_t>("PRAGMA user_version");
  if (!id.ok() || !version.ok() || *id != kApplicationId) {
    return BadDataError(path + " is no history of tutti ci");
  }
  if (*version == kVersion) return OkStatus();
  return BadDataError(path + ": history of version " + std::to_string(*version) +
                      "; this build reads " + std::to_string(kVersion));
}

Result<Database> CreateHistory(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::Create(path));
  TUTTI_RETURN_IF_ERROR(
      database.Execute(std::string("BEGIN IMMEDIATE;") + kSchema +
                       "PRAGMA application_id = " + std::to_string(kApplicationId) +
                       "; PRAGMA user_version = " + std::to_string(kVersion) + "; COMMIT;"));
  return database;
}

Result<Database> OpenHistory(const std::string& path) {
  if (!Exists(path)) return CreateHistory(path);
  // It may come out of a pipeline's cache: looked at as a stranger's first.
  {
    TUTTI_ASSIGN_OR_RETURN(Database stranger, Database::OpenReadOnly(path));
    TUTTI_RETURN_IF_ERROR(CheckKind(stranger, path));
  }
  return Database::OpenTrusted(path);
}

void AddWord(std::string& text, const std::string& word, const char* separator = "; ") {
  if (word.empty()) return;
  if (!text.empty()) text += separator;
  text += ToStorableText(word);
}

std::string SeriesOf(const compare::RunFacts& facts) {
  std::string text;
  AddWord(text, facts.workload.empty() ? "job" : facts.workload);
  if (facts.ranks_expected > 0) {
    AddWord(text,
            std::to_string(facts.ranks_expected) + (facts.ranks_expected == 1 ? " rank" : " ranks"),
            ", ");
  }
  AddWord(text, facts.device_kind, ", ");
  return text;
}

std::string EpochOf(const compare::RunFacts& facts) {
  std::string text;
  AddWord(text, facts.gpus);
  AddWord(text, facts.hardware);
  if (!facts.torch_version.empty()) AddWord(text, "torch " + facts.torch_version);
  return text;
}

size_t WarmUpOf(const compare::Launch& launch) {
  std::vector<int64_t> series;
  for (const compare::StepRecord& step : launch.steps) {
    series.push_back(step.period_ns.value_or(step.length_ns));
  }
  return std::min(FindSteadyState(series).warmup_steps, launch.steps.size() / 2);
}

Status AddValues(Database& database, const StoredLaunch& launch) {
  TUTTI_ASSIGN_OR_RETURN(const auto id, database.QueryOne<int64_t>("SELECT last_insert_rowid()"));
  TUTTI_ASSIGN_OR_RETURN(Statement insert, database.Prepare("INSERT INTO value VALUES (?, ?, ?)"));
  for (const auto& [metric, value] : launch.values) {
    TUTTI_RETURN_IF_ERROR(insert.BindAll(id, metric, value));
    TUTTI_RETURN_IF_ERROR(insert.Run());
  }
  return OkStatus();
}

}  // namespace

Result<StoredLaunch> ToStored(const compare::Launch& launch, const std::string& label,
                              int64_t added_ns) {
  const size_t warmup = WarmUpOf(launch);
  if (compare::PeriodsOf(launch, warmup).empty()) {
    return BadDataError(launch.name + ": no complete training step with a known period");
  }
  StoredLaunch stored{.begin_ns = launch.begin_ns.value_or(added_ns),
                      .name = ToStorableText(launch.name),
                      .label = ToStorableText(label),
                      .series = SeriesOf(launch.facts),
                      .epoch = EpochOf(launch.facts)};
  for (const compare::Metric& metric : compare::Metrics()) {
    const auto value = compare::LaunchValue(metric, launch, warmup);
    if (value && std::isfinite(*value)) stored.values[std::string(metric.name)] = *value;
  }
  if (launch.control_ns) stored.values["control"] = *launch.control_ns;
  return stored;
}

Result<bool> AddLaunch(const std::string& path, const StoredLaunch& launch) {
  TUTTI_ASSIGN_OR_RETURN(Database database, OpenHistory(path));
  TUTTI_ASSIGN_OR_RETURN(schema::Transaction transaction, schema::Transaction::Begin(database));
  {
    TUTTI_ASSIGN_OR_RETURN(
        const auto before,
        database.QueryOne<int64_t>("SELECT count(*) FROM launch WHERE series = ? AND begin_ns = ?",
                                   launch.series, launch.begin_ns));
    if (before > 0) return false;
    TUTTI_ASSIGN_OR_RETURN(Statement insert,
                           database.Prepare("INSERT INTO launch (series, begin_ns, name, label, "
                                            "epoch) VALUES (?, ?, ?, ?, ?)"));
    TUTTI_RETURN_IF_ERROR(
        insert.BindAll(launch.series, launch.begin_ns, launch.name, launch.label, launch.epoch));
    TUTTI_RETURN_IF_ERROR(insert.Run());
    TUTTI_RETURN_IF_ERROR(AddValues(database, launch));
  }
  TUTTI_RETURN_IF_ERROR(transaction.Commit());
  return true;
}

Result<std::vector<StoredLaunch>> ReadHistory(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::OpenReadOnly(path));
  TUTTI_RETURN_IF_ERROR(CheckKind(database, path));
  TUTTI_ASSIGN_OR_RETURN(
      Statement rows,
      database.Prepare("SELECT id, series, begin_ns, name, label, epoch, metric, value FROM launch "
                       "JOIN value ON launch_id = id ORDER BY series, begin_ns, id, metric"));
  std::vector<StoredLaunch> launches;
  std::optional<int64_t> current;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return launches;
    TUTTI_ASSIGN_OR_RETURN(const auto id, rows.Get<int64_t>(0));
    if (current != id) {
      StoredLaunch launch;
      TUTTI_ASSIGN_OR_RETURN(launch.series, rows.Get<std::string>(1));
      TUTTI_ASSIGN_OR_RETURN(launch.begin_ns, rows.Get<int64_t>(2));
      TUTTI_ASSIGN_OR_RETURN(launch.name, rows.Get<std::string>(3));
      TUTTI_ASSIGN_OR_RETURN(launch.label, rows.Get<std::string>(4));
      TUTTI_ASSIGN_OR_RETURN(launch.epoch, rows.Get<std::string>(5));
      launches.push_back(std::move(launch));
      current = id;
    }
    TUTTI_ASSIGN_OR_RETURN(const auto metric, rows.Get<std::string>(6));
    TUTTI_ASSIGN_OR_RETURN(const auto value, rows.Get<double>(7));
    launches.back().values[metric] = value;
  }
}

}  // namespace tutti::analyzer::history
