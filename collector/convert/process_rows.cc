#include "collector/convert/process_rows.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "collector/version.h"
#include "common/text.h"
#include "common/wire/wire.h"

namespace tutti::collector::convert {
namespace {

// Text of a fixed-size field; its process may have left out the terminator.
template <size_t kBytes>
std::string TextOf(const char (&field)[kBytes]) {
  return ToStorableText(std::string_view(field, ::strnlen(field, kBytes)));
}

std::optional<std::string> NonEmpty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::string SourcesOf(uint32_t capture_mask) {
  constexpr std::pair<uint32_t, const char*> kNames[] = {
      {wire::kCaptureTorch, "torch"},   {wire::kCaptureNvtx, "nvtx"},
      {wire::kCaptureMemory, "memory"}, {wire::kCaptureShapes, "shapes"},
      {wire::kCaptureCupti, "cupti"},   {wire::kCaptureNccl, "nccl"}};
  std::string names;
  for (const auto& [bit, name] : kNames) {
    if ((capture_mask & bit) == 0) continue;
    if (!names.empty()) names += ',';
    names += name;
  }
  return names;
}

schema::ProcessRow ProcessRowOf(const Converter& converter, const spool::ProcessChunk& process,
                                const RankIdentity& identity) {
  const wire::Hello& hello = process.hello;
  schema::ProcessRow row;
  row.pid = hello.pid;
  row.parent_pid = hello.ppid;
  row.host = TextOf(process.host);
  row.boot_id = NonEmpty(TextOf(process.boot_id));
  row.rank = identity.rank;
  row.local_rank = identity.local_rank;
  row.world_size = identity.world_size;
  row.rank_source = identity.source;
  row.attempt = identity.attempt;
  row.run_id = NonEmpty(TextOf(hello.run_id));
  row.executable = NonEmpty(TextOf(hello.executable));
  row.promoted_by = NonEmpty(TextOf(hello.reason));
  row.torch_version = NonEmpty(converter.torch_version());
  if (const auto covered = converter.covered()) row.begin_ns = covered->begin_ns;
  const auto& end = converter.end();
  if (end && end->reason == spool::EndReason::kProcessEnded) {
    row.end_ns = process.anchor.ToTraceNs(end->monotonic_raw_ns);
    if (end->exit_status >= 0) row.exit_status = end->exit_status;
  }
  if (converter.cpu_user_ns() >= 0) row.cpu_user_ns = converter.cpu_user_ns();
  if (converter.cpu_system_ns() >= 0) row.cpu_system_ns = converter.cpu_system_ns();
  return row;
}

}  // namespace

void WriteProcessRows(Converter& converter, const spool::ProcessChunk& process,
                      const RankIdentity& identity, const Making& making, RowOutput& rows) {
  rows.Append(ProcessRowOf(converter, process, identity));
  const auto meta = [&rows](const char* key, std::string value) {
    rows.Append(schema::MetaRow{key, std::move(value)});
  };
  const auto number = [&meta](const char* key, auto value) { meta(key, std::to_string(value)); };
  meta("tutti.version", kVersion);
  number("wire.version", wire::kVersion);
  meta("recording.id", making.run_id);
  meta("recording.manifest", making.recorder);
  meta("recording.sources", SourcesOf(process.capture_mask));
  number("recording.buffer_bytes", process.segment_bytes);
  if (const auto program = NonEmpty(TextOf(process.program))) meta("process.program", *program);
  meta("clock.kind", process.clock_kind == wire::ClockKind::kTsc ? "tsc" : "monotonic_raw");
  number("clock.anchor_realtime_ns", process.anchor.realtime_ns);
  number("clock.anchor_monotonic_raw_ns", process.anchor.monotonic_raw_ns);
  number("tracer.records", converter.records());
  number("tracer.events_lost", converter.context().findings.lost());
  number("collector.spool_bytes", making.spool_bytes);
  number("collector.convert_cpu_ns", making.convert_cpu_ns);
  const auto& end = converter.end();
  const bool runs = making.still_running || (end && end->reason == spool::EndReason::kStillRunning);
  if (const auto covered = converter.covered(); covered && runs) {
    number("recording.running_until_ns", covered->end_ns);
  }
  if (converter.end()) number("collector.drain_cpu_ns", converter.end()->drain_cpu_ns);
}

}  // namespace tutti::collector::convert
