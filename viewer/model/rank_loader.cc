// Reads a rank's file table by table into tracks.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "schema/database.h"
#include "schema/reader.h"
#include "schema/rows.h"
#include "viewer/model/lane_builder.h"
#include "viewer/model/rank_trace.h"

namespace tutti::viewer {
namespace {

using Optional = std::optional<int64_t>;

// The columns that the timeline needs, of the tables with many rows.
struct OpColumns {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  Optional end_ns = {};
  TUTTI_ROW(OpColumns, "cpu_op", id, tid, name_id, begin_ns, end_ns)
};
struct PythonColumns {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  Optional end_ns = {};
  TUTTI_ROW(PythonColumns, "python_call", id, tid, name_id, begin_ns, end_ns)
};
struct RangeColumns {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  Optional end_ns = {};
  TUTTI_ROW(RangeColumns, "range", id, tid, name_id, begin_ns, end_ns)
};
struct ApiColumns {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t name_id = 0;
  int64_t begin_ns = 0;
  Optional end_ns = {};
  TUTTI_ROW(ApiColumns, "api_call", id, tid, name_id, begin_ns, end_ns)
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

constexpr int64_t kSecondNs = 1'000'000'000;

// Files may come from anywhere: differences of such times do not overflow.
int64_t Sane(int64_t time_ns) {
  constexpr int64_t kLimit = int64_t{1} << 61;  // the year 2043
  return std::clamp(time_ns, -kLimit, kLimit);
}

// Sums since the start as what was added per `per_ns` until the next sample.
std::vector<Sample> RatesOf(std::vector<Sample> sums, int64_t per_ns) {
  std::stable_sort(sums.begin(), sums.end(),
                   [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  for (size_t i = 0; i + 1 < sums.size(); ++i) {
    const auto span =
        static_cast<double>(std::max<int64_t>(1, sums[i + 1].time_ns - sums[i].time_ns));
    sums[i].value = (sums[i + 1].value - sums[i].value) * static_cast<double>(per_ns) / span;
  }
  if (!sums.empty()) sums.back().value = sums.size() > 1 ? sums[sums.size() - 2].value : 0;
  return sums;
}

class RankLoader {
 public:
  RankLoader(const RunSummary& summary, size_t slot, NameTable* names)
      : summary_(summary),
        rank_(summary.ranks[slot]),
        times_(summary.TimesOf(slot)),
        names_(names) {}

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
  std::vector<Track> TakeTracks() {
    std::vector<Track> tracks;
    for (auto& [key, draft] : drafts_) {
      if (draft.events.empty() && draft.samples.empty()) continue;
      draft.track.lanes = BuildLanes(std::move(draft.events));
      if (draft.is_cumulative) {
        draft.samples = RatesOf(std::move(draft.samples), draft.track.unit == "ns" ? 1 : kSecondNs);
        draft.track.unit = draft.track.unit == "ns" ? "cores" : draft.track.unit + "/s";
      }
      for (Sample& sample : draft.samples) sample.time_ns = times_(sample.time_ns);
      draft.track.series = Series(std::move(draft.samples));
      tracks.push_back(std::move(draft.track));
      draft = Draft();
    }
    return tracks;
  }

 private:
  struct Draft {
    Track track;
    std::vector<Event> events;
    std::vector<Sample> samples;
    bool is_cumulative = false;  // samples are sums since the start
  };
  using Key = std::tuple<TrackKind, int64_t, int64_t>;  // kind, device, id

  // The label is only asked for where the track is new.
  template <typename Label>
  Draft& DraftOf(TrackKind kind, int64_t device, int64_t id, Label&& label) {
    const auto [found, is_new] = drafts_.try_emplace(Key(kind, device, id));
    Draft& draft = found->second;
    if (is_new) {
      draft.track.kind = kind;
      draft.track.device = device;
      draft.track.id = id;
      draft.track.label = label();
      if (kind == TrackKind::kThread || kind == TrackKind::kStream) {
        draft.track.role = RoleOf(device, id);
      }
    }
    return draft;
  }

  std::string RoleOf(int64_t device, int64_t id) const {
    const auto role = summary_.lane_roles.find({rank_.rank, device, id});
    return role == summary_.lane_roles.end() ? "" : role->second;
  }

  // A time of the rank's file in the run's time.
  int64_t Aligned(int64_t time_ns) const {
    return Sane(Sane(time_ns) + Sane(rank_.clock_offset_ns));
  }

  // Times of a row of the rank's file. What is still open ends with the rank.
  void Add(Draft& draft, int64_t begin_ns, Optional end_ns, Event event) {
    const int64_t aligned_ns = Aligned(begin_ns);
    event.begin_ns = times_(aligned_ns);
    event.is_open = !end_ns.has_value();
    // Where two runs share the axis an event keeps its length.
    const int64_t end =
        end_ns ? event.begin_ns + (Aligned(*end_ns) - aligned_ns) : Sane(rank_.end_ns);
    event.end_ns = std::max(event.begin_ns, end);
    draft.events.push_back(event);
  }

  // The same of times that are in place already.
  void AddAligned(Draft& draft, int64_t begin_ns, Optional end_ns, Event event) {
    event.begin_ns = Sane(begin_ns);
    event.is_open = !end_ns.has_value();
    event.end_ns = std::max(event.begin_ns, Sane(end_ns.value_or(rank_.end_ns)));
    draft.events.push_back(event);
  }

  NameId Name(int64_t string_id) {
    const auto found = strings_.find(string_id);
    return found == strings_.end() ? names_->Intern("?") : found->second;
  }

  void AddSteps() {
    for (const schema::StepWindowRow& window : summary_.windows) {
      if (window.rank != rank_.rank) continue;
      Draft& draft = DraftOf(TrackKind::kSteps, -1, 0, [] { return "steps"; });
      const size_t step = static_cast<size_t>(window.step);
      const int64_t number =
          step < summary_.steps.size() ? summary_.steps[step].number : window.step;
      AddAligned(draft, window.begin_ns, window.end_ns,
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
      Draft& draft =
          DraftOf(TrackKind::kCommunicator, -1, id, [&] { return CommunicatorLabel(id); });
      AddAligned(draft, *begin, call->end_ns,
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

  Status ReadThreads(schema::Database& database) {
    return schema::ForEach<schema::ThreadRow>(database, "", [&](const schema::ThreadRow& row) {
      std::string label = "thread " + std::to_string(row.kernel_tid);
      if (row.role.has_value()) label = *row.role + " " + std::to_string(row.kernel_tid);
      if (row.name.has_value() && !row.name->empty()) label += " " + *row.name;
      threads_[row.tid] = label;
    });
  }

  Draft& Thread(int64_t tid) {
    return DraftOf(TrackKind::kThread, -1, tid, [&] {
      const auto found = threads_.find(tid);
      return found == threads_.end() ? "thread " + std::to_string(tid) : found->second;
    });
  }

  // What the program says that it does.
  Status ReadProgram(schema::Database& database) {
    TUTTI_RETURN_IF_ERROR(
        schema::ForEach<schema::PhaseRow>(database, "", [&](const schema::PhaseRow& row) {
          const bool optimizes = row.phase == "optimizer";
          const bool loads = row.phase == "data";
          Add(DraftOf(TrackKind::kPhases, -1, 0, [] { return "phases"; }), row.begin_ns, row.end_ns,
              {.name = names_->Intern(row.phase),
               .row_id = static_cast<uint32_t>(row.id),
               .category = optimizes ? Category::kOptimizer
                           : loads   ? Category::kLoader
                                     : Category::kStep,
               .source = Source::kPhase});
        }));
    return schema::ForEach<schema::DataWaitRow>(database, "", [&](const schema::DataWaitRow& row) {
      Add(DraftOf(TrackKind::kLoader, -1, 0, [] { return "input waits"; }), row.begin_ns,
          row.end_ns,
          {.name = Name(row.loader_id),
           .row_id = static_cast<uint32_t>(row.id),
           .category = Category::kLoader,
           .source = Source::kDataWait});
    });
  }

  template <typename Columns>
  Status ReadThreadTable(schema::Database& database, Source source, Category fixed) {
    Draft* draft = nullptr;
    Category category = fixed;
    return schema::ForEach<Columns>(database, "", [&](const Columns& row) {
      if (draft == nullptr || draft->track.id != row.tid) {
        draft = &Thread(row.tid);
        category = fixed;
        if (source == Source::kCpuOp && draft->track.role == "compute") {
          category = Category::kCompute;
        } else if (source == Source::kCpuOp && draft->track.role == "communication") {
          category = Category::kCommunication;
        } else if (source == Source::kCpuOp && draft->track.role == "loader") {
          category = Category::kLoader;
        }
      }
      Add(*draft, row.begin_ns, row.end_ns,
          {.name = Name(row.name_id),
           .row_id = static_cast<uint32_t>(row.id),
           .category = category,
           .source = source});
    });
  }

  Status ReadHost(schema::Database& database) {
    TUTTI_RETURN_IF_ERROR(ReadThreadTable<OpColumns>(database, Source::kCpuOp, Category::kHost));
    TUTTI_RETURN_IF_ERROR(
        ReadThreadTable<PythonColumns>(database, Source::kPythonCall, Category::kHost));
    TUTTI_RETURN_IF_ERROR(ReadThreadTable<RangeColumns>(database, Source::kRange, Category::kStep));
    return ReadThreadTable<ApiColumns>(database, Source::kApiCall, Category::kRuntime);
  }

  Draft& Stream(int64_t device, int64_t stream) {
    return DraftOf(TrackKind::kStream, device, stream,
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
          Add(Stream(row.device_id, row.stream_id), *row.begin_ns, row.end_ns,
              {.name = name,
               .row_id = static_cast<uint32_t>(row.id),
               .category = KernelCategory(name),
               .source = Source::kKernel});
        }));
    TUTTI_RETURN_IF_ERROR(ReadCopies(database));
    TUTTI_RETURN_IF_ERROR(
        schema::ForEach<schema::GpuRangeRow>(database, "", [&](const schema::GpuRangeRow& row) {
          Add(Stream(row.device_id, row.stream_id), row.begin_ns, row.end_ns,
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
          Add(Stream(row.device_id, row.stream_id), *row.begin_ns, row.end_ns,
              {.name = names_->Intern("memcpy " + row.copy_kind),
               .row_id = static_cast<uint32_t>(row.id),
               .category = Category::kCopy,
               .source = Source::kMemcpy});
        }));
    return schema::ForEach<schema::MemsetRow>(database, "", [&](const schema::MemsetRow& row) {
      if (!row.begin_ns.has_value()) return;
      Add(Stream(row.device_id, row.stream_id), *row.begin_ns, row.end_ns,
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
          Add(DraftOf(TrackKind::kSync, device, 0, [] { return "synchronisation"; }), *row.begin_ns,
              row.end_ns,
              {.name = names_->Intern("sync " + row.kind),
               .row_id = static_cast<uint32_t>(row.id),
               .category = Category::kWait,
               .source = Source::kSync});
        }));
    return schema::ForEach<schema::OverheadRow>(database, "", [&](const schema::OverheadRow& row) {
      Add(DraftOf(TrackKind::kSync, -1, 1, [] { return "profiling overhead"; }), row.begin_ns,
          row.end_ns,
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
      Draft& draft = DraftOf(TrackKind::kMemory, device, 0, [&] {
        return device < 0 ? row.device_type + " memory" : "memory of GPU " + std::to_string(device);
      });
      draft.track.unit = "bytes";
      draft.samples.push_back({Aligned(row.time_ns), static_cast<double>(*row.allocated_bytes)});
    });
  }

  Status ReadCounters(schema::Database& database) {
    std::map<int64_t, schema::CounterRow> counters;
    TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::CounterRow>(
        database, "", [&](const schema::CounterRow& row) { counters[row.id] = row; }));
    return schema::ForEach<schema::CounterSampleRow>(
        database, "", [&](const schema::CounterSampleRow& row) {
          const schema::CounterRow& counter = counters[row.counter_id];
          Draft& draft = DraftOf(TrackKind::kCounter, counter.device_id.value_or(-1),
                                 row.counter_id, [&] { return counter.name; });
          draft.track.unit = counter.unit;
          draft.is_cumulative = counter.kind == "cumulative";
          const auto* whole = std::get_if<int64_t>(&row.value);
          const auto* real = std::get_if<double>(&row.value);
          if (whole == nullptr && real == nullptr) return;
          draft.samples.push_back(
              {Aligned(row.time_ns), whole != nullptr ? static_cast<double>(*whole) : *real});
        });
  }

  const RunSummary& summary_;
  const schema::RankRow& rank_;
  const TimeMap& times_;
  NameTable* names_;
  std::map<Key, Draft> drafts_;
  std::unordered_map<int64_t, NameId> strings_;
  std::unordered_map<int64_t, std::string> threads_;
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
