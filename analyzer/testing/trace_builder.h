// Small traces written down in a test: one object per rank, times in the unit of
// choice, rows in a few words; then a run folder of real rank files.
//
//   TraceBuilder rank0(0, 2);
//   rank0.Step(0, 0, 100).Op("aten::mm", 10, 60).AllReduce(0, 40, 55, 80, 4096);
//   RunFolder run;
//   run.Add(rank0);
//
// For tests only; failures abort the test program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/rows.h"
#include "schema/testing/scratch.h"

namespace tutti::analyzer::testing {

inline constexpr int64_t kMainTid = 100;
inline constexpr int64_t kGlooTid = 200;
inline constexpr int64_t kLoaderTid = 300;

class TraceBuilder {
 public:
  // `unit_ns` turns the times given to the functions below into nanoseconds.
  TraceBuilder(int64_t rank, int64_t world_size, int64_t unit_ns = 1);

  // Begin and end; an empty end is still open.
  using End = std::optional<int64_t>;

  TraceBuilder& Step(int64_t number, int64_t begin, End end, std::string origin = "annotate");
  TraceBuilder& Phase(std::string phase, int64_t begin, End end, int64_t tid = kMainTid);
  TraceBuilder& Op(const std::string& name, int64_t begin, End end, int64_t tid = kMainTid,
                   int64_t scope = 0);
  TraceBuilder& Backward(const std::string& name, int64_t begin, End end);
  TraceBuilder& DataWait(int64_t begin, End end, std::optional<int64_t> queue_depth = {},
                         int64_t tid = kMainTid, const std::string& loader = "train");
  TraceBuilder& Batch(int64_t time, int64_t samples, std::optional<int64_t> tokens = {});
  // Gloo's: enqueued on the main thread, run on Gloo's.
  TraceBuilder& Collective(const std::string& op, std::optional<int64_t> sequence,
                           std::optional<int64_t> enqueue, std::optional<int64_t> begin, End end,
                           std::optional<int64_t> bytes, int64_t communicator = 1);
  TraceBuilder& AllReduce(int64_t sequence, int64_t enqueue, int64_t begin, End end,
                          int64_t bytes) {
    return Collective("all_reduce", sequence, enqueue, begin, end, bytes);
  }
  // A send or receive of Gloo's, which its caller runs.
  TraceBuilder& Transfer(const std::string& op, int64_t peer, int64_t sequence, int64_t begin,
                         End end, int64_t bytes);
  // As a flight recorder tells it: `state` is 'scheduled', 'started' or 'completed'.
  TraceBuilder& Dumped(const std::string& op, int64_t sequence, int64_t enqueue, std::string state,
                       const std::string& stack = "", int64_t communicator = 1);
  // The last call on a communicator that the recorder tells of beside its entries.
  TraceBuilder& Progress(int64_t communicator, int64_t last_enqueued_sequence);
  TraceBuilder& Communicator(int64_t id, std::string uid, std::vector<int64_t> global_ranks);
  TraceBuilder& Memory(int64_t time, int64_t delta_bytes, int64_t allocated_bytes);
  // Of a block of GPU 0, with the stack of the call.
  TraceBuilder& Block(int64_t time, int64_t address, int64_t delta_bytes, int64_t allocated_bytes,
                      const std::string& stack = "");
  TraceBuilder& Kernel(const std::string& name, int64_t stream, int64_t begin, int64_t end,
                       std::optional<int64_t> correlation = {});
  TraceBuilder& UntimedKernel(const std::string& name, std::optional<int64_t> correlation = {});
  // A kernel of a CUDA graph: all of one launch share its correlation.
  TraceBuilder& GraphKernel(const std::string& name, int64_t stream, int64_t begin, int64_t end,
                            int64_t correlation, int64_t node);
  TraceBuilder& Memcpy(std::string kind, int64_t stream, int64_t begin, int64_t end, int64_t bytes,
                       std::optional<int64_t> correlation = {}, std::string source = "",
                       std::string destination = "");
  TraceBuilder& Memset(int64_t stream, int64_t begin, int64_t end, int64_t bytes);
  TraceBuilder& Sync(std::string kind, int64_t begin, int64_t end,
                     std::optional<int64_t> correlation = {});
  TraceBuilder& Api(const std::string& name, int64_t begin, int64_t end, int64_t correlation,
                    int64_t tid = kMainTid);
  // A collective that its kernel's metadata tells, as Kineto writes it.
  TraceBuilder& KernelCollective(const std::string& op, int64_t stream, int64_t begin, int64_t end,
                                 std::optional<int64_t> correlation, int64_t bytes,
                                 std::optional<int64_t> sequence = {}, int64_t communicator = 1);
  TraceBuilder& Lost(int64_t count, int64_t begin, int64_t end);
  // A loss of another name; without times it is not known when.
  TraceBuilder& Stat(std::string name, int64_t count, End begin, End end);

  // The process: not seen to end unless Ended is called.
  TraceBuilder& Ended(int64_t time, int64_t exit_status = 0);
  TraceBuilder& BootId(std::string boot_id);
  TraceBuilder& Attempt(int64_t attempt);

  int64_t rank() const { return *process_.rank; }
  int64_t attempt() const { return process_.attempt; }
  // Writes a finished rank file.
  void WriteTo(const std::string& path) const;

 private:
  int64_t Ns(int64_t time) const;
  std::optional<int64_t> Ns(std::optional<int64_t> time) const;
  int64_t StringId(const std::string& text);

  int64_t unit_ns_;
  schema::ProcessRow process_;
  std::map<std::string, int64_t> strings_;
  std::vector<schema::CommunicatorRow> communicators_;
  std::vector<schema::StepRow> steps_;
  std::vector<schema::PhaseRow> phases_;
  std::vector<schema::CpuOpRow> ops_;
  std::vector<schema::DataWaitRow> data_waits_;
  std::vector<schema::BatchRow> batches_;
  std::vector<schema::CollectiveSourceRow> collectives_;
  std::vector<schema::MemoryEventRow> memory_events_;
  std::vector<schema::KernelRow> kernels_;
  std::vector<schema::MemcpyRow> memcpys_;
  std::vector<schema::MemsetRow> memsets_;
  std::vector<schema::SyncRow> syncs_;
  std::vector<schema::ApiCallRow> api_calls_;
  std::vector<schema::TraceStatRow> stats_;
};

// A run folder that is deleted with the object.
class RunFolder {
 public:
  RunFolder& Add(const TraceBuilder& trace);
  // Changes a file that was added, as damage or an enemy would.
  RunFolder& Execute(const std::string& name, const std::string& sql);
  std::string path() const { return scratch_.Path(""); }
  std::string Path(const std::string& name) const { return scratch_.Path(name); }

 private:
  schema::testing::Scratch scratch_;
};

}  // namespace tutti::analyzer::testing
