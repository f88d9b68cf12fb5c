// The trace of one rank of an export: rows with their ids, names by Nsight's string ids,
// threads by global id, the GPUs and streams that were used. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "collector/importers/nsys/global_id.h"
#include "collector/importers/nsys/rank_processes.h"
#include "collector/importers/nsys/string_ids.h"
#include "collector/importers/nsys/table_cursor.h"
#include "collector/importers/trace_sink.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

class RankOutput {
 public:
  struct Name {
    int64_t id = 0;  // in the trace; 0 none
    bool is_nccl_kernel = false;
  };

  // |sink| and |strings| must outlive this. |place| is its number among the ranks.
  RankOutput(size_t place, TraceSink& sink, StringIds& strings, RankProcess process)
      : place_(place), sink_(&sink), strings_(&strings), process_(std::move(process)) {}

  size_t place() const { return place_; }
  const RankProcess& process() const { return process_; }
  TraceSink& sink() { return *sink_; }

  // The row gets its id, where its table has one.
  template <typename Row>
  void Append(Row row) {
    if constexpr (requires { row.id; }) {
      sink_->Add(std::move(row));
    } else {
      sink_->Append(std::move(row));
    }
  }

  // Events of the file that are this rank's, used or not.
  void CountEvent() { ++events_; }
  int64_t events() const { return events_; }

  int64_t Intern(std::string_view text) { return sink_->Intern(text); }

  // The name in a column that holds a text or a string id; id 0 for neither.
  Result<Name> NameOf(TableCursor& row, size_t column);
  // The same for a call of CUDA, without the version that Nsight appends: "cudaMalloc"
  // for "cudaMalloc_v3020".
  Result<int64_t> CallNameOf(TableCursor& row, size_t column);

  // The value for tid columns of a thread's global id; widens the thread's time.
  int64_t Tid(int64_t global_tid, std::optional<int64_t> begin_ns = {},
              std::optional<int64_t> end_ns = {});

  // The first name given stays. Only for threads with events: others get no row.
  void NameThread(int64_t global_tid, std::string_view name);
  bool HasThread(int64_t global_tid) const { return threads_.contains(global_tid); }

  void SawStream(int64_t device_id, int64_t stream_id) { streams_.emplace(device_id, stream_id); }
  const std::set<std::pair<int64_t, int64_t>>& streams() const { return streams_; }

  // Of work on a GPU: rows of other kinds name the context right and the GPU wrong.
  void SawContext(int64_t context_id, int64_t device_id) {
    device_of_context_.try_emplace(context_id, device_id);
  }
  // |device_id| where nothing ran in the context.
  int64_t DeviceOf(std::optional<int64_t> context_id, int64_t device_id) const {
    const auto known = device_of_context_.find(context_id.value_or(-1));
    return known == device_of_context_.end() ? device_id : known->second;
  }

  // Threads that called CUDA or marked a range: those whose other calls are worth keeping.
  void SawMainThread(int64_t global_tid) { main_threads_.insert(global_tid); }
  bool IsMainThread(int64_t global_tid) const { return main_threads_.contains(global_tid); }

  void CountGraph() { ++graphs_; }
  int64_t graphs() const { return graphs_; }

 private:
  size_t place_;
  TraceSink* sink_;
  StringIds* strings_;
  RankProcess process_;
  int64_t events_ = 0;
  int64_t graphs_ = 0;
  std::unordered_map<int64_t, Name> names_;          // by string id
  std::unordered_map<int64_t, int64_t> call_names_;  // the same
  std::set<std::pair<int64_t, int64_t>> streams_;    // device, stream
  std::unordered_map<int64_t, int64_t> device_of_context_;
  std::set<int64_t> main_threads_;             // global ids
  std::unordered_map<int64_t, bool> threads_;  // by global id: has it a name
};

// "cudaMalloc" for "cudaMalloc_v3020"; other names as they are.
std::string_view WithoutApiVersion(std::string_view name);

}  // namespace tutti::collector::importers::nsys
