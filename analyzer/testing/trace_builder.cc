#include "analyzer/testing/trace_builder.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "schema/database.h"
#include "schema/writer.h"

namespace tutti::analyzer::testing {
namespace {

// Far from 0, where real times are.
constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;

void OrDie(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "trace builder: %s\n", status.message().c_str());
  std::abort();
}

template <typename Row>
int64_t NextId(const std::vector<Row>& rows) {
  return static_cast<int64_t>(rows.size()) + 1;
}

schema::ThreadRow Thread(int64_t tid, const char* role) {
  schema::ThreadRow row;
  row.tid = tid;
  row.kernel_tid = tid;
  row.role = role;
  return row;
}

}  // namespace

TraceBuilder::TraceBuilder(int64_t rank, int64_t world_size, int64_t unit_ns) : unit_ns_(unit_ns) {
  process_.pid = 1000 + rank;
  process_.host = "host";
  process_.boot_id = "boot";
  process_.rank = rank;
  process_.local_rank = rank;
  process_.world_size = world_size;
  process_.executable = "/bin/train";
  process_.begin_ns = kEpochNs;
  if (world_size > 1) {
    std::vector<int64_t> all;
    for (int64_t other = 0; other < world_size; ++other) all.push_back(other);
    Communicator(1, "0", all);
    communicators_.back().description = "default_pg";
  }
}

int64_t TraceBuilder::Ns(int64_t time) const { return kEpochNs + time * unit_ns_; }

std::optional<int64_t> TraceBuilder::Ns(std::optional<int64_t> time) const {
  return time ? std::optional(Ns(*time)) : std::nullopt;
}

int64_t TraceBuilder::StringId(const std::string& text) {
  if (text.empty()) return 0;
  return strings_.emplace(text, static_cast<int64_t>(strings_.size()) + 1).first->second;
}

TraceBuilder& TraceBuilder::Step(int64_t number, int64_t begin, End end, std::string origin) {
  steps_.push_back({static_cast<int64_t>(steps_.size()), number, kMainTid, Ns(begin), Ns(end),
                    std::move(origin)});
  return *this;
}

TraceBuilder& TraceBuilder::Phase(std::string phase, int64_t begin, End end, int64_t tid) {
  phases_.push_back({NextId(phases_), tid, std::move(phase), Ns(begin), Ns(end), "annotate"});
  return *this;
}

TraceBuilder& TraceBuilder::Op(const std::string& name, int64_t begin, End end, int64_t tid,
                               int64_t scope) {
  schema::CpuOpRow row;
  row.id = NextId(ops_);
  row.tid = tid;
  row.name_id = StringId(name);
  row.scope = scope;
  row.begin_ns = Ns(begin);
  row.end_ns = Ns(end);
  ops_.push_back(row);
  return *this;
}

TraceBuilder& TraceBuilder::Backward(const std::string& name, int64_t begin, End end) {
  return Op(name, begin, end, kMainTid, 1);
}

TraceBuilder& TraceBuilder::DataWait(int64_t begin, End end, std::optional<int64_t> queue_depth,
                                     int64_t tid, const std::string& loader) {
  data_waits_.push_back(
      {NextId(data_waits_), tid, StringId(loader), Ns(begin), Ns(end), queue_depth, "annotate"});
  return *this;
}

TraceBuilder& TraceBuilder::Batch(int64_t time, int64_t samples, std::optional<int64_t> tokens) {
  batches_.push_back({NextId(batches_), kMainTid, Ns(time), samples, tokens});
  return *this;
}

TraceBuilder& TraceBuilder::Collective(const std::string& op, std::optional<int64_t> sequence,
                                       std::optional<int64_t> enqueue, std::optional<int64_t> begin,
                                       End end, std::optional<int64_t> bytes,
                                       int64_t communicator) {
  schema::CollectiveSourceRow row;
  row.id = NextId(collectives_);
  row.origin = "gloo_op";
  row.communicator_id = communicator;
  row.sequence = sequence;
  row.op_id = StringId(op);
  row.dtype_id = StringId("float32");
  row.bytes = bytes;
  row.enqueue_ns = Ns(enqueue);
  row.begin_ns = Ns(begin);
  row.end_ns = Ns(end);
  row.tid = kGlooTid;
  row.enqueue_tid = kMainTid;
  collectives_.push_back(row);
  return *this;
}

TraceBuilder& TraceBuilder::Transfer(const std::string& op, int64_t peer, int64_t sequence,
                                     int64_t begin, End end, int64_t bytes) {
  Collective(op, sequence, begin, begin, end, bytes);
  collectives_.back().tid = kMainTid;
  collectives_.back().peer = peer;
  return *this;
}

TraceBuilder& TraceBuilder::Dumped(const std::string& op, int64_t sequence, int64_t enqueue,
                                   std::string state, const std::string& stack,
                                   int64_t communicator) {
  Collective(op, sequence, enqueue, {}, {}, 64, communicator);
  schema::CollectiveSourceRow& row = collectives_.back();
  row.origin = "flight_recorder";
  row.tid.reset();
  if (state != "scheduled") row.begin_ns = Ns(enqueue);
  if (state == "completed") row.end_ns = Ns(enqueue + 1);
  row.state = std::move(state);
  if (!stack.empty()) row.stack_id = StringId(stack);
  return *this;
}

TraceBuilder& TraceBuilder::Progress(int64_t communicator, int64_t last_enqueued_sequence) {
  for (schema::CommunicatorRow& row : communicators_) {
    if (row.id == communicator) row.last_enqueued_sequence = last_enqueued_sequence;
  }
  return *this;
}

TraceBuilder& TraceBuilder::Block(int64_t time, int64_t address, int64_t delta_bytes,
                                  int64_t allocated_bytes, const std::string& stack) {
  Memory(time, delta_bytes, allocated_bytes);
  schema::MemoryEventRow& row = memory_events_.back();
  row.device_type = "cuda";
  row.device_id = 0;
  row.address = address;
  if (!stack.empty()) row.stack_id = StringId(stack);
  return *this;
}

TraceBuilder& TraceBuilder::Communicator(int64_t id, std::string uid,
                                         std::vector<int64_t> global_ranks) {
  schema::CommunicatorRow row;
  row.id = id;
  row.backend = "gloo";
  row.uid = std::move(uid);
  row.ordinal = static_cast<int64_t>(communicators_.size());
  row.group_size = static_cast<int64_t>(global_ranks.size());
  std::string list;
  for (size_t i = 0; i < global_ranks.size(); ++i) {
    if (global_ranks[i] == *process_.rank) row.group_rank = static_cast<int64_t>(i);
    list += (i == 0 ? "[" : ",") + std::to_string(global_ranks[i]);
  }
  row.global_ranks = list + "]";
  communicators_.push_back(std::move(row));
  return *this;
}

TraceBuilder& TraceBuilder::Memory(int64_t time, int64_t delta_bytes, int64_t allocated_bytes) {
  schema::MemoryEventRow row;
  row.id = NextId(memory_events_);
  row.tid = kMainTid;
  row.time_ns = Ns(time);
  row.device_type = "cpu";
  row.address = row.id;
  row.delta_bytes = delta_bytes;
  row.allocated_bytes = allocated_bytes;
  memory_events_.push_back(std::move(row));
  return *this;
}

TraceBuilder& TraceBuilder::Kernel(const std::string& name, int64_t stream, int64_t begin,
                                   int64_t end, std::optional<int64_t> correlation) {
  schema::KernelRow row;
  row.id = NextId(kernels_);
  row.stream_id = stream;
  row.name_id = StringId(name);
  row.begin_ns = Ns(begin);
  row.end_ns = Ns(end);
  row.correlation_id = correlation;
  kernels_.push_back(row);
  return *this;
}

TraceBuilder& TraceBuilder::UntimedKernel(const std::string& name,
                                          std::optional<int64_t> correlation) {
  Kernel(name, 7, 0, 0, correlation);
  kernels_.back().begin_ns.reset();
  kernels_.back().end_ns.reset();
  return *this;
}

TraceBuilder& TraceBuilder::GraphKernel(const std::string& name, int64_t stream, int64_t begin,
                                        int64_t end, int64_t correlation, int64_t node) {
  Kernel(name, stream, begin, end, correlation);
  kernels_.back().graph_node_id = node;
  return *this;
}

TraceBuilder& TraceBuilder::Memcpy(std::string kind, int64_t stream, int64_t begin, int64_t end,
                                   int64_t bytes, std::optional<int64_t> correlation,
                                   std::string source, std::string destination) {
  schema::MemcpyRow row;
  row.id = NextId(memcpys_);
  row.stream_id = stream;
  row.begin_ns = Ns(begin);
  row.end_ns = Ns(end);
  row.bytes = bytes;
  row.copy_kind = std::move(kind);
  row.correlation_id = correlation;
  if (!source.empty()) row.source_kind = std::move(source);
  if (!destination.empty()) row.destination_kind = std::move(destination);
  memcpys_.push_back(std::move(row));
  return *this;
}

TraceBuilder& TraceBuilder::Memset(int64_t stream, int64_t begin, int64_t end, int64_t bytes) {
  schema::MemsetRow row;
  row.id = NextId(memsets_);
  row.stream_id = stream;
  row.begin_ns = Ns(begin);
  row.end_ns = Ns(end);
  row.bytes = bytes;
  memsets_.push_back(row);
  return *this;
}

TraceBuilder& TraceBuilder::Sync(std::string kind, int64_t begin, int64_t end,
                                 std::optional<int64_t> correlation) {
  schema::SyncRow row;
  row.id = NextId(syncs_);
  row.kind = std::move(kind);
  row.begin_ns = Ns(begin);
  row.end_ns = Ns(end);
  row.correlation_id = correlation;
  syncs_.push_back(std::move(row));
  return *this;
}

TraceBuilder& TraceBuilder::Api(const std::string& name, int64_t begin, int64_t end,
                                int64_t correlation, int64_t tid) {
  schema::ApiCallRow row;
  row.id = NextId(api_calls_);
  row.tid = tid;
  row.name_id = StringId(name);
  row.begin_ns = Ns(begin);
  row.end_ns = Ns(end);
  row.correlation_id = correlation;
  api_calls_.push_back(row);
  return *this;
}

TraceBuilder& TraceBuilder::KernelCollective(const std::string& op, int64_t stream, int64_t begin,
                                             int64_t end, std::optional<int64_t> correlation,
                                             int64_t bytes, std::optional<int64_t> sequence,
                                             int64_t communicator) {
  Collective(op, sequence, {}, begin, end, bytes, communicator);
  schema::CollectiveSourceRow& row = collectives_.back();
  row.origin = "kernel";
  row.tid.reset();
  row.enqueue_tid.reset();
  row.device_id = 0;
  row.stream_id = stream;
  row.correlation_id = correlation;
  return *this;
}

TraceBuilder& TraceBuilder::Lost(int64_t count, int64_t begin, int64_t end) {
  stats_.push_back({NextId(stats_), "data_loss", "ring_dropped", "tracer.ring", count, Ns(begin),
                    Ns(end), "events did not fit into a ring", "raise --buffer"});
  return *this;
}

TraceBuilder& TraceBuilder::Stat(std::string name, int64_t count, End begin, End end) {
  stats_.push_back({NextId(stats_), "data_loss", std::move(name), "test", count, Ns(begin), Ns(end),
                    "a loss", ""});
  return *this;
}

TraceBuilder& TraceBuilder::Ended(int64_t time, int64_t exit_status) {
  process_.end_ns = Ns(time);
  process_.exit_status = exit_status;
  return *this;
}

TraceBuilder& TraceBuilder::BootId(std::string boot_id) {
  process_.boot_id = std::move(boot_id);
  return *this;
}

TraceBuilder& TraceBuilder::Attempt(int64_t attempt) {
  process_.attempt = attempt;
  return *this;
}

void TraceBuilder::WriteTo(const std::string& path) const {
  Result<std::unique_ptr<schema::TraceWriter>> writer = schema::TraceWriter::Create(path);
  OrDie(writer.status());
  const auto append = [&](const auto& rows) {
    for (const auto& row : rows) OrDie((*writer)->Append(row));
  };
  append(std::vector{process_});
  append(std::vector{Thread(kMainTid, "main"), Thread(kGlooTid, "gloo"),
                     Thread(kLoaderTid, "loader")});
  for (const auto& [text, id] : strings_) OrDie((*writer)->Append(schema::StringRow{id, text}));
  append(communicators_);
  append(steps_);
  append(phases_);
  append(ops_);
  append(data_waits_);
  append(batches_);
  append(collectives_);
  append(memory_events_);
  append(kernels_);
  append(memcpys_);
  append(memsets_);
  append(syncs_);
  append(api_calls_);
  append(stats_);
  OrDie((*writer)->Finalize());
}

RunFolder& RunFolder::Add(const TraceBuilder& trace) {
  char name[64];
  std::snprintf(name, sizeof(name), "rank-%05lld.sqlite", static_cast<long long>(trace.rank()));
  std::string folder;
  if (trace.attempt() > 0) {
    folder = "attempt-" + std::to_string(trace.attempt()) + "/";
    std::filesystem::create_directories(scratch_.Path(folder));
  }
  trace.WriteTo(scratch_.Path(folder + name));
  return *this;
}

RunFolder& RunFolder::Execute(const std::string& name, const std::string& sql) {
  Result<schema::Database> database = schema::Database::OpenTrusted(Path(name));
  OrDie(database.status());
  OrDie(database->Execute(sql));
  return *this;
}

}  // namespace tutti::analyzer::testing
