#include "collector/importers/kineto/host_rows.h"

#include <utility>

#include "collector/convert/op_name.h"
#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

// Values of at::RecordScope (ATen/record_function.h).
constexpr int64_t kFunctionScope = 0;
constexpr int64_t kBackwardScope = 1;
constexpr int64_t kUserScope = 7;

constexpr size_t kLongestShapes = size_t{64} << 10;

std::optional<int64_t> NonNegative(std::optional<int64_t> number) {
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<int64_t> IntegerOf(const RawEvent& event, Arg arg) {
  return event.Has(arg) ? ParseInteger(event.Get(arg)) : std::nullopt;
}

}  // namespace

int64_t HostRows::ScopeOf(const RawEvent& event, const Name& name) const {
  if (name.meaning != convert::OpMeaning::kPlain) return kUserScope;
  const std::string_view told = WithoutQuotes(event.Get(Arg::kScope));
  if (told == "user_scope") return kUserScope;
  if (told == "backward_function") return kBackwardScope;
  return name.is_backward ? kBackwardScope : kFunctionScope;
}

int64_t HostRows::ShapesOf(const RawEvent& event) {
  const std::string_view shapes = event.Get(Arg::kInputDims);
  if (shapes.empty() || shapes == "[]" || shapes == "\"\"") return 0;
  if (shapes.size() > kLongestShapes) {
    context_.ledger.Count(odd::kLongShapes, event.offset);
    return 0;
  }
  return shapes.front() == '[' ? context_.strings.ShapesIdOf(shapes)
                               : context_.strings.IdOf(shapes);
}

void HostRows::OnOp(const RawEvent& event) {
  const std::optional<HostTimes> times = context_.HostTimesOf(event);
  if (!times) return;
  Track& track = context_.tracks.Of(event.pid, event.tid);
  const Name name = context_.strings.NameOf(event.name);
  schema::CpuOpRow row;
  row.tid = context_.tracks.RowTid(track);
  row.name_id = name.id;
  row.scope = ScopeOf(event, name);
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  row.depth = track.ops.Enter(times->begin_ns, times->end_ns);
  row.sequence_nr = NonNegative(IntegerOf(event, Arg::kSequenceNumber));
  if (row.scope == kBackwardScope) {
    row.forward_tid = NonNegative(IntegerOf(event, Arg::kForwardThread));
    track.has_backward = true;
  }
  row.shapes_id = ShapesOf(event);
  row.external_id = IntegerOf(event, Arg::kExternalId);
  track.Saw(times->begin_ns, times->end_ns.value_or(times->begin_ns));
  context_.sink.Add(std::move(row));
  ++context_.events_read;
  AddMeaning(name, event.name, track, *times);
}

void HostRows::OnAnnotation(const RawEvent& event) { OnOther(event, 0); }

void HostRows::OnOther(const RawEvent& event, int64_t domain_id) {
  const std::optional<HostTimes> times = context_.HostTimesOf(event);
  if (!times) return;
  const Track& track = context_.tracks.Of(event.pid, event.tid);
  AddRange({track.index, std::nullopt, "push_pop", domain_id, event.name, *times});
  ++context_.events_read;
}

void HostRows::OnMark(const RawEvent& event, int64_t domain_id) {
  const std::optional<int64_t> time_ns = context_.TimeOf(event);
  if (!time_ns) return;
  const Track& track = context_.tracks.Of(event.pid, event.tid);
  AddRange({track.index, std::nullopt, "mark", domain_id, event.name, {*time_ns, time_ns}});
  ++context_.events_read;
}

void HostRows::AddRange(const RangeSpan& span) {
  Track& track = context_.tracks.At(span.track);
  const Name name = context_.strings.NameOf(span.name);
  const std::string_view kind = span.kind;
  schema::RangeRow row;
  row.tid = context_.tracks.RowTid(track);
  if (span.end_track && *span.end_track != span.track) {
    row.end_tid = context_.tracks.RowTid(context_.tracks.At(*span.end_track));
  }
  row.kind = kind;
  row.domain_id = span.domain_id;
  row.name_id = name.id;
  row.begin_ns = span.times.begin_ns;
  row.end_ns = span.times.end_ns;
  // Ranges that nest by construction have a depth; the others lie where they lie.
  if (span.depth) {
    row.depth = *span.depth;
    track.has_range_halves = true;
  } else if (kind == "push_pop") {
    row.depth = track.ranges.Enter(row.begin_ns, row.end_ns);
    track.has_whole_ranges = true;
  }
  track.Saw(row.begin_ns, row.end_ns.value_or(row.begin_ns));
  context_.sink.Add(std::move(row));
  if (kind != "mark") AddMeaning(name, span.name, track, span.times);
}

void HostRows::AddMeaning(const Name& name, std::string_view token, Track& track,
                          const HostTimes& times) {
  if (name.meaning == convert::OpMeaning::kPlain) return;
  const std::string text = DecodeString(token);
  const convert::OpName op = convert::ParseOpName(text);
  const int64_t tid = context_.tracks.RowTid(track);
  switch (op.meaning) {
    case convert::OpMeaning::kPlain:
      return;
    case convert::OpMeaning::kStep:
      track.has_steps = true;
      context_.sink.Add(
          schema::StepRow{0, op.step, tid, times.begin_ns, times.end_ns, "profiler_step"});
      return;
    case convert::OpMeaning::kOptimizer:
      context_.sink.Add(
          schema::PhaseRow{0, tid, "optimizer", times.begin_ns, times.end_ns, "torch_optimizer"});
      return;
    case convert::OpMeaning::kDataWait:
      context_.sink.Add(schema::DataWaitRow{0, tid, context_.sink.Intern(op.loader), times.begin_ns,
                                            times.end_ns, std::nullopt, "dataloader_next"});
      return;
  }
}

void HostRows::OnPythonCall(const RawEvent& event) {
  const std::optional<HostTimes> times = context_.HostTimesOf(event);
  if (!times) return;
  Track& track = context_.tracks.Of(event.pid, event.tid);
  schema::PythonCallRow row;
  row.tid = context_.tracks.RowTid(track);
  row.name_id = context_.strings.IdOf(event.name);
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  row.depth = track.calls.Enter(times->begin_ns, times->end_ns);
  row.python_id = IntegerOf(event, Arg::kPythonId);
  row.parent_python_id = IntegerOf(event, Arg::kPythonParentId);
  track.Saw(times->begin_ns, times->end_ns.value_or(times->begin_ns));
  context_.sink.Add(std::move(row));
  ++context_.events_read;
}

void HostRows::OnApiCall(const RawEvent& event, const char* api) {
  const std::optional<HostTimes> times = context_.HostTimesOf(event);
  if (!times) return;
  Track& track = context_.tracks.Of(event.pid, event.tid);
  schema::ApiCallRow row;
  row.tid = context_.tracks.RowTid(track);
  row.name_id = context_.strings.IdOf(event.name);
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  row.correlation_id = IntegerOf(event, Arg::kCorrelation).value_or(0);
  row.external_id = IntegerOf(event, Arg::kExternalId);
  row.api = api;
  track.Saw(times->begin_ns, times->end_ns.value_or(times->begin_ns));
  context_.sink.Add(std::move(row));
  ++context_.events_read;
}

void HostRows::OnOverhead(const RawEvent& event) {
  const std::optional<HostTimes> times = context_.HostTimesOf(event);
  if (!times) return;
  schema::OverheadRow row;
  row.kind_id = context_.strings.IdOf(event.name);
  // Kineto puts overhead that stopped no thread in particular on process or thread -1 or 0.
  const std::optional<int64_t> pid = ParseInteger(event.pid);
  const std::optional<int64_t> tid = ParseInteger(event.tid);
  if (pid.value_or(0) > 0 && tid.value_or(0) > 0) {
    row.tid = context_.tracks.RowTid(context_.tracks.Of(event.pid, event.tid));
  }
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns.value_or(times->begin_ns);
  context_.sink.Add(std::move(row));
  ++context_.events_read;
}

}  // namespace tutti::collector::importers::kineto
