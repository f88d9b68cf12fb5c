#include "schema/writer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>
#include <type_traits>

#include "schema/batch.h"
#include "schema/database.h"
#include "schema/event_tables.h"
#include "schema/sql.h"
#include "schema/trace_store.h"

namespace tutti::schema {
namespace {

TraceStore::Safety SafetyOf(const WriterOptions& options) {
  return options.is_scratch ? TraceStore::Safety::kScratch : TraceStore::Safety::kDurable;
}

constexpr std::string_view kSource = "schema.writer";
constexpr int kFinishAttempts = 3;

// The earlier (or later) of two times where either may be unknown.
template <typename Choose>
std::optional<int64_t> Combine(std::optional<int64_t> a, std::optional<int64_t> b, Choose choose) {
  if (!a.has_value()) return b;
  if (!b.has_value()) return a;
  return choose(*a, *b);
}

int64_t Min(int64_t a, int64_t b) { return std::min(a, b); }
int64_t Max(int64_t a, int64_t b) { return std::max(a, b); }

}  // namespace

// The file and one inserter per raw table.
struct TraceWriter::Store {
  TraceStore file;
  std::array<std::unique_ptr<RawInserter>, kTableCount> inserters = {};
};

template <typename Function>
void TraceWriter::ForEachBuffer(Function&& function) {
  std::apply(
      [&](auto&... rows) {
        size_t table = 0;
        (function(rows, table++), ...);
      },
      buffers_);
}

TraceWriter::TraceWriter(std::unique_ptr<Store> store, const WriterOptions& options)
    : store_(std::move(store)), options_(options) {}

TraceWriter::~TraceWriter() = default;

Result<std::unique_ptr<TraceWriter>> TraceWriter::Create(const std::string& path,
                                                         const WriterOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(TraceStore file, TraceStore::Create(path, options.ballast_bytes,
                                                             SafetyOf(options), options.vfs));
  return Make(Store{std::move(file)}, options);
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::Reopen(const std::string& path,
                                                         const WriterOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(TraceStore file,
                         TraceStore::Open(path, options.ballast_bytes, SafetyOf(options)));
  return Make(Store{std::move(file)}, options);
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::Make(Store store, const WriterOptions& options) {
  std::unique_ptr<TraceWriter> writer(
      new TraceWriter(std::make_unique<Store>(std::move(store)), options));
  Status status;
  writer->ForEachBuffer([&]<typename Row>(std::vector<Row>&, size_t table) {
    if (!status.ok()) return;
    Result<std::unique_ptr<RawInserter>> inserter =
        RawInserter::Make(writer->store_->file.database(), LayoutOf<Row>());
    status = inserter.status();
    if (status.ok()) writer->store_->inserters[table] = std::move(inserter).value();
  });
  TUTTI_RETURN_IF_ERROR(status);
  return writer;
}

bool TraceWriter::IsFull() const {
  return pending_rows_ >= options_.waiting_rows || pending_bytes_ >= options_.waiting_bytes;
}

bool TraceWriter::MakeRoom() { return Clock::now() >= next_attempt_ && Commit().ok(); }

bool TraceWriter::IsDue() const {
  return pending_rows_ >= options_.commit_rows || pending_bytes_ >= options_.commit_bytes ||
         Clock::now() - oldest_pending_ >= options_.commit_interval;
}

Status TraceWriter::MaybeCommit() {
  if (pending_rows_ == 0 || !IsDue()) return OkStatus();
  if (!last_failure_.ok() && Clock::now() < next_attempt_) return last_failure_;
  return Commit();
}

Status TraceWriter::Commit() {
  if (pending_rows_ == 0 && !gaps_changed_) return OkStatus();
  last_failure_ = store_->file.Reserve(pending_bytes_);
  if (last_failure_.ok()) last_failure_ = CommitAll();
  next_attempt_ = Clock::now() + options_.commit_interval;
  return last_failure_;
}

Status TraceWriter::CommitAll() {
  TUTTI_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(store_->file.database()));
  TUTTI_ASSIGN_OR_RETURN(const Counts rejected, InsertBuffers());
  TUTTI_RETURN_IF_ERROR(InsertGapRows(rejected));
  TUTTI_RETURN_IF_ERROR(transaction.Commit());
  ForEachBuffer([&](const auto& rows, size_t table) {
    gaps_[table].rejected += rejected[table];
    committed_[table] += static_cast<int64_t>(rows.size()) - rejected[table];
  });
  gaps_changed_ = false;
  ClearBuffers();
  return OkStatus();
}

Result<TraceWriter::Counts> TraceWriter::InsertBuffers() {
  Counts rejected{};
  Status status;
  ForEachBuffer([&](const auto& rows, size_t table) {
    if (!status.ok() || rows.empty()) return;
    const Result<int64_t> result = store_->inserters[table]->Insert(rows.data(), rows.size());
    status = result.status();
    if (status.ok()) rejected[table] = *result;
  });
  TUTTI_RETURN_IF_ERROR(status);
  return rejected;
}

Status TraceWriter::InsertGapRows(const Counts& newly_rejected) {
  std::vector<TraceStatRow> rows;
  ForEachBuffer([&]<typename Row>(const std::vector<Row>&, size_t table) {
    const Gap& gap = gaps_[table];
    const int64_t id = kFirstWriterStatId + 2 * static_cast<int64_t>(table);
    const std::string name(Row::kTable);
    if (gap.lost > 0) {
      rows.push_back({id, "data_loss", "disk_full", std::string(kSource), gap.lost, gap.begin_ns,
                      gap.end_ns, "rows of table " + name + " could not be written",
                      "free disk space, or limit the trace with --max-size"});
    }
    const int64_t rejected = gap.rejected + newly_rejected[table];
    if (rejected > 0) {
      rows.push_back({id + 1,
                      "error",
                      "row_rejected",
                      std::string(kSource),
                      rejected,
                      {},
                      {},
                      "rows of table " + name + " broke one of its constraints",
                      "report this as a bug of tutti"});
    }
  });
  constexpr size_t kTable = internal::IndexOf<TraceStatRow>(static_cast<AllRawRows*>(nullptr));
  return store_->inserters[kTable]->Insert(rows.data(), rows.size()).status();
}

void TraceWriter::CountLost(size_t table, int64_t rows, const RowTimes& times) {
  const bool first = lost_rows() == 0;
  Gap& gap = gaps_[table];
  gap.lost += rows;
  gap.begin_ns = Combine(gap.begin_ns, times.begin_ns, Min);
  gap.end_ns = Combine(gap.end_ns, times.end_ns.has_value() ? times.end_ns : times.begin_ns, Max);
  gaps_changed_ = true;
  if (first) SaveGapRows();
}

// As soon as something is lost the file says so, in case this process is killed.
void TraceWriter::SaveGapRows() {
  store_->file.ReleaseBallast();
  Result<Transaction> transaction = Transaction::Begin(store_->file.database());
  if (!transaction.ok() || !InsertGapRows({}).ok()) return;  // the next commit tries again
  if (transaction->Commit().ok()) gaps_changed_ = false;
}

void TraceWriter::ClearBuffers() {
  ForEachBuffer([](auto& rows, size_t) { rows.clear(); });
  pending_rows_ = 0;
  pending_bytes_ = 0;
}

// The last chance of rows that wait: each table by itself, so that the small tables, on
// which the meaning of the large ones rests, are not lost with them.
void TraceWriter::CommitTablesThatFit() {
  ForEachBuffer([&](auto& rows, size_t table) {
    if (rows.empty()) return;
    Result<Transaction> transaction = Transaction::Begin(store_->file.database());
    if (transaction.ok()) {
      const Result<int64_t> rejected = store_->inserters[table]->Insert(rows.data(), rows.size());
      if (rejected.ok() && transaction->Commit().ok()) {
        gaps_[table].rejected += *rejected;
        committed_[table] += static_cast<int64_t>(rows.size()) - *rejected;
        gaps_changed_ = gaps_changed_ || *rejected > 0;
        return;
      }
    }
    for (const auto& row : rows) CountLost(table, 1, internal::TimesOf(row));
  });
  ClearBuffers();
}

Status TraceWriter::Finalize() {
  if (!Commit().ok()) CommitTablesThatFit();
  store_->file.ReleaseBallast();
  store_->file.StopReserving();
  std::get<std::vector<MetaRow>>(buffers_).push_back({"file.complete", "1"});
  ++pending_rows_;
  Status status;
  for (int attempt = 0; attempt < kFinishAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(options_.commit_interval);
    status = pending_rows_ > 0 ? CommitAll() : OkStatus();
    // What the log holds has its room in the file already: emptied, it makes room for the rest.
    if (!status.ok() && store_->file.EmptyLog().ok()) status = CommitAll();
    if (status.ok()) status = store_->file.EmptyLog();
    if (status.ok()) break;
  }
  TUTTI_RETURN_IF_ERROR(status);
  for (std::unique_ptr<RawInserter>& inserter : store_->inserters) inserter.reset();
  return store_->file.Finish();
}

int64_t TraceWriter::committed_rows() const {
  return std::accumulate(committed_.begin(), committed_.end(), int64_t{0});
}

int64_t TraceWriter::committed_events() const {
  static constexpr auto kIsEvent = []<typename... Rows>(std::type_identity<std::tuple<Rows...>>) {
    return std::array{IsEventTable(Rows::kTable)...};
  }(std::type_identity<AllRawRows>());
  int64_t events = 0;
  for (size_t table = 0; table < kTableCount; ++table) {
    if (kIsEvent[table]) events += committed_[table];
  }
  return events;
}

int64_t TraceWriter::lost_rows() const {
  int64_t rows = 0;
  for (const Gap& gap : gaps_) rows += gap.lost;
  return rows;
}

int64_t TraceWriter::rejected_rows() const {
  int64_t rows = 0;
  for (const Gap& gap : gaps_) rows += gap.rejected;
  return rows;
}

}  // namespace tutti::schema
