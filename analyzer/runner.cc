#include "analyzer/runner.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>

namespace tutti::analyzer {
namespace {

using Clock = std::chrono::steady_clock;

Status Check(const Pass& pass, schema::Database& derived) {
  for (const PassCheck& check : pass.checks) {
    TUTTI_ASSIGN_OR_RETURN(const int64_t violations, derived.QueryOne<int64_t>(check.violation));
    if (violations != 0) {
      return BadDataError("not true " + std::to_string(violations) + " times: " +
                          std::string(check.claim) + "; please report this with the trace");
    }
  }
  return OkStatus();
}

// `work` writes the rows of the pass.
template <typename Work>
Status RunOne(const Pass& pass, size_t ordinal, RunContext& context, Work work) {
  const Clock::time_point begin = Clock::now();
  const int64_t rows_before = context.rows_written();
  TUTTI_ASSIGN_OR_RETURN(schema::Transaction transaction,
                         schema::Transaction::Begin(context.derived()));
  TUTTI_RETURN_IF_ERROR(work());
  TUTTI_RETURN_IF_ERROR(Check(pass, context.derived()));
  schema::PassRunRow row;
  row.ordinal = static_cast<int64_t>(ordinal);
  row.name = std::string(pass.name);
  row.rows_written = context.rows_written() - rows_before;
  row.checks = static_cast<int64_t>(pass.checks.size());
  row.wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  TUTTI_RETURN_IF_ERROR(context.Write(std::span<const schema::PassRunRow>(&row, 1)));
  return transaction.Commit();
}

Status Named(const Pass& pass, const Status& status) {
  // What the user asked for is not the pass's fault.
  if (status.ok() || status.code() == StatusCode::kUsage) return status;
  return Status(status.code(), "pass " + std::string(pass.name) + ": " + status.message());
}

// Writes what the team found, pass by pass, in the order of one process.
Status WriteShards(std::span<const Pass> passes, size_t first, RunContext& context,
                   const ShardRows& shards) {
  for (size_t i = first; i < first + passes.size(); ++i) {
    const Pass& pass = passes[i - first];
    const Status status = RunOne(pass, i, context, [&]() -> Status {
      for (auto shard = shards.lower_bound({i, std::numeric_limits<int64_t>::min()});
           shard != shards.end() && shard->first.first == i; ++shard) {
        TUTTI_RETURN_IF_ERROR(context.WritePacked(shard->second));
      }
      return OkStatus();
    });
    TUTTI_RETURN_IF_ERROR(Named(pass, status));
  }
  return OkStatus();
}

}  // namespace

Status RunPasses(std::span<const Pass> passes, RunContext& context, const PassProgress& progress,
                 Team* team) {
  for (size_t i = 0; i < passes.size();) {
    if (progress) progress(passes[i].name, i, passes.size());
    if (team != nullptr && passes[i].scope == PassScope::kRank) {
      const auto end =
          std::find_if(passes.begin() + static_cast<ptrdiff_t>(i), passes.end(),
                       [](const Pass& pass) { return pass.scope != PassScope::kRank; });
      const auto count = static_cast<size_t>(end - passes.begin()) - i;
      const std::span<const Pass> together = passes.subspan(i, count);
      std::optional<size_t> failed_file;
      Result<ShardRows> shards = team->Run(together, i, context, failed_file);
      if (failed_file) context.SetFailedFile(*failed_file);
      if (!shards.ok()) return shards.status();
      TUTTI_RETURN_IF_ERROR(WriteShards(together, i, context, *shards));
      i += count;
      continue;
    }
    const Pass& pass = passes[i];
    TUTTI_RETURN_IF_ERROR(Named(pass, RunOne(pass, i, context, [&] { return pass.run(context); })));
    ++i;
  }
  return OkStatus();
}

}  // namespace tutti::analyzer
