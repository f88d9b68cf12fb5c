#include "analyzer/shard.h"

#include <algorithm>

#include "schema/sql.h"

namespace tutti::analyzer {
namespace {

// What is written until its end is forgotten.
class Scratch {
 public:
  static Result<Scratch> Begin(RunContext& context) {
    TUTTI_RETURN_IF_ERROR(context.ContinueIssues());
    TUTTI_RETURN_IF_ERROR(context.derived().Execute("SAVEPOINT shard"));
    return Scratch(context);
  }
  Scratch(Scratch&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (context_ == nullptr) return;
    context_->RestrictTo({}, nullptr);
    (void)context_->derived().Execute("ROLLBACK TO shard; RELEASE shard");
    (void)context_->ContinueIssues();
  }

 private:
  explicit Scratch(RunContext& context) : context_(&context) {}
  RunContext* context_;
};

Result<ShardStore::Kept> RunRank(std::span<const Pass> passes, size_t first, int64_t rank,
                                 RunContext& context) {
  ShardStore::Kept done;
  TUTTI_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Begin(context));
  for (size_t i = 0; i < passes.size(); ++i) {
    schema::Packer packer;
    context.RestrictTo(rank, &packer);
    if (const Status status = passes[i].run(context); !status.ok()) {
      return Status(status.code(), "pass " + std::string(passes[i].name) + ": " + status.message());
    }
    done.rows[{first + i, rank}] = packer.bytes();
  }
  const RunContext::BadTables& bad = context.Bad();
  if (const auto found = bad.find(rank); found != bad.end()) done.bad = found->second;
  return done;
}

// Copies what `select` finds into a table of the same columns.
Status CopyRows(schema::Database& from, const std::string& select, schema::Database& into,
                const std::string& table) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, from.Prepare(select));
  std::string places = "?";
  for (int i = 1; i < rows.column_count(); ++i) places += ", ?";
  TUTTI_ASSIGN_OR_RETURN(schema::Statement insert,
                         into.Prepare("INSERT INTO " + table + " VALUES (" + places + ")"));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return OkStatus();
    for (int i = 0; i < rows.column_count(); ++i) {
      TUTTI_RETURN_IF_ERROR(insert.Bind(i + 1, rows.GetAny(i)));
    }
    TUTTI_RETURN_IF_ERROR(insert.Run());
  }
}

// The derived tables, and whether each has a column `rank`.
Result<std::map<std::string, bool>> TablesWithRanks(schema::Database& derived) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement statement,
      derived.Prepare("SELECT name, EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS c"
                      " WHERE c.name = 'rank') FROM sqlite_schema AS t"
                      " WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"));
  std::map<std::string, bool> tables;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return tables;
    TUTTI_ASSIGN_OR_RETURN(const std::string name, statement.Get<std::string>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t has_rank, statement.Get<int64_t>(1));
    tables[name] = has_rank != 0;
  }
}

}  // namespace

void AddShardRows(schema::Packer& packer, const ShardRows& rows) {
  packer.Add(static_cast<int64_t>(rows.size()));
  for (const auto& [key, packed] : rows) {
    packer.Add(static_cast<int64_t>(key.first));
    packer.Add(key.second);
    packer.Add(packed);
  }
}

Result<ShardRows> TakeShardRows(schema::Unpacker& bytes) {
  ShardRows rows;
  TUTTI_ASSIGN_OR_RETURN(const int64_t count, bytes.Number());
  for (int64_t i = 0; i < count; ++i) {
    TUTTI_ASSIGN_OR_RETURN(const int64_t pass, bytes.Number());
    TUTTI_ASSIGN_OR_RETURN(const int64_t rank, bytes.Number());
    TUTTI_ASSIGN_OR_RETURN(const std::string_view packed, bytes.Text());
    rows[{static_cast<size_t>(pass), rank}] = packed;
  }
  return rows;
}

void AddBadOfRank(schema::Packer& packer, const BadOfRank& bad) {
  packer.Add(static_cast<int64_t>(bad.size()));
  for (const auto& [table, counts] : bad) {
    packer.Add(table);
    packer.Add(counts.rows);
    packer.Add(counts.values);
  }
}

Result<BadOfRank> TakeBadOfRank(schema::Unpacker& bytes) {
  BadOfRank bad;
  TUTTI_ASSIGN_OR_RETURN(const int64_t tables, bytes.Number());
  for (int64_t i = 0; i < tables; ++i) {
    TUTTI_ASSIGN_OR_RETURN(const std::string_view table, bytes.Text());
    BadCounts& counts = bad[std::string(table)];
    TUTTI_ASSIGN_OR_RETURN(counts.rows, bytes.Number());
    TUTTI_ASSIGN_OR_RETURN(counts.values, bytes.Number());
  }
  return bad;
}

std::vector<std::vector<int64_t>> DealRanks(std::span<const schema::RankRow> ranks,
                                            const RunFiles& files, size_t processes) {
  const auto bytes_of = [&](const schema::RankRow& rank) {
    return files.traces[static_cast<size_t>(rank.input_file_id)].bytes;
  };
  std::vector<schema::RankRow> by_size(ranks.begin(), ranks.end());
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](const auto& a, const auto& b) { return bytes_of(a) > bytes_of(b); });
  std::vector<std::vector<int64_t>> dealt(processes);
  std::vector<int64_t> bytes(processes, 0);
  for (const schema::RankRow& rank : by_size) {
    const auto least = std::min_element(bytes.begin(), bytes.end());
    // One more for each, so that empty files are dealt evenly, too.
    *least += bytes_of(rank) + 1;
    dealt[static_cast<size_t>(least - bytes.begin())].push_back(rank.rank);
  }
  for (std::vector<int64_t>& mine : dealt) std::sort(mine.begin(), mine.end());
  return dealt;
}

Result<std::string> ShardImage(schema::Database& derived, std::span<const int64_t> ranks) {
  std::string list;
  for (const int64_t rank : ranks) list += (list.empty() ? "" : ", ") + std::to_string(rank);
  TUTTI_ASSIGN_OR_RETURN(schema::Database image, schema::Database::OpenMemory());
  TUTTI_RETURN_IF_ERROR(image.Execute(std::string(schema::DerivedSql())));
  TUTTI_ASSIGN_OR_RETURN(schema::Transaction transaction, schema::Transaction::Begin(image));
  TUTTI_ASSIGN_OR_RETURN(const auto tables, TablesWithRanks(derived));
  for (const auto& [table, has_rank] : tables) {
    const std::string select =
        "SELECT * FROM " + table + (has_rank ? " WHERE rank IN (" + list + ")" : "");
    TUTTI_RETURN_IF_ERROR(CopyRows(derived, select, image, table));
  }
  TUTTI_RETURN_IF_ERROR(transaction.Commit());
  return schema::ImageOf(image);
}

Result<ShardRows> RunShard(std::span<const Pass> passes, size_t first,
                           std::span<const int64_t> ranks, RunContext& context, ShardStore* store) {
  ShardRows all;
  for (const int64_t rank : ranks) {
    std::optional<ShardStore::Kept> done = store == nullptr ? std::nullopt : store->Load(rank);
    if (done) {
      context.MergeBad({{rank, done->bad}});
    } else {
      TUTTI_ASSIGN_OR_RETURN(done, RunRank(passes, first, rank, context));
      if (store != nullptr) TUTTI_RETURN_IF_ERROR(store->Save(rank, *done));
    }
    all.merge(done->rows);
  }
  return all;
}

}  // namespace tutti::analyzer
