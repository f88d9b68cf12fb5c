#include "exporter/chrome/trace_frame.h"

#include <algorithm>
#include <limits>

#include "exporter/chrome/event_text.h"
#include "schema/reader.h"

namespace tutti::exporter::chrome {
namespace {

// Earliest time of the tables whose events have one.
Result<int64_t> EarliestTime(schema::Database& trace) {
  constexpr const char* kTimes[] = {
      "cpu_op.begin_ns",        "range.begin_ns",       "api_call.begin_ns", "kernel.begin_ns",
      "memcpy.begin_ns",        "memset.begin_ns",      "sync.begin_ns",     "gpu_range.begin_ns",
      "step.begin_ns",          "python_call.begin_ns", "overhead.begin_ns", "memory_event.time_ns",
      "counter_sample.time_ns", "flow.begin_ns",        "flow.end_ns"};
  int64_t earliest = std::numeric_limits<int64_t>::max();
  for (const std::string time : kTimes) {
    const size_t dot = time.find('.');
    TUTTI_ASSIGN_OR_RETURN(const auto first, trace.QueryOne<std::optional<int64_t>>(
                                                 "SELECT min(" + time.substr(dot + 1) +
                                                 ") FROM \"" + time.substr(0, dot) + "\""));
    if (first) earliest = std::min(earliest, *first);
  }
  return earliest == std::numeric_limits<int64_t>::max() ? int64_t{0} : earliest;
}

// A process id that no GPU has: events on GPUs have the GPU's number there.
int64_t FreePid(const TraceFrame& frame) {
  constexpr int64_t kAboveGpus = 1'000'000;
  const bool is_taken = std::any_of(
      frame.streams.begin(), frame.streams.end(),
      [&](const schema::StreamRow& stream) { return stream.device_id == frame.process.pid; });
  return is_taken ? frame.process.pid + kAboveGpus : frame.process.pid;
}

void AppendField(const char* name, std::optional<int64_t> number, std::string& json) {
  if (!number) return;
  json += std::string(",\"") + name + "\":" + std::to_string(*number);
}

std::string DeviceProperties(const std::vector<schema::DeviceRow>& devices) {
  std::string json = "\"deviceProperties\":[";
  for (const schema::DeviceRow& device : devices) {
    if (!json.ends_with('[')) json += ',';
    json += "{\"id\":" + std::to_string(device.id) + ",\"name\":";
    AppendQuoted(device.name, json);
    AppendField("numSms", device.sm_count, json);
    AppendField("totalGlobalMem", device.memory_bytes, json);
    AppendField("warpSize", device.warp_size, json);
    AppendField("maxThreadsPerMultiprocessor", device.max_threads_per_sm, json);
    AppendField("regsPerMultiprocessor", device.registers_per_sm, json);
    AppendField("sharedMemPerMultiprocessor", device.shared_bytes_per_sm, json);
    if (device.compute_capability) {
      const std::string& version = *device.compute_capability;
      const size_t dot = std::min(version.find('.'), version.size());
      json += ",\"computeMajor\":";
      AppendQuoted(version.substr(0, dot), json);
      json += ",\"computeMinor\":";
      AppendQuoted(dot < version.size() ? version.substr(dot + 1) : "0", json);
    }
    json += '}';
  }
  return json + "],";
}

std::string GroupConfig(const std::vector<schema::CommunicatorRow>& communicators) {
  std::string json = "\"pg_config\":[";
  for (const schema::CommunicatorRow& group : communicators) {
    if (!json.ends_with('[')) json += ',';
    json += "{\"pg_name\":";
    AppendQuoted(group.uid.value_or(""), json);
    json += ",\"pg_desc\":";
    AppendQuoted(group.description.value_or(""), json);
    json += ",\"backend_config\":";
    AppendQuoted(group.backend, json);
    AppendField("pg_size", group.group_size, json);
    json += ",\"ranks\":" + group.global_ranks.value_or("[]") + "}";
  }
  return json + "]";
}

std::string DistributedInfo(const TraceFrame& frame) {
  if (!frame.process.rank) return "";
  std::string json = "\"distributedInfo\":{\"rank\":" + std::to_string(*frame.process.rank);
  AppendField("world_size", frame.process.world_size, json);
  if (!frame.communicators.empty()) {
    json += ",\"backend\":";
    AppendQuoted(frame.communicators.front().backend, json);
  }
  return json + "," + GroupConfig(frame.communicators) + "},";
}

}  // namespace

Result<TraceFrame> ReadFrame(schema::Database& trace) {
  TraceFrame frame;
  TUTTI_ASSIGN_OR_RETURN(frame.base_ns, EarliestTime(trace));
  TUTTI_ASSIGN_OR_RETURN(auto processes, schema::ReadAll<schema::ProcessRow>(trace));
  if (!processes.empty()) frame.process = std::move(processes.front());
  TUTTI_ASSIGN_OR_RETURN(frame.devices, schema::ReadAll<schema::DeviceRow>(trace, "ORDER BY id"));
  TUTTI_ASSIGN_OR_RETURN(
      frame.streams, schema::ReadAll<schema::StreamRow>(trace, "ORDER BY device_id, stream_id"));
  TUTTI_ASSIGN_OR_RETURN(frame.threads, schema::ReadAll<schema::ThreadRow>(trace, "ORDER BY tid"));
  TUTTI_ASSIGN_OR_RETURN(frame.communicators,
                         schema::ReadAll<schema::CommunicatorRow>(trace, "ORDER BY id"));
  frame.pid = FreePid(frame);
  return frame;
}

std::string TraceFrame::Header() const {
  std::string json = "\"schemaVersion\":1,\"baseTimeNanoseconds\":" + std::to_string(base_ns) +
                     ",\"displayTimeUnit\":\"ms\",\"traceName\":\"tutti\",";
  if (!process.host.empty()) {
    json += "\"host_name\":";
    AppendQuoted(process.host, json);
    json += ',';
  }
  if (process.torch_version) {
    json += "\"pytorch_version\":";
    AppendQuoted(*process.torch_version, json);
    json += ',';
  }
  return json + DistributedInfo(*this) + DeviceProperties(devices);
}

std::vector<std::string> TraceFrame::Names() const {
  std::vector<std::string> events;
  const auto add = [&](const char* what, int64_t pid_of, int64_t tid, const char* key,
                       const std::string& text) {
    events.push_back(EventText('M', "", what, pid_of, tid, 0, 0).Arg(key, text).Take());
  };
  const std::string executable = process.executable.value_or("");
  const std::string rank = process.rank ? "rank " + std::to_string(*process.rank) : "";
  add("process_name", pid, 0, "name", executable.empty() ? "python" : executable);
  add("process_labels", pid, 0, "labels", rank.empty() ? "CPU" : rank);
  std::set<int64_t> gpus;
  for (const schema::StreamRow& stream : streams) {
    if (gpus.insert(stream.device_id).second) {
      add("process_name", stream.device_id, 0, "name", executable.empty() ? "python" : executable);
      add("process_labels", stream.device_id, 0, "labels",
          "GPU " + std::to_string(stream.device_id));
    }
    add("thread_name", stream.device_id, stream.stream_id, "name",
        stream.name.value_or("stream " + std::to_string(stream.stream_id)));
  }
  for (const schema::ThreadRow& thread : threads) {
    if (thread.name) add("thread_name", pid, thread.tid, "name", *thread.name);
  }
  return events;
}

}  // namespace tutti::exporter::chrome
