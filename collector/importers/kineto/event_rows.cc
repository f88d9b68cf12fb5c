#include "collector/importers/kineto/event_rows.h"

#include <algorithm>
#include <utility>

#include "collector/importers/kineto/finish_passes.h"
#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

constexpr size_t kLongestValue = 64;  // of an argument in a message

const Oddity& OddityOf(Problem problem) {
  switch (problem) {
    case Problem::kMalformedEvent:
      return odd::kMalformedEvent;
    case Problem::kControlBytes:
      return odd::kControlBytes;
    case Problem::kInvalidUtf8:
      return odd::kInvalidUtf8;
    case Problem::kNotAnObject:
      return odd::kNotAnEvent;
    case Problem::kTruncated:
      return odd::kTruncated;
    case Problem::kMalformedDocument:
      return odd::kMalformedDocument;
    case Problem::kLongValue:
      return odd::kLongValue;
  }
  return odd::kMalformedDocument;
}

// A call of Level Zero, the driver of Intel's GPUs, as unitrace writes it.
bool IsLevelZeroCall(std::string_view name) {
  return name.size() > 3 && name.starts_with("ze") && name[2] >= 'A' && name[2] <= 'Z';
}

bool IsUnitraceKernel(std::string_view name) {
  return name.ends_with("}]") && name.find("[SIMD") != std::string_view::npos;
}

}  // namespace

EventRows::EventRows(TraceSink& sink, int64_t base_ns)
    : context_(sink, base_ns),
      host_(context_),
      devices_(context_),
      collectives_(context_),
      samples_(context_),
      flows_(context_),
      pairs_(context_, host_),
      keys_(context_, devices_, collectives_) {}

void EventRows::OnKey(std::string_view key, std::string_view value, int64_t offset) {
  keys_.OnKey(key, value, offset);
}

void EventRows::OnProblem(Problem problem, int64_t count, int64_t offset) {
  context_.ledger.Count(OddityOf(problem), offset, {}, count);
  if (problem == Problem::kMalformedEvent) context_.events_skipped += count;
}

EventRows::Category& EventRows::CategoryOf(std::string_view token) {
  auto*& last = last_categories_[token.size() % last_categories_.size()];
  if (last != nullptr && last->first == token) return last->second;
  auto found = categories_.find(token);
  if (found == categories_.end()) {
    const bool is_full = categories_.size() >= kMostCategories;
    found = categories_.try_emplace(is_full ? std::string() : std::string(token)).first;
    const std::string text = DecodeString(found->first);
    found->second = {KindOf(text), context_.sink.Intern(text), 0, 0};
  }
  last = &*found;
  return found->second;
}

void EventRows::OnEvent(const RawEvent& event) {
  CountArgs(event);
  const std::string_view phase = WithoutQuotes(event.phase);
  switch (phase.size() == 1 ? phase.front() : '\0') {
    case 'X':
      return OnComplete(event);
    case 's':
    case 't':
    case 'f':
      return flows_.OnFlow(event, phase.front());
    case 'i':
    case 'I':
    case 'R':
      return OnInstant(event);
    case 'M':
      return OnMetadata(event);
    case 'C':
      return samples_.OnCounter(event);
    case 'B':
    case 'E':
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'T':
    case 'p':
    case 'F': {
      Category& category = CategoryOf(event.category);
      if (category.kind == Kind::kBrowser) ++browser_events_;
      return pairs_.OnHalf(event, phase.front(), DomainOf(event, category));
    }
    case '\0':
      return context_.Skip(odd::kNoPhase, event);
    default:
      return context_.Skip(odd::kUnknownPhase, event, "phase " + std::string(phase));
  }
}

void EventRows::OnComplete(const RawEvent& event) {
  Category& category = CategoryOf(event.category);
  switch (category.kind) {
    case Kind::kKernel:
      ++context_.training_events;
      if (const auto kernel = devices_.OnKernel(event); kernel && event.Has(Arg::kCollectiveName)) {
        collectives_.OnKernel(event, *kernel);
      }
      return;
    case Kind::kMemcpy:
      ++context_.training_events;
      return devices_.OnMemcpy(event);
    case Kind::kMemset:
      ++context_.training_events;
      return devices_.OnMemset(event);
    case Kind::kSync:
      ++context_.training_events;
      return devices_.OnSync(event);
    case Kind::kGpuRange:
      return devices_.OnGpuRange(event);
    case Kind::kProfilerSpan:
    case Kind::kOther:
    case Kind::kBrowser:
      return OnUncategorised(event, category);
    default:
      return OnHostKind(event, category.kind);
  }
}

void EventRows::OnHostKind(const RawEvent& event, Kind kind) {
  ++context_.training_events;
  switch (kind) {
    case Kind::kOp:
      host_.OnOp(event);
      if (event.Has(Arg::kCollectiveName) || event.Has(Arg::kCommsId)) {
        collectives_.OnHostCall(event);
      }
      break;
    case Kind::kAnnotation:
      host_.OnAnnotation(event);
      if (event.Has(Arg::kCollectiveName)) collectives_.OnHostCall(event);
      break;
    case Kind::kPythonCall:
      return host_.OnPythonCall(event);
    case Kind::kRuntimeCall:
      return host_.OnApiCall(event, "runtime");
    case Kind::kDriverCall:
      return host_.OnApiCall(event, "driver");
    default:
      return host_.OnOverhead(event);
  }
  if (event.name.starts_with("\"gloo:")) collectives_.OnGlooRange(event);
}

// What events without a known category are, is told by their arguments and names.
void EventRows::OnUncategorised(const RawEvent& event, Category& category) {
  if (!event.category.empty()) return OnRange(event, category);
  const std::string_view name = WithoutQuotes(event.name);
  // HCCL tells the tasks of its operations again, as transfers, with these arguments too.
  const bool is_told_twice =
      context_.tracks.ProcessName(context_.tracks.Of(event.pid, event.tid).pid) == "HCCL";
  if (event.Has(Arg::kTaskType) && event.Has(Arg::kTaskStream) && !is_told_twice) {
    ++context_.training_events;
    devices_.OnAscendTask(event);
  } else if (IsLevelZeroCall(name)) {
    ++context_.training_events;
    host_.OnApiCall(event, "driver");
  } else if (IsUnitraceKernel(name)) {
    ++context_.training_events;
    devices_.OnKernel(event);
  } else {
    if (is_told_twice && !event.Has(Arg::kTaskType)) collectives_.OnHcclRange(event);
    OnRange(event, category);
  }
}

void EventRows::OnRange(const RawEvent& event, Category& category) {
  if (category.kind == Kind::kBrowser) ++browser_events_;
  if (category.kind == Kind::kOther && category.kept_as_ranges++ == 0) {
    category.first_offset = event.offset;
  }
  if (category.kind == Kind::kProfilerSpan) {
    const auto begin_ns = ParseMicroseconds(event.time);
    const auto duration_ns = ParseMicroseconds(event.duration);
    if (begin_ns && duration_ns && *duration_ns >= 0 && *duration_ns <= kLongestNs) {
      TraceIdentity& identity = context_.sink.identity;
      identity.begin_ns = context_.base_ns + *begin_ns;
      identity.end_ns = *identity.begin_ns + *duration_ns;
    }
  }
  host_.OnOther(event, DomainOf(event, category));
}

// The domain of a range: its category, or without one the name of its process.
int64_t EventRows::DomainOf(const RawEvent& event, Category& category) {
  if (!event.category.empty()) return category.domain_id;
  const Track& track = context_.tracks.Of(event.pid, event.tid);
  return context_.sink.Intern(context_.tracks.ProcessName(track.pid));
}

void EventRows::OnInstant(const RawEvent& event) {
  if (SampleRows::IsMemory(event.name)) {
    ++context_.training_events;
    return samples_.OnMemory(event);
  }
  Category& category = CategoryOf(event.category);
  if (category.kind == Kind::kBrowser) ++browser_events_;
  host_.OnMark(event, event.category.empty() ? 0 : category.domain_id);
}

void EventRows::OnMetadata(const RawEvent& event) {
  ++context_.events_read;
  const std::string_view what = WithoutQuotes(event.name);
  Track& track = context_.tracks.Of(event.pid, event.tid);
  if (what == "thread_name") {
    context_.tracks.SetName(track, DecodeString(event.Get(Arg::kName)));
  } else if (what == "process_name") {
    context_.tracks.SetProcessName(track.pid, DecodeString(event.Get(Arg::kName)));
  } else if (what == "process_labels") {
    context_.tracks.SetLabels(track.pid, DecodeString(event.Get(Arg::kLabels)));
  } else if (what != "process_sort_index" && what != "thread_sort_index") {
    --context_.events_read;
    context_.Skip(odd::kUnknownPhase, event,
                  "metadata " + std::string(what.substr(0, kLongestValue)));
  }
}

void EventRows::CountArgs(const RawEvent& event) {
  event.ForEachUnstored([&](Arg arg) {
    const auto index = static_cast<size_t>(arg);
    if (unstored_[index]++ == 0) unstored_offsets_[index] = event.offset;
  });
  if (event.duplicate_keys != 0) {
    context_.ledger.Count(odd::kDuplicateKeys, event.offset, {}, event.duplicate_keys);
  }
  if (event.non_finite != 0) {
    context_.ledger.Count(odd::kNonFinite, event.offset, {}, event.non_finite);
  }
  if (event.other_args.empty() || event.phase == "\"C\"") return;
  for (const auto& [key, token] : event.other_args) {
    auto found = unknown_args_.find(key);
    if (found == unknown_args_.end()) {
      const bool is_full = unknown_args_.size() >= kMostArgs;
      found = unknown_args_.try_emplace(is_full ? "others" : std::string(key)).first;
    }
    UnknownArg& arg = found->second;
    if (arg.count++ != 0) continue;
    arg.offset = event.offset;
    arg.first_value = token.substr(0, kLongestValue);
  }
}

void EventRows::CountLeftovers() {
  for (size_t arg = 0; arg < kArgCount; ++arg) {
    if (unstored_[arg] == 0) continue;
    context_.ledger.Count(odd::kUnstoredArgument, unstored_offsets_[arg], {}, unstored_[arg],
                          ArgName(static_cast<Arg>(arg)));
  }
  for (const auto& [key, arg] : unknown_args_) {
    context_.ledger.Count(odd::kUnstoredArgument, arg.offset, {}, arg.count,
                          key + " = " + arg.first_value);
  }
  for (const auto& [token, category] : categories_) {
    if (category.kept_as_ranges == 0) continue;
    context_.ledger.Count(odd::kUnknownCategory, category.first_offset, {}, category.kept_as_ranges,
                          token.empty() ? "none" : DecodeString(token));
  }
}

void EventRows::TellIdentity() {
  TraceIdentity& identity = context_.sink.identity;
  identity.pid = context_.tracks.MainProcess();
  identity.device = devices_.BusiestDevice();
  if (identity.pid) identity.executable = context_.tracks.ProcessName(*identity.pid);
  if (!identity.begin_ns) {
    identity.begin_ns = context_.first_ns;
    identity.end_ns = context_.last_ns;
  }
}

Status EventRows::RunPasses() {
  std::vector<int64_t> ops;
  std::vector<int64_t> ranges;
  std::vector<int64_t> calls;
  for (Track& track : context_.tracks.all()) {
    if (!track.row_tid) continue;
    if (track.ops.is_disordered()) ops.push_back(*track.row_tid);
    if (track.HasDisorderedRanges()) ranges.push_back(*track.row_tid);
    if (track.calls.is_disordered()) calls.push_back(*track.row_tid);
  }
  const std::optional<int64_t> base_ns = keys_.base_time_ns();
  const int64_t shift_ns = base_ns ? *base_ns - context_.base_ns : 0;
  if (shift_ns != 0) context_.ledger.Count(odd::kLateBase, -1);
  if (ops.empty() && ranges.empty() && calls.empty() && shift_ns == 0 && !collectives_.HasBoth()) {
    return OkStatus();
  }
  return context_.sink.Update([&](schema::Database& database) -> Status {
    TUTTI_RETURN_IF_ERROR(CorrectDepths(database, "cpu_op", ops, ""));
    TUTTI_RETURN_IF_ERROR(CorrectDepths(database, "range", ranges, "kind = 'push_pop'"));
    TUTTI_RETURN_IF_ERROR(CorrectDepths(database, "python_call", calls, ""));
    if (collectives_.HasBoth()) TUTTI_RETURN_IF_ERROR(LinkCallsToKernels(database));
    return shift_ns == 0 ? OkStatus() : ShiftTimes(database, shift_ns);
  });
}

Status EventRows::Finish() {
  pairs_.Finish();
  flows_.Finish();
  if (context_.training_events == 0 && (browser_events_ != 0 || keys_.is_of_browser())) {
    return BadDataError("a trace of a browser (Chrome's DevTools), not of a training job");
  }
  if (context_.training_events == 0) context_.ledger.Count(odd::kNoTrainingEvents, -1);
  devices_.Finish();
  collectives_.Finish(context_.sink.identity.rank);
  CountLeftovers();
  TellIdentity();
  context_.tracks.Finish();
  TUTTI_RETURN_IF_ERROR(context_.sink.status());
  TUTTI_RETURN_IF_ERROR(RunPasses());
  context_.ledger.Flush(context_.sink);
  return context_.sink.status();
}

}  // namespace tutti::collector::importers::kineto
