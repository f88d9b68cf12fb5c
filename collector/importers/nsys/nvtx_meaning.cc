#include "collector/importers/nsys/nvtx_meaning.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "collector/conventions/range_name.h"

namespace tutti::collector::importers::nsys {
namespace {

using conventions::RangeMeaning;

constexpr size_t kMostSteps = 4'000'000;  // of a file that marks nothing else
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr std::string_view kProfilerStem = "ProfilerStep";

// Categories of the domain "tutti": values of tutti_annotation (tracer/annotate.h, which
// only workloads may include).
enum Annotation : int64_t {
  kStep = 1,
  kPhase = 2,
  kDataWait = 3,
  kSamples = 4,
  kTokens = 5,
  kCounter = 6,
  kTruth = 7,  // belongs to no trace: no analysis may read the answer
};

}  // namespace

void NvtxMeaning::OnRange(const MarkedRange& range) {
  std::string_view name = range.name;
  if (const auto op = conventions::ParseEmittedOp(name)) {
    OnOperator(range, op->name);
    name = op->name;
  }
  const conventions::RangeName meaning = conventions::ParseRangeName(name);
  switch (meaning.meaning) {
    case RangeMeaning::kStep: {
      if (steps_ >= kMostSteps) return;
      ++steps_;
      Convention& convention = conventions_[std::string(meaning.stem)];
      convention.is_numbered = convention.is_numbered || meaning.number.has_value();
      convention.depth_sum += range.depth;
      convention.steps.push_back({range.tid, range.begin_ns, range.end_ns, meaning.number});
      return;
    }
    case RangeMeaning::kPhase:
      return OnPhase(range, meaning.phase, "nvtx");
    case RangeMeaning::kDataWait: {
      schema::DataWaitRow row;
      row.tid = range.tid;
      row.loader_id = rank_.Intern(meaning.loader);
      row.begin_ns = range.begin_ns;
      row.end_ns = range.end_ns;
      row.origin = "nvtx";
      return rank_.Append(std::move(row));
    }
    case RangeMeaning::kPlain:
      return;
  }
}

void NvtxMeaning::OnOperator(const MarkedRange& range, std::string_view name) {
  const auto op = conventions::ParseEmittedOp(range.name);
  schema::CpuOpRow row;
  row.tid = range.tid;
  row.name_id = rank_.Intern(name);
  row.scope = conventions::IsBackwardFunction(name) ? 1 : 0;
  row.begin_ns = range.begin_ns;
  row.end_ns = range.end_ns;
  row.depth = range.depth;
  row.sequence_nr = op->sequence_nr;
  row.shapes_id = rank_.Intern(op->shapes);
  rank_.Append(std::move(row));
}

void NvtxMeaning::OnPhase(const MarkedRange& range, std::string_view phase, const char* origin) {
  const auto [outer, is_first] =
      phase_end_ns_.try_emplace({range.tid, std::string(phase)}, range.begin_ns);
  if (!is_first && range.begin_ns < outer->second) return;
  outer->second = range.end_ns.value_or(kNever);
  schema::PhaseRow row;
  row.tid = range.tid;
  row.phase = std::string(phase);
  row.begin_ns = range.begin_ns;
  row.end_ns = range.end_ns;
  row.origin = origin;
  rank_.Append(std::move(row));
}

void NvtxMeaning::OnAnnotation(const MarkedRange& range, bool is_mark) {
  const bool is_mark_kind = range.category >= kSamples;
  if (is_mark != is_mark_kind) return;
  switch (range.category) {
    case kStep: {
      schema::StepRow row{
          0, range.integer.value_or(0), range.tid, range.begin_ns, range.end_ns, "annotate"};
      return rank_.Append(std::move(row));
    }
    case kPhase:
      return OnPhase(range, range.name, "annotate");
    case kDataWait: {
      schema::DataWaitRow row;
      row.tid = range.tid;
      row.loader_id = rank_.Intern(range.name);
      row.begin_ns = range.begin_ns;
      row.end_ns = range.end_ns;
      if (range.integer && *range.integer >= 0) row.queue_depth = range.integer;
      row.origin = "annotate";
      return rank_.Append(std::move(row));
    }
    case kSamples: {
      const schema::BatchRow row{0, range.tid, range.begin_ns, range.integer, std::nullopt};
      const auto [waiting, is_new] = batches_.try_emplace(range.tid, row);
      if (!is_new) WriteBatch(std::exchange(waiting->second, row));
      return;
    }
    case kTokens: {
      schema::BatchRow row{0, range.tid, range.begin_ns, std::nullopt, range.integer};
      if (const auto waiting = batches_.find(range.tid); waiting != batches_.end()) {
        row.time_ns = waiting->second.time_ns;
        row.samples = waiting->second.samples;
        batches_.erase(waiting);
      }
      return WriteBatch(std::move(row));
    }
    case kCounter:
      return OnCounter(range);
    default:
      return;
  }
}

void NvtxMeaning::WriteBatch(schema::BatchRow row) { rank_.Append(std::move(row)); }

void NvtxMeaning::OnCounter(const MarkedRange& range) {
  if (!range.real || !std::isfinite(*range.real)) return;
  const auto [counter, is_new] = counters_.try_emplace(std::string(range.name), 0);
  if (is_new) {
    schema::CounterRow row{
        0, counter->first, "", "gauge", "counter of the program (tutti_counter)", std::nullopt};
    counter->second = rank_.sink().Add(std::move(row));
  }
  rank_.Append(schema::CounterSampleRow{counter->second, range.begin_ns, *range.real});
}

void NvtxMeaning::Finish() {
  for (auto& [tid, row] : batches_) WriteBatch(row);
  batches_.clear();
  const std::string* best_stem = nullptr;
  std::tuple<int, double, size_t> best;
  for (const auto& [stem, convention] : conventions_) {
    const int priority = stem == kProfilerStem ? 2 : convention.is_numbered ? 1 : 0;
    const auto count = static_cast<double>(convention.steps.size());
    const std::tuple<int, double, size_t> score{
        priority, -static_cast<double>(convention.depth_sum) / count, convention.steps.size()};
    if (best_stem != nullptr && score <= best) continue;
    best_stem = &stem;
    best = score;
  }
  if (best_stem != nullptr) WriteSteps(*best_stem, conventions_.at(*best_stem));
  conventions_.clear();
}

// Of the thread that marked most of them; a step inside one of the same convention is none.
void NvtxMeaning::WriteSteps(const std::string& stem, const Convention& convention) {
  std::map<int64_t, int64_t> by_thread;
  for (const Step& step : convention.steps) ++by_thread[step.tid];
  int64_t tid = convention.steps.front().tid;
  for (const auto& [thread, count] : by_thread) {
    if (count > by_thread[tid]) tid = thread;
  }
  int64_t ordinal = 0;
  int64_t end_ns = std::numeric_limits<int64_t>::min();
  for (const Step& step : convention.steps) {
    if (step.tid != tid || step.begin_ns < end_ns) continue;
    end_ns = step.end_ns.value_or(kNever);
    schema::StepRow row;
    row.number = step.number.value_or(ordinal);
    row.tid = step.tid;
    row.begin_ns = step.begin_ns;
    row.end_ns = step.end_ns;
    row.origin = stem == kProfilerStem ? "profiler_step" : "nvtx";
    rank_.Append(std::move(row));
    ++ordinal;
  }
}

}  // namespace tutti::collector::importers::nsys
