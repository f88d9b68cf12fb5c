#include "exporter/chrome/chrome_export.h"

#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "exporter/chrome/collective_args.h"
#include "exporter/chrome/event_text.h"
#include "exporter/chrome/trace_frame.h"
#include "exporter/text_table.h"
#include "schema/reader.h"

namespace tutti::exporter::chrome {
namespace {

// Values of at::RecordScope that Kineto names.
constexpr int64_t kBackwardScope = 1;
constexpr int64_t kUserScope = 7;

// "pageable" -> "Pageable".
std::string Capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string CopyName(const schema::MemcpyRow& copy) {
  std::string name = "Memcpy " + copy.copy_kind;
  if (copy.source_kind && copy.destination_kind) {
    name += " (" + Capital(*copy.source_kind) + " -> " + Capital(*copy.destination_kind) + ")";
  }
  return name;
}

std::string SyncName(const std::string& kind) {
  if (kind == "event") return "Event Sync";
  if (kind == "stream_wait_event") return "Stream Wait Event";
  if (kind == "stream") return "Stream Sync";
  if (kind == "context") return "Context Sync";
  return kind;
}

// Numbers of c10::DeviceType.
int64_t DeviceTypeNumber(const std::string& type) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 5> kTypes = {
      {{"cpu", 0}, {"cuda", 1}, {"hip", 6}, {"xpu", 12}, {"mtia", 19}}};
  for (const auto& [name, number] : kTypes) {
    if (name == type) return number;
  }
  return 0;
}

std::string Triple(std::optional<int64_t> x, std::optional<int64_t> y, std::optional<int64_t> z) {
  if (!x) return "";
  return "[" + std::to_string(*x) + "," + std::to_string(y.value_or(1)) + "," +
         std::to_string(z.value_or(1)) + "]";
}

std::optional<int64_t> Sum(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a && !b) return std::nullopt;
  return a.value_or(0) + b.value_or(0);
}

class ChromeWriter {
 public:
  ChromeWriter(schema::Database& trace, OutputFile& output, TextTable texts, TraceFrame frame,
               CollectiveArgs collectives)
      : trace_(trace),
        output_(output),
        texts_(std::move(texts)),
        frame_(std::move(frame)),
        collectives_(std::move(collectives)) {}

  Result<ChromeSummary> Write() {
    output_.Write("{" + frame_.Header() + "\"traceEvents\":[");
    for (std::string& event : frame_.Names()) WriteEvent(std::move(event));
    TUTTI_RETURN_IF_ERROR(WriteOps());
    TUTTI_RETURN_IF_ERROR(WritePythonCalls());
    TUTTI_RETURN_IF_ERROR(WriteRanges());
    TUTTI_RETURN_IF_ERROR(WriteSteps());
    TUTTI_RETURN_IF_ERROR(WriteCalls());
    TUTTI_RETURN_IF_ERROR(WriteKernels());
    TUTTI_RETURN_IF_ERROR(WriteCopies());
    TUTTI_RETURN_IF_ERROR(WriteSyncs());
    TUTTI_RETURN_IF_ERROR(WriteGpuRanges());
    TUTTI_RETURN_IF_ERROR(WriteOverheads());
    TUTTI_RETURN_IF_ERROR(WriteFlows());
    TUTTI_RETURN_IF_ERROR(WriteMemory());
    TUTTI_RETURN_IF_ERROR(WriteCounters());
    output_.Write("\n]}\n");
    Tell(open_, "events were still open when the trace ended: they begin and do not end");
    Tell(untimed_, "events on GPUs have no time and were left out");
    Tell(collectives_.unplaced(), "collectives are no operator and no kernel of the trace");
    for (const char* table : {"batch", "memory_segment", "memory_block"}) {
      TUTTI_RETURN_IF_ERROR(TellTable(table));
    }
    return std::move(summary_);
  }

 private:
  void WriteEvent(std::string event) {
    output_.Write(summary_.events++ == 0 ? "\n" : ",\n");
    output_.Write(event);
  }
  void Tell(int64_t count, const char* what) {
    if (count > 0) summary_.messages.push_back(std::to_string(count) + " " + what);
  }
  Status TellTable(const std::string& table) {
    TUTTI_ASSIGN_OR_RETURN(const int64_t rows,
                           trace_.QueryOne<int64_t>("SELECT count(*) FROM " + table));
    Tell(rows, ("rows of " + table + " have no place in this format").c_str());
    return OkStatus();
  }

  // An event with a begin and an end, or only a begin where it is still open.
  EventText Span(const char* category, const std::string& name, int64_t pid, int64_t tid,
                 int64_t begin_ns, std::optional<int64_t> end_ns) {
    EventText event(end_ns ? 'X' : 'B', category, name, pid, tid, begin_ns, frame_.base_ns);
    if (end_ns) {
      event.Duration(*end_ns - begin_ns);
    } else {
      ++open_;
    }
    return event;
  }
  EventText HostSpan(const char* category, const std::string& name, int64_t tid, int64_t begin_ns,
                     std::optional<int64_t> end_ns) {
    return Span(category, name, frame_.pid, tid, begin_ns, end_ns);
  }
  Result<const std::string*> TextOf(int64_t id) { return texts_.Find(id); }

  Status WriteOps();
  Status WritePythonCalls();
  Status WriteRanges();
  Status WriteRange(const schema::RangeRow& row);
  Status WriteSteps();
  Status WriteCalls();
  Status WriteKernels();
  Status WriteCopies();
  Status WriteSyncs();
  Status WriteGpuRanges();
  Status WriteOverheads();
  Status WriteFlows();
  Status WriteMemory();
  Status WriteCounters();

  schema::Database& trace_;
  OutputFile& output_;
  TextTable texts_;
  TraceFrame frame_;
  CollectiveArgs collectives_;
  ChromeSummary summary_;
  std::set<std::pair<int64_t, int64_t>> named_steps_;  // begin, tid of "ProfilerStep#N" ranges
  int64_t open_ = 0;
  int64_t untimed_ = 0;
};

Status ChromeWriter::WriteOps() {
  return schema::ForEach<schema::CpuOpRow>(
      trace_, "ORDER BY id", [&](const schema::CpuOpRow& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string* name, TextOf(row.name_id));
        if (name->starts_with("ProfilerStep#")) named_steps_.emplace(row.begin_ns, row.tid);
        EventText event = HostSpan("cpu_op", *name, row.tid, row.begin_ns, row.end_ns);
        event.Arg("External id", row.external_id).Arg("Sequence number", row.sequence_nr);
        event.Arg("Fwd thread id", row.forward_tid);
        if (row.scope == kUserScope) event.Arg("scope", std::string_view("user_scope"));
        if (row.scope == kBackwardScope) event.Arg("scope", std::string_view("backward_function"));
        if (row.shapes_id != 0) {
          TUTTI_ASSIGN_OR_RETURN(const std::string* shapes, TextOf(row.shapes_id));
          event.Arg("Input Dims", std::string_view(*shapes));
        }
        collectives_.AddToHost(event, row.tid, row.begin_ns, row.end_ns);
        WriteEvent(event.Take());
        return OkStatus();
      });
}

Status ChromeWriter::WritePythonCalls() {
  return schema::ForEach<schema::PythonCallRow>(
      trace_, "ORDER BY id", [&](const schema::PythonCallRow& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string* name, TextOf(row.name_id));
        EventText event = HostSpan("python_function", *name, row.tid, row.begin_ns, row.end_ns);
        event.Arg("Python id", row.python_id).Arg("Python parent id", row.parent_python_id);
        WriteEvent(event.Take());
        return OkStatus();
      });
}

Status ChromeWriter::WriteRanges() {
  return schema::ForEach<schema::RangeRow>(
      trace_, "ORDER BY id", [&](const schema::RangeRow& row) { return WriteRange(row); });
}

Status ChromeWriter::WriteRange(const schema::RangeRow& row) {
  TUTTI_ASSIGN_OR_RETURN(const std::string* name, TextOf(row.name_id));
  TUTTI_ASSIGN_OR_RETURN(const std::string* domain, TextOf(row.domain_id));
  if (name->starts_with("ProfilerStep#")) named_steps_.emplace(row.begin_ns, row.tid);
  const char* category = domain->empty() ? "user_annotation" : domain->c_str();
  if (row.kind == "mark") {
    WriteEvent(EventText('i', category, *name, frame_.pid, row.tid, row.begin_ns, frame_.base_ns)
                   .Key("s", std::string_view("t"))
                   .Take());
    return OkStatus();
  }
  if (row.kind == "push_pop") {
    EventText event = HostSpan(category, *name, row.tid, row.begin_ns, row.end_ns);
    if (domain->empty()) collectives_.AddToHost(event, row.tid, row.begin_ns, row.end_ns);
    WriteEvent(event.Take());
    return OkStatus();
  }
  WriteEvent(EventText('b', category, *name, frame_.pid, row.tid, row.begin_ns, frame_.base_ns)
                 .Key("id", row.id)
                 .Take());
  if (!row.end_ns) {
    ++open_;
    return OkStatus();
  }
  WriteEvent(EventText('e', category, *name, frame_.pid, row.end_tid.value_or(row.tid), *row.end_ns,
                       frame_.base_ns)
                 .Key("id", row.id)
                 .Take());
  return OkStatus();
}

// Tools that read Kineto's traces know steps by this name.
Status ChromeWriter::WriteSteps() {
  return schema::ForEach<schema::StepRow>(trace_, "ORDER BY id", [&](const schema::StepRow& row) {
    if (named_steps_.contains({row.begin_ns, row.tid})) return;
    WriteEvent(HostSpan("user_annotation", "ProfilerStep#" + std::to_string(row.number), row.tid,
                        row.begin_ns, row.end_ns)
                   .Take());
  });
}

Status ChromeWriter::WriteCalls() {
  return schema::ForEach<schema::ApiCallRow>(
      trace_, "ORDER BY id", [&](const schema::ApiCallRow& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string* name, TextOf(row.name_id));
        const char* category = row.api == "driver" ? "cuda_driver" : "cuda_runtime";
        EventText event = HostSpan(category, *name, row.tid, row.begin_ns, row.end_ns);
        event.Arg("External id", row.external_id);
        event.Arg("correlation", std::optional(row.correlation_id));
        WriteEvent(event.Take());
        return OkStatus();
      });
}

Status ChromeWriter::WriteKernels() {
  return schema::ForEach<schema::KernelRow>(
      trace_, "ORDER BY id", [&](const schema::KernelRow& row) -> Status {
        if (!row.begin_ns) {
          ++untimed_;
          return OkStatus();
        }
        TUTTI_ASSIGN_OR_RETURN(const std::string* name, TextOf(row.name_id));
        EventText event =
            Span("kernel", *name, row.device_id, row.stream_id, *row.begin_ns, row.end_ns);
        event.Arg("External id", row.external_id).Arg("device", std::optional(row.device_id));
        event.Arg("context", row.context_id).Arg("stream", std::optional(row.stream_id));
        event.Arg("correlation", row.correlation_id).Arg("queued", row.queued_ns);
        event.Arg("registers per thread", row.registers_per_thread);
        event.Arg("shared memory", Sum(row.static_shared_bytes, row.dynamic_shared_bytes));
        const std::string grid = Triple(row.grid_x, row.grid_y, row.grid_z);
        const std::string block = Triple(row.block_x, row.block_y, row.block_z);
        if (!grid.empty()) event.RawArg("grid", grid);
        if (!block.empty()) event.RawArg("block", block);
        event.Arg("graph node id", row.graph_node_id);
        collectives_.AddToKernel(event, row);
        WriteEvent(event.Take());
        return OkStatus();
      });
}

Status ChromeWriter::WriteCopies() {
  const auto write = [&](const char* category, const std::string& name, const auto& row) {
    if (!row.begin_ns) {
      ++untimed_;
      return;
    }
    EventText event = Span(category, name, row.device_id, row.stream_id, *row.begin_ns, row.end_ns);
    event.Arg("device", std::optional(row.device_id)).Arg("stream", std::optional(row.stream_id));
    event.Arg("correlation", row.correlation_id).Arg("bytes", std::optional(row.bytes));
    event.Arg("graph node id", row.graph_node_id);
    WriteEvent(event.Take());
  };
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::MemcpyRow>(
      trace_, "ORDER BY id",
      [&](const schema::MemcpyRow& row) { write("gpu_memcpy", CopyName(row), row); }));
  return schema::ForEach<schema::MemsetRow>(
      trace_, "ORDER BY id",
      [&](const schema::MemsetRow& row) { write("gpu_memset", "Memset (Device)", row); });
}

Status ChromeWriter::WriteSyncs() {
  return schema::ForEach<schema::SyncRow>(trace_, "ORDER BY id", [&](const schema::SyncRow& row) {
    if (!row.begin_ns) {
      ++untimed_;
      return;
    }
    const std::string name = SyncName(row.kind);
    EventText event = Span("cuda_sync", name, row.device_id.value_or(0), row.stream_id.value_or(-1),
                           *row.begin_ns, row.end_ns);
    event.Arg("cuda_sync_kind", std::string_view(name));
    event.Arg("stream", std::optional(row.stream_id.value_or(-1)));
    event.Arg("correlation", row.correlation_id).Arg("device", row.device_id);
    event.Arg("wait_on_cuda_event_id", row.event_id);
    event.Arg("wait_on_cuda_event_record_corr_id", row.event_sync_id);
    WriteEvent(event.Take());
  });
}

Status ChromeWriter::WriteGpuRanges() {
  return schema::ForEach<schema::GpuRangeRow>(
      trace_, "ORDER BY id", [&](const schema::GpuRangeRow& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string* name, TextOf(row.name_id));
        WriteEvent(Span("gpu_user_annotation", *name, row.device_id, row.stream_id, row.begin_ns,
                        row.end_ns)
                       .Take());
        return OkStatus();
      });
}

Status ChromeWriter::WriteOverheads() {
  return schema::ForEach<schema::OverheadRow>(
      trace_, "ORDER BY id", [&](const schema::OverheadRow& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string* kind, TextOf(row.kind_id));
        const int64_t pid = row.tid ? frame_.pid : -1;
        WriteEvent(
            Span("overhead", *kind, pid, row.tid.value_or(0), row.begin_ns, row.end_ns).Take());
        return OkStatus();
      });
}

Status ChromeWriter::WriteFlows() {
  return schema::ForEach<schema::FlowRow>(
      trace_, "ORDER BY id", [&](const schema::FlowRow& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string* name, TextOf(row.name_id));
        const char* category = row.kind == "forward_backward" ? "fwdbwd"
                               : row.kind == "launch"         ? "ac2g"
                                                              : "flow";
        const auto write = [&](char phase, std::optional<int64_t> tid,
                               std::optional<int64_t> device, std::optional<int64_t> stream,
                               int64_t time_ns) {
          EventText event(phase, category, *name, device ? *device : frame_.pid,
                          device ? stream.value_or(0) : tid.value_or(0), time_ns, frame_.base_ns);
          event.Key("id", row.id);
          if (phase == 'f') event.Key("bp", std::string_view("e"));
          WriteEvent(event.Take());
        };
        write('s', row.begin_tid, row.begin_device_id, row.begin_stream_id, row.begin_ns);
        write('f', row.end_tid, row.end_device_id, row.end_stream_id, row.end_ns);
        return OkStatus();
      });
}

Status ChromeWriter::WriteMemory() {
  return schema::ForEach<schema::MemoryEventRow>(
      trace_, "ORDER BY id", [&](const schema::MemoryEventRow& row) {
        EventText event('i', "cpu_instant_event", row.is_oom != 0 ? "[OutOfMemory]" : "[memory]",
                        frame_.pid, row.tid.value_or(0), row.time_ns, frame_.base_ns);
        event.Key("s", std::string_view("t"));
        event.Arg("Device Type", std::optional(DeviceTypeNumber(row.device_type)));
        event.Arg("Device Id", std::optional(row.device_id.value_or(-1)));
        event.Arg("Addr", std::optional(row.address)).Arg("Bytes", row.delta_bytes);
        event.Arg("Total Allocated", row.allocated_bytes);
        event.Arg("Total Reserved", row.reserved_bytes);
        WriteEvent(event.Take());
      });
}

Status ChromeWriter::WriteCounters() {
  TUTTI_ASSIGN_OR_RETURN(const auto counters, schema::ReadAll<schema::CounterRow>(trace_));
  std::unordered_map<int64_t, std::string> names;
  for (const schema::CounterRow& counter : counters) {
    names[counter.id] = counter.device_id
                            ? counter.name + " GPU " + std::to_string(*counter.device_id)
                            : counter.name;
  }
  return schema::ForEach<schema::CounterSampleRow>(
      trace_, "", [&](const schema::CounterSampleRow& row) {
        EventText event('C', "", names[row.counter_id], frame_.pid, 0, row.time_ns, frame_.base_ns);
        if (const auto* integer = std::get_if<int64_t>(&row.value)) {
          event.Arg("value", std::optional(*integer));
        } else if (const auto* real = std::get_if<double>(&row.value)) {
          event.Arg("value", *real);
        }
        WriteEvent(event.Take());
      });
}

}  // namespace

Result<ChromeSummary> WriteChromeTrace(schema::Database& trace, OutputFile& output) {
  TUTTI_ASSIGN_OR_RETURN(TextTable texts, TextTable::Open(trace));
  TUTTI_ASSIGN_OR_RETURN(TraceFrame frame, ReadFrame(trace));
  TUTTI_ASSIGN_OR_RETURN(CollectiveArgs collectives, CollectiveArgs::Read(trace, texts));
  return ChromeWriter(trace, output, std::move(texts), std::move(frame), std::move(collectives))
      .Write();
}

}  // namespace tutti::exporter::chrome
