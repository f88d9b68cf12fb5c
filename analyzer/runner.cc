#include "analyzer/runner.h"

#include <chrono>
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

Status RunOne(const Pass& pass, int64_t ordinal, RunContext& context) {
  const Clock::time_point begin = Clock::now();
  const int64_t rows_before = context.rows_written();
  TUTTI_ASSIGN_OR_RETURN(schema::Transaction transaction,
                         schema::Transaction::Begin(context.derived()));
  TUTTI_RETURN_IF_ERROR(pass.run(context));
  TUTTI_RETURN_IF_ERROR(Check(pass, context.derived()));
  schema::PassRunRow row;
  row.ordinal = ordinal;
  row.name = std::string(pass.name);
  row.rows_written = context.rows_written() - rows_before;
  row.checks = static_cast<int64_t>(pass.checks.size());
  row.wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  TUTTI_RETURN_IF_ERROR(context.Write(std::span<const schema::PassRunRow>(&row, 1)));
  return transaction.Commit();
}

}  // namespace

Status RunPasses(std::span<const Pass> passes, RunContext& context, const PassProgress& progress) {
  for (size_t i = 0; i < passes.size(); ++i) {
    if (progress) progress(passes[i].name, i, passes.size());
    const Status status = RunOne(passes[i], static_cast<int64_t>(i), context);
    if (status.code() == StatusCode::kUsage) return status;  // what the user asked for, not us
    if (!status.ok()) {
      return Status(status.code(), "pass " + std::string(passes[i].name) + ": " + status.message());
    }
  }
  return OkStatus();
}

}  // namespace tutti::analyzer
