// How fast a run is analyzed: a generated recording of a data-parallel CPU training
// (about a million events on two ranks), loaded and put through all passes.
//
//   analyze_bench [EVENTS [RANKS [RUN]]]
//
// Prints one JSON object: events a second of the whole analysis, time of each pass, peak
// resident memory of this process, and bytes of the trace. With RUN, a folder, the recording is
// only written there, and its events and bytes are printed.
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "analyzer/analyze.h"
#include "schema/database.h"
#include "schema/derived_rows.h"
#include "schema/reader.h"
#include "schema/writer.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kEpochNs = 1'764'000'000'000'000'000;
constexpr int64_t kMain = 100;
constexpr int64_t kGloo = 200;
constexpr int64_t kNames = 60;
constexpr int64_t kOpsPerStep = 180;
constexpr int64_t kBuckets = 4;

void OrDie(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "analyze_bench: %s\n", status.message().c_str());
  std::exit(1);
}

// Writes rows of one rank in the order in which a collector would.
class RankGenerator {
 public:
  RankGenerator(const std::string& path, int64_t rank, int64_t ranks) : rank_(rank), ranks_(ranks) {
    Result<std::unique_ptr<schema::TraceWriter>> writer = schema::TraceWriter::Create(path);
    OrDie(writer.status());
    writer_ = std::move(writer).value();
  }

  void Write(int64_t steps) {
    WriteProcess();
    for (int64_t step = 0; step < steps; ++step) WriteStep(step);
    OrDie(writer_->Finalize());
  }

 private:
  template <typename Row>
  void Append(Row row) {
    OrDie(writer_->Append(std::move(row)));
  }

  void WriteProcess() {
    schema::ProcessRow process;
    process.pid = 1000 + rank_;
    process.host = "bench";
    process.boot_id = "bench";
    process.rank = rank_;
    process.world_size = ranks_;
    process.begin_ns = kEpochNs;
    Append(process);
    for (int64_t id = 1; id <= kNames; ++id) {
      Append(schema::StringRow{id, "aten::operator_" + std::to_string(id)});
    }
    Append(schema::StringRow{kNames + 1, "all_reduce"});
    Append(schema::StringRow{kNames + 2, "float32"});
    schema::CommunicatorRow group;
    group.id = 1;
    group.backend = "gloo";
    group.uid = "0";
    group.group_rank = rank_;
    group.group_size = ranks_;
    Append(group);
  }

  void WriteStep(int64_t step) {
    const int64_t begin = now_;
    Append(schema::DataWaitRow{step, kMain, 1, now_, now_ + 20'000, 3, "annotate"});
    now_ += 20'000;
    // Pairs of nested operators, the inner one first: rows come in the order of ends.
    for (int64_t i = 0; i < kOpsPerStep; i += 2) {
      const int64_t length = 4'000 + (i * 37 + step * 11 + rank_ * 5) % 9'000;
      AppendOp(now_ + 500, now_ + length - 300, i, 1);
      AppendOp(now_, now_ + length, i + 1, 0);
      now_ += length + 700;
    }
    for (int64_t bucket = 0; bucket < kBuckets; ++bucket) AppendCollective(step, bucket, begin);
    for (int64_t i = 0; i < 8; ++i) AppendMemory(i);
    now_ += 10'000;
    Append(schema::StepRow{step, step, kMain, begin, now_, "annotate"});
    Append(schema::BatchRow{step, kMain, begin, 64, {}});
  }

  void AppendOp(int64_t begin, int64_t end, int64_t name, int64_t depth) {
    schema::CpuOpRow op;
    op.id = ++op_id_;
    op.tid = kMain;
    op.name_id = 1 + name % kNames;
    op.scope = name % 3 == 0 ? 1 : 0;
    op.begin_ns = begin;
    op.end_ns = end;
    op.depth = depth;
    Append(op);
  }

  void AppendCollective(int64_t step, int64_t bucket, int64_t begin) {
    schema::CollectiveSourceRow call;
    call.id = step * kBuckets + bucket;
    call.origin = "gloo_op";
    call.communicator_id = 1;
    call.sequence = call.id;
    call.op_id = kNames + 1;
    call.dtype_id = kNames + 2;
    call.bytes = 1 << 20;
    call.enqueue_ns = begin + (now_ - begin) * (bucket + 1) / (kBuckets + 1);
    call.begin_ns = *call.enqueue_ns + 5'000 + rank_ * 1'000;
    call.end_ns = *call.begin_ns + 90'000;
    call.tid = kGloo;
    call.enqueue_tid = kMain;
    Append(call);
  }

  void AppendMemory(int64_t i) {
    schema::MemoryEventRow event;
    event.id = ++memory_id_;
    event.tid = kMain;
    event.time_ns = now_ + i * 100;
    event.device_type = "cpu";
    event.address = i;
    event.delta_bytes = i % 2 == 0 ? 4096 : -4096;
    event.allocated_bytes = i % 2 == 0 ? 8192 : 4096;
    Append(event);
  }

  std::unique_ptr<schema::TraceWriter> writer_;
  int64_t rank_;
  int64_t ranks_;
  int64_t now_ = kEpochNs + 1'000'000;
  int64_t op_id_ = 0;
  int64_t memory_id_ = 0;
};

struct Folder {
  Folder() {
    std::string name = fs::temp_directory_path() / "tutti-bench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) OrDie(IoError("no temporary folder"));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

int64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

void PrintPasses(const std::string& analysis) {
  Result<schema::Database> database = schema::Database::OpenReadOnly(analysis);
  OrDie(database.status());
  const char* separator = "";
  OrDie(schema::ForEach<schema::PassRunRow>(
      *database, "ORDER BY ordinal", [&](const schema::PassRunRow& pass) {
        std::printf("%s\"%s\": %.1f", separator, pass.name.c_str(),
                    static_cast<double>(pass.wall_ns) / 1e6);
        separator = ", ";
      }));
}

// Writes the rank files into `folder`; returns their bytes.
int64_t Generate(const fs::path& folder, int64_t ranks, int64_t steps) {
  int64_t bytes = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    char name[32];
    std::snprintf(name, sizeof(name), "rank-%05lld.sqlite", static_cast<long long>(rank));
    RankGenerator((folder / name).string(), rank, ranks).Write(steps);
    bytes += static_cast<int64_t>(fs::file_size(folder / name));
  }
  return bytes;
}

int Main(int argc, char** argv) {
  const int64_t events = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const int64_t ranks = argc > 2 ? std::atoll(argv[2]) : 2;
  const int64_t per_step = kOpsPerStep + kBuckets + 8 + 3;
  const int64_t steps = std::max<int64_t>(events / (ranks * per_step), 1);
  if (argc > 3) {
    const int64_t bytes = Generate(argv[3], ranks, steps);
    std::printf("{\"events\": %lld, \"trace_bytes\": %lld}\n",
                static_cast<long long>(ranks * steps * per_step), static_cast<long long>(bytes));
    return 0;
  }
  const Folder run;
  const int64_t bytes = Generate(run.path, ranks, steps);
  const int64_t before = PeakResidentBytes();
  const auto begin = std::chrono::steady_clock::now();
  const Result<analyzer::Analysis> analysis = analyzer::Analyze(run.path.string(), {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  OrDie(analysis.status());
  const int64_t total = ranks * steps * per_step;
  std::printf(
      "{\"events\": %lld, \"ranks\": %lld, \"trace_bytes\": %lld, \"seconds\": %.3f, "
      "\"events_per_s\": %.0f, \"peak_resident_bytes\": %lld, "
      "\"resident_before_bytes\": %lld, \"pass_ms\": {",
      static_cast<long long>(total), static_cast<long long>(ranks), static_cast<long long>(bytes),
      seconds.count(), static_cast<double>(total) / seconds.count(),
      static_cast<long long>(PeakResidentBytes()), static_cast<long long>(before));
  PrintPasses(analysis->path);
  std::printf("}}\n");
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) { return tutti::Main(argc, argv); }
