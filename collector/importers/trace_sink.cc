#include "collector/importers/trace_sink.h"

#include <algorithm>
#include <iterator>

#include "collector/importers/join_rows.h"
#include "collector/version.h"
#include "common/text.h"
#include "schema/reader.h"

namespace tutti::collector::importers {
namespace {

constexpr size_t kLongestText = 1 << 20;
constexpr Oddity kTextCut = {Severity::kNotice, "text_cut", "texts longer than 1 MiB were cut", ""};

// An import that fails is made again from its file: no room is set aside to finish it, and nothing
// waits for the disk on the way. Commits are small, so that SQLite has work from the beginning.
constexpr schema::WriterOptions kWriterOptions = {
    .commit_rows = 4'096, .ballast_bytes = 64 * 1024, .is_scratch = true};

// The file of a suspended trace.
Result<schema::Database> OpenScratch(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database database, schema::Database::OpenTrusted(path));
  TUTTI_RETURN_IF_ERROR(database.Execute("PRAGMA synchronous=OFF"));
  return database;
}

std::optional<std::string> NonEmpty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return ToStorableText(text);
}

// Cut between two characters.
std::string_view Cut(std::string_view text) {
  size_t size = kLongestText;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace

Result<std::unique_ptr<TraceSink>> TraceSink::Create(const std::string& path) {
  std::unique_ptr<TraceSink> sink(new TraceSink(path));
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<schema::TraceWriter> writer,
                         schema::TraceWriter::Create(path, kWriterOptions));
  sink->writer_ = std::make_unique<schema::BackgroundWriter>(std::move(writer));
  sink->Append(schema::StringRow{.id = sink->NextId<schema::StringRow>(), .text = ""});
  return sink;
}

int64_t TraceSink::Intern(std::string_view text) {
  if (text.empty()) return 0;
  if (text.size() > kLongestText) {
    Count(kTextCut, "");
    text = Cut(text);
  }
  const auto [id, is_new] = strings_.Of(text);
  if (is_new) {
    id = NextId<schema::StringRow>();
    Append(schema::StringRow{
        .id = id, .text = IsStorableText(text) ? std::string(text) : ToStorableText(text)});
  }
  return id;
}

TraceSink::ThreadEntry& TraceSink::FindThread(int64_t pid, int64_t kernel_tid) {
  if (last_thread_ < threads_.size() && threads_[last_thread_].pid == pid &&
      threads_[last_thread_].row.kernel_tid == kernel_tid) {
    return threads_[last_thread_];
  }
  const auto [entry, is_new] = thread_index_.try_emplace({pid, kernel_tid}, threads_.size());
  if (is_new) {
    schema::ThreadRow row;
    row.kernel_tid = kernel_tid;
    row.tid = thread_of_tid_.contains(kernel_tid) ? next_negative_tid_-- : kernel_tid;
    thread_of_tid_.emplace(row.tid, threads_.size());
    threads_.push_back({std::move(row), pid});
  }
  last_thread_ = entry->second;
  return threads_[last_thread_];
}

int64_t TraceSink::Thread(int64_t pid, int64_t kernel_tid, std::optional<int64_t> begin_ns,
                          std::optional<int64_t> end_ns) {
  schema::ThreadRow& row = FindThread(pid, kernel_tid).row;
  if (begin_ns) {
    row.begin_ns = std::min(row.begin_ns.value_or(*begin_ns), *begin_ns);
    const int64_t last_ns = end_ns.value_or(*begin_ns);
    row.end_ns = std::max(row.end_ns.value_or(last_ns), last_ns);
  }
  return row.tid;
}

void TraceSink::SetThreadName(int64_t pid, int64_t kernel_tid, std::string_view name) {
  FindThread(pid, kernel_tid).row.name = ToStorableText(name);
}

void TraceSink::SetThreadRole(int64_t tid, std::string_view role) {
  const auto found = thread_of_tid_.find(tid);
  if (found != thread_of_tid_.end()) threads_[found->second].row.role = std::string(role);
}

void TraceSink::Count(const Oddity& oddity, std::string_view where, std::optional<int64_t> time_ns,
                      int64_t count, std::string_view about) {
  const std::string format = sources.empty() ? "" : "." + sources.back().format;
  std::string place(where);
  if (sources.size() > 1 || (sources.size() == 1 && where.empty())) {
    const std::string& path = sources.back().path;
    place = path.substr(path.rfind('/') + 1) + (where.empty() ? "" : ", " + place);
  }
  oddities_.Count(oddity, "import" + format, place, time_ns, count, about);
}

Status TraceSink::Suspend() {
  if (writer_ == nullptr) return status_;
  Note(writer_->Commit());
  writer_.reset();
  strings_ = TextIds();
  return status_;
}

Status TraceSink::ReadStrings() {
  TUTTI_ASSIGN_OR_RETURN(schema::Database database, OpenScratch(path_));
  return schema::ForEach<schema::StringRow>(database, "", [this](const schema::StringRow& row) {
    const auto [id, is_new] = strings_.Of(row.text);
    if (is_new) id = row.id;
  });
}

Status TraceSink::Resume() {
  if (writer_ != nullptr) return status_;
  TUTTI_RETURN_IF_ERROR(ReadStrings());
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<schema::TraceWriter> writer,
                         schema::TraceWriter::Reopen(path_, kWriterOptions));
  writer_ = std::make_unique<schema::BackgroundWriter>(std::move(writer));
  return status_;
}

Status TraceSink::Update(const std::function<Status(schema::Database&)>& change) {
  TUTTI_RETURN_IF_ERROR(Suspend());
  {
    TUTTI_ASSIGN_OR_RETURN(schema::Database database, OpenScratch(path_));
    TUTTI_ASSIGN_OR_RETURN(schema::Transaction transaction, schema::Transaction::Begin(database));
    TUTTI_RETURN_IF_ERROR(change(database));
    TUTTI_RETURN_IF_ERROR(transaction.Commit());
  }
  return Resume();
}

// The threads of `later` among the own; their numbers there and here.
ThreadMap TraceSink::TakeThreads(const TraceSink& later) {
  ThreadMap tids;
  for (const ThreadEntry& thread : later.threads_) {
    const schema::ThreadRow& row = thread.row;
    const int64_t tid = Thread(thread.pid, row.kernel_tid, row.begin_ns, row.end_ns);
    schema::ThreadRow& own = threads_[thread_of_tid_.at(tid)].row;
    if (!own.name) own.name = row.name;
    if (!own.role) own.role = row.role;
    tids.emplace_back(row.tid, tid);
  }
  return tids;
}

// Ids go on behind rows that were written past the sink.
Status TraceSink::SkipTakenIds() {
  TUTTI_ASSIGN_OR_RETURN(schema::Database database, OpenScratch(path_));
  const auto skip = [&]<typename Row>(const Row&) -> Status {
    if constexpr (requires(Row row) { row.id; }) {
      const std::string table(Row::kTable);
      TUTTI_ASSIGN_OR_RETURN(
          const int64_t next,
          database.QueryOne<int64_t>("SELECT coalesce(max(id) + 1, 0) FROM " + table));
      int64_t& own = next_ids_[TableOf<Row>()];
      own = std::max(own, next);
    }
    return OkStatus();
  };
  Status status;
  std::apply([&](const auto&... row) { ((status.ok() ? void(status = skip(row)) : void()), ...); },
             schema::AllRawRows{});
  return status;
}

Status TraceSink::Absorb(TraceSink& later) {
  TUTTI_RETURN_IF_ERROR(Suspend());
  TUTTI_RETURN_IF_ERROR(later.Suspend());
  {
    const ThreadMap tids = TakeThreads(later);
    TUTTI_ASSIGN_OR_RETURN(schema::Database database, OpenScratch(path_));
    TUTTI_RETURN_IF_ERROR(JoinRows(database, later.path_, tids));
  }
  TUTTI_RETURN_IF_ERROR(SkipTakenIds());
  TUTTI_RETURN_IF_ERROR(Resume());
  schema::TraceStatRow gap;
  gap.severity = "info";
  gap.name = "capture_gap";
  gap.source = "import";
  gap.count = 1;
  gap.begin_ns = identity.end_ns;
  gap.end_ns = later.identity.begin_ns;
  gap.detail = "nothing was captured between two captures of the process";
  Add(std::move(gap));
  identity.end_ns = later.identity.end_ns;
  std::ranges::move(later.sources, std::back_inserter(sources));
  oddities_.Absorb(std::move(later.oddities_));
  return Suspend();
}

void TraceSink::AppendProcess(int64_t attempt) {
  schema::ProcessRow row;
  row.pid = identity.pid.value_or(0);
  row.host = ToStorableText(identity.host);
  row.boot_id = NonEmpty(identity.boot_id);
  row.rank = identity.rank;
  row.local_rank = identity.local_rank;
  row.world_size = identity.world_size;
  row.rank_source = NonEmpty(identity.rank_source);
  row.attempt = attempt;
  row.run_id = NonEmpty(identity.run_id);
  row.executable = NonEmpty(identity.executable);
  row.torch_version = NonEmpty(identity.torch_version);
  row.begin_ns = identity.begin_ns;
  row.end_ns = identity.end_ns;
  Append(std::move(row));
}

void TraceSink::AppendMeta() {
  std::string formats;
  for (const schema::ImportSourceRow& source : sources) {
    if (formats.find(source.format) != std::string::npos) continue;
    formats += (formats.empty() ? "" : ",") + source.format;
  }
  Append(schema::MetaRow{"tutti.version", kVersion});
  Append(schema::MetaRow{"import.formats", std::move(formats)});
}

Status TraceSink::Finish(int64_t attempt) {
  TUTTI_RETURN_IF_ERROR(Resume());
  for (ThreadEntry& thread : threads_) Append(thread.row);
  AppendProcess(attempt);
  AppendMeta();
  for (schema::ImportSourceRow& source : sources) {
    source.id = NextId<schema::ImportSourceRow>();
    Append(source);
  }
  for (schema::TraceStatRow& row : oddities_.Take(NextId<schema::TraceStatRow>())) {
    Append(std::move(row));
  }
  Note(writer_->Finalize());
  const int64_t lost = writer_->lost_rows();
  writer_.reset();
  if (status_.ok() && lost > 0) status_ = IoError(path_ + ": the disk is full");
  return status_;
}

}  // namespace tutti::collector::importers
