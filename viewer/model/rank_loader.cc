// Reads a rank's file table by table into tracks.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "schema/database.h"
#include "schema/reader.h"
#include "schema/rows.h"
#include "viewer/model/rank_trace.h"
#include "viewer/model/track_drafts.h"

namespace tutti::viewer {
namespace {

using Optional = std::optional<int64_t>;

constexpr std::string_view TableOf(Source source) {
  return source == Source::kCpuOp        ? "cpu_op"
         : source == Source::kPythonCall ? "python_call"
         : source == Source::kRange      ? "range"
                                         : "api_call";
}

// The columns that the timeline needs, of the tables with many rows.
template <Source kSource>
struct CallColumns {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  Optional end_ns = {};
  TUTTI_ROW(CallColumns, TableOf(kSource), id, tid, name_id, begin_ns, end_ns)
};
struct KernelColumns {
  int64_t id = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  int64_t name_id = 0;
  Optional begin_ns = {};
  Optional end_ns = {};
  TUTTI_ROW(KernelColumns, "kernel", id, device_id, stream_id, name_id, begin_ns, end_ns)
};
struct MemoryColumns {
  int64_t time_ns = 0;
  std::string device_type = {};
  Optional device_id = {};
  Optional allocated_bytes = {};
  TUTTI_ROW(MemoryColumns, "memory_event", time_ns, device_type, device_id, allocated_bytes)
};

class RankLoader {
 public:
  RankLoader(const RunSummary& summary, size_t slot, NameTable* names)
      : summary_(summary), rank_(summary.ranks[slot]), names_(names), drafts_(summary, slot) {}

  Status Read(const std::string& path) {
    AddSteps();
    AddCollectives();
    auto opened = schema::Database::OpenReadOnly(path, {.quick_check = false});
    if (!opened.ok()) return opened.status();
    schema::Database& database = *opened;
    TUTTI_RETURN_IF_ERROR(ReadStrings(database));
    TUTTI_RETURN_IF_ERROR(ReadThreads(database));
    TUTTI_RETURN_IF_ERROR(ReadProgram(database));
    TUTTI_RETURN_IF_ERROR(ReadHost(database));
    TUTTI_RETURN_IF_ERROR(ReadDevice(database));
    TUTTI_RETURN_IF_ERROR(ReadMemory(database));
    return ReadCounters(database);
  }

  // The tracks of what was read, in order.
  std::vector<Track> TakeTracks() { return drafts_.Take(); }

 private:
  NameId Name(int64_t string_id) {
    const auto found = strings_.find(string_id);
    return found == strings_.end() ? names_->Intern("?") : found->second;
  }

  void AddSteps() {
    for (const schema::StepWindowRow& window : summary_.windows) {
      if (window.rank != rank_.rank) continue;
      TrackDraft& draft = drafts_.Of(TrackKind::kSteps, -1, 0, [] { return "steps"; });
      const size_t step = static_cast<size_t>(window.step);
      const int64_t number =
          step < summary_.steps.size() ? summary_.steps[step].number : window.step;
      drafts_.AddAligned(draft, window.begin_ns, window.end_ns,
                         {.name = names_->Intern("step " + std::to_string(number)),
                          .row_id = static_cast<uint32_t>(window.step),
                          .category = Category::kStep,
                          .source = Source::kStepWindow});
    }
  }

  void AddCollectives() {
    for (const Collective& collective : summary_.collectives) {
      const auto call = std::lower_bound(
          collective.calls.begin(), collective.calls.end(), rank_.rank,
          [](const schema::CollectiveCallRow& row, int64_t rank) { return row.rank < rank; });
      if (call == collective.calls.end() || call->rank != rank_.rank) continue;
      const Optional begin = call->arrival_ns.has_value() ? call->arrival_ns : call->enqueue_ns;
      if (!begin.has_value()) continue;
      const int64_t id = collective.row.communicator_id.value_or(-1);
      TrackDraft& draft =
          drafts_.Of(TrackKind::kCommunicator, -1, id, [&] { return CommunicatorLabel(id); });
      drafts_.AddAligned(draft, *begin, call->end_ns,
                         {.name = names_->Intern(collective.row.op),
                          .row_id = static_cast<uint32_t>(call->source_id),
                          .category = Category::kCommunication,
                          .source = Source::kCollective});
    }
  }

  std::string CommunicatorLabel(int64_t id) const {
    for (const schema::RunCommunicatorRow& row : summary_.communicators) {
      if (row.id != id) continue;
      return row.backend + " " + row.description.value_or(row.uid.value_or(std::to_string(id)));
    }
    return "collectives";
  }

  Status ReadStrings(schema::Database& database) {
    return schema::ForEach<schema::StringRow>(database, "", [&](const schema::StringRow& row) {
      strings_[row.id] = names_->Intern(row.text);
    });
  }

  // As the kernel knows it. What can be none, as a hash or an address that stands in a trace in its
  // place, tells a person nothing: the first of these is "#1".
  std::string ThreadNumber(int64_t kernel_tid) {
    constexpr int64_t kMostThreads = int64_t{1} << 32;
    if (kernel_tid >= 0 && kernel_tid < kMostThreads) return std::to_string(kernel_tid);
    return "#" + std::to_string(++unknown_threads_);
  }

  Status ReadThreads(schema::Database& database) {
    return schema::ForEach<schema::ThreadRow>(database, "", [&](const schema::ThreadRow& row) {
      std::string label = row.role.value_or("thread");
      label.append(" ").append(ThreadNumber(row.kernel_tid));
      if (row.name.has_value() && !row.name->empty()) label += " " + *row.name;
      threads_[row.tid] = label;
    });
  }

  TrackDraft& Thread(int64_t tid) {
    return drafts_.Of(TrackKind::kThread, -1, tid, [&] {
      const auto found = threads_.find(tid);
      return found == threads_.end() ? "thread " + ThreadNumber(tid) : found->second;
    });
  }

  // What the program says that it does.
  Status ReadProgram(schema::Database& database) {
    TUTTI_RETURN_IF_ERROR(
        schema::ForEach<schema::PhaseRow>(database, "", [&](const schema::PhaseRow& row) {
          const bool optimizes = row.phase == "optimizer";
          const bool loads = row.phase == "data";
          drafts_.Add(drafts_.Of(TrackKind::kPhases, -1, 0, [] { return "phases"; }), row.begin_ns,
                      row.end_ns,
                      {.name = names_->Intern(row.phase),
                       .row_id = static_cast<uint32_t>(row.id),
                       .category = optimizes ? Category::kOptimizer
                                   : loads   ? Category::kLoader
                                             : Category::kStep,
                       .source = Source::kPhase});
        }));
    return schema::ForEach<schema::DataWaitRow>(database, "", [&](const schema::DataWaitRow& row) {
      drafts_.Add(drafts_.Of(TrackKind::kLoader, -1, 0, [] { return "input waits"; }), row.begin_ns,
                  row.end_ns,
                  {.name = Name(row.loader_id),
                   .row_id = static_cast<uint32_t>(row.id),
                   .category = Category::kLoader,
                   .source = Source::kDataWait});
    });
  }

  template <Source kSource>
  Status ReadCalls(schema::Database& database, Category fixed) {
    TrackDraft* draft = nullptr;
    Category category = fixed;
    return schema::ForEach<CallColumns<kSource>>(
        database, "", [&](const CallColumns<kSource>& row) {
          if (draft == nullptr || draft->track.id != row.tid) {
            draft = &Thread(row.tid);
            category = fixed;
            if (kSource == Source::kCpuOp && draft->track.role == "compute") {
              category = Category::kCompute;
            } else if (kSource == Source::kCpuOp && draft->track.role == "communication") {
              category = Category::kCommunication;
            } else if (kSource == Source::kCpuOp && draft->track.role == "loader") {
              category = Category::kLoader;
            }
          }
          drafts_.Add(*draft, row.begin_ns, row.end_ns,
                      {.name = Name(row.name_id),
                       .row_id = static_cast<uint32_t>(row.id),
                       .category = category,
                       .source = kSource});
        });
  }

  Status ReadHost(schema::Database& database) {
    TUTTI_RETURN_IF_ERROR(ReadCalls<Source::kCpuOp>(database, Category::kHost));
    TUTTI_RETURN_IF_ERROR(ReadCalls<Source::kPythonCall>(database, Category::kHost));
    TUTTI_RETURN_IF_ERROR(ReadCalls<Source::kRange>(database, Category::kStep));
    return ReadCalls<Source::kApiCall>(database, Category::kRuntime);
  }

  TrackDraft& Stream(int64_t device, int64_t stream) {
    return drafts_.Of(TrackKind::kStream, device, stream,
                      [&] { return "stream " + std::to_string(stream); });
  }

  Category KernelCategory(NameId name) {
    const auto [found, is_new] = kernel_categories_.try_emplace(name, Category::kCompute);
    if (is_new) {
      const auto known = summary_.kernel_categories.find(names_->Text(name));
      if (known != summary_.kernel_categories.end()) found->second = known->second;
    }
    return found->second;
  }

  Status ReadDevice(schema::Database& database) {
    TUTTI_RETURN_IF_ERROR(
        schema::ForEach<KernelColumns>(database, "", [&](const KernelColumns& row) {
          if (!row.begin_ns.has_value()) return;  // untimed: has no place on a timeline
          const NameId name = Name(row.name_id);
          drafts_.Add(Stream(row.device_id, row.stream_id), *row.begin_ns, row.end_ns,
                      {.name = name,
                       .row_id = static_cast<uint32_t>(row.id),
                       .category = KernelCategory(name),
                       .source = Source::kKernel});
        }));
    TUTTI_RETURN_IF_ERROR(ReadCopies(database));
    TUTTI_RETURN_IF_ERROR(
        schema::ForEach<schema::GpuRangeRow>(database, "", [&](const schema::GpuRangeRow& row) {
          drafts_.Add(Stream(row.device_id, row.stream_id), row.begin_ns, row.end_ns,
                      {.name = Name(row.name_id),
                       .row_id = static_cast<uint32_t>(row.id),
                       .category = Category::kStep,
                       .source = Source::kGpuRange});
        }));
    return ReadWaits(database);
  }

  Status ReadCopies(schema::Database& database) {
    TUTTI_RETURN_IF_ERROR(
        schema::ForEach<schema::MemcpyRow>(database, "", [&](const schema::MemcpyRow& row) {
          if (!row.begin_ns.has_value()) return;
          drafts_.Add(Stream(row.device_id, row.stream_id), *row.begin_ns, row.end_ns,
                      {.name = names_->Intern("memcpy " + row.copy_kind),
                       .row_id = static_cast<uint32_t>(row.id),
                       .category = Category::kCopy,
                       .source = Source::kMemcpy});
        }));
    return schema::ForEach<schema::MemsetRow>(database, "", [&](const schema::MemsetRow& row) {
      if (!row.begin_ns.has_value()) return;
      drafts_.Add(Stream(row.device_id, row.stream_id), *row.begin_ns, row.end_ns,
                  {.name = names_->Intern("memset"),
                   .row_id = static_cast<uint32_t>(row.id),
                   .category = Category::kCopy,
                   .source = Source::kMemset});
    });
  }

  Status ReadWaits(schema::Database& database) {
    TUTTI_RETURN_IF_ERROR(
        schema::ForEach<schema::SyncRow>(database, "", [&](const schema::SyncRow& row) {
          if (!row.begin_ns.has_value()) return;
          const int64_t device = row.device_id.value_or(-1);
          drafts_.Add(drafts_.Of(TrackKind::kSync, device, 0, [] { return "synchronisation"; }),
                      *row.begin_ns, row.end_ns,
                      {.name = names_->Intern("sync " + row.kind),
                       .row_id = static_cast<uint32_t>(row.id),
                       .category = Category::kWait,
                       .source = Source::kSync});
        }));
    return schema::ForEach<schema::OverheadRow>(database, "", [&](const schema::OverheadRow& row) {
      drafts_.Add(drafts_.Of(TrackKind::kSync, -1, 1, [] { return "profiling overhead"; }),
                  row.begin_ns, row.end_ns,
                  {.name = Name(row.kind_id),
                   .row_id = static_cast<uint32_t>(row.id),
                   .category = Category::kWait,
                   .source = Source::kOverhead});
    });
  }

  Status ReadMemory(schema::Database& database) {
    return schema::ForEach<MemoryColumns>(database, "", [&](const MemoryColumns& row) {
      if (!row.allocated_bytes.has_value()) return;
      const int64_t device = row.device_id.value_or(-1);
      TrackDraft& draft = drafts_.Of(TrackKind::kMemory, device, 0, [&] {
        return device < 0 ? row.device_type + " memory" : "memory of GPU " + std::to_string(device);
      });
      draft.track.unit = "bytes";
      draft.samples.push_back(
          {drafts_.Aligned(row.time_ns), static_cast<double>(*row.allocated_bytes)});
    });
  }

  Status ReadCounters(schema::Database& database) {
    std::map<int64_t, schema::CounterRow> counters;
    TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::CounterRow>(
        database, "", [&](const schema::CounterRow& row) { counters[row.id] = row; }));
    return schema::ForEach<schema::CounterSampleRow>(
        database, "", [&](const schema::CounterSampleRow& row) {
          const schema::CounterRow& counter = counters[row.counter_id];
          TrackDraft& draft = drafts_.Of(TrackKind::kCounter, counter.device_id.value_or(-1),
                                         row.counter_id, [&] { return counter.name; });
          draft.track.unit = counter.unit;
          draft.is_cumulative = counter.kind == "cumulative";
          const auto* whole = std::get_if<int64_t>(&row.value);
          const auto* real = std::get_if<double>(&row.value);
          if (whole == nullptr && real == nullptr) return;
          draft.samples.push_back({drafts_.Aligned(row.time_ns),
                                   whole != nullptr ? static_cast<double>(*whole) : *real});
        });
  }

  const RunSummary& summary_;
  const schema::RankRow& rank_;
  NameTable* names_;
  TrackDrafts drafts_;
  std::unordered_map<int64_t, NameId> strings_;
  std::unordered_map<int64_t, std::string> threads_;
  int unknown_threads_ = 0;  // whose ids are not the kernel's
  std::unordered_map<NameId, Category> kernel_categories_;
};

}  // namespace

RankTrace LoadRankTrace(const RunSummary& summary, size_t slot, NameTable* names) {
  RankLoader loader(summary, slot, names);
  RankTrace trace;
  trace.status = loader.Read(summary.traces[slot]);
  trace.tracks = loader.TakeTracks();
  return trace;
}

}  // namespace tutti::viewer
