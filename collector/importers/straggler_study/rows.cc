#include "collector/importers/straggler_study/rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace tutti::collector::importers::straggler_study {
namespace {

constexpr std::array<std::string_view, 5> kStreams = {"compute", "pp-comm", "tp-comm", "dp-comm",
                                                      "misc"};

// Who takes part in an operation besides its own rank.
enum class Among { kNobody, kWorld, kDataParallel, kEmbedding, kNextStage, kPreviousStage };

// What the study calls an operation, and what it is.
struct Meaning {
  std::string_view name;
  std::string_view op;  // collective, "" compute
  Among among = Among::kNobody;
  std::string_view phase;
};
constexpr std::array kMeanings = {
    Meaning{"forward-compute", "", Among::kNobody, "forward"},
    Meaning{"backward-compute", "", Among::kNobody, "backward"},
    Meaning{"optimizer", "", Among::kNobody, "optimizer"},
    Meaning{"forward-send", "send", Among::kNextStage, ""},
    Meaning{"forward-recv", "recv", Among::kPreviousStage, ""},
    Meaning{"backward-send", "send", Among::kPreviousStage, ""},
    Meaning{"backward-recv", "recv", Among::kNextStage, ""},
    Meaning{"params-all-gather", "all_gather", Among::kDataParallel, ""},
    Meaning{"grads-reduce-scatter", "reduce_scatter", Among::kDataParallel, ""},
    Meaning{"layernorm-grads-all-reduce", "all_reduce", Among::kDataParallel, ""},
    // The norm of all gradients: over stages, too.
    Meaning{"optimizer-clip-main-grad", "all_reduce", Among::kWorld, ""},
    Meaning{"embedding-grads-all-reduce", "all_reduce", Among::kEmbedding, ""},
};

const Meaning* FindMeaning(std::string_view name) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.name == name) return &meaning;
  }
  return nullptr;
}

int64_t StreamOf(std::string_view name) {
  const auto* found = std::find(kStreams.begin(), kStreams.end(), name);
  return found - kStreams.begin();
}

class Writer {
 public:
  Writer(const Timeline& timeline, size_t worker, TraceSink& sink)
      : timeline_(timeline), self_(timeline.workers[worker]), rank_(worker), sink_(sink) {
    for (const Worker& other : timeline.workers) stages_ = std::max(stages_, other.pp + 1);
  }

  void Write(std::span<const Span> spans) {
    sink_.identity.rank = static_cast<int64_t>(rank_);
    sink_.identity.rank_source = "order of pipeline stage and data-parallel rank";
    // One file has all workers on one time.
    if (!sink_.sources.empty()) {
      sink_.identity.boot_id = "straggler_study:" + sink_.sources.back().path;
    }
    sink_.identity.world_size = static_cast<int64_t>(timeline_.workers.size());
    sink_.Append(schema::DeviceRow{.id = 0, .name = "GPU"});
    for (size_t i = 0; i < kStreams.size(); ++i) {
      sink_.Append(schema::StreamRow{
          .device_id = 0, .stream_id = static_cast<int64_t>(i), .name = std::string(kStreams[i])});
    }
    tid_ = sink_.Thread(0, 1);
    sink_.SetThreadName(0, 1, "timeline");
    for (const Span& span : spans) WriteSpan(span);
    WriteSteps(spans);
  }

 private:
  void WriteSpan(const Span& span) {
    const Meaning* meaning = FindMeaning(span.name);
    const bool is_work = meaning != nullptr || span.end_ns > span.begin_ns;
    if (is_work && span.name != "gc") {
      schema::KernelRow kernel;
      kernel.device_id = 0;
      kernel.stream_id = StreamOf(span.stream);
      kernel.name_id = sink_.Intern(span.name);
      kernel.begin_ns = span.begin_ns;
      kernel.end_ns = span.end_ns;
      kernel.correlation_id = ++correlation_;
      sink_.Add(std::move(kernel));
    }
    if (span.name == "gc" || span.microbatch) WriteRange(span);
    if (meaning != nullptr && !meaning->phase.empty()) WritePhase(span, *meaning);
    if (meaning != nullptr && !meaning->op.empty()) WriteCollective(span, *meaning);
    sink_.identity.begin_ns =
        std::min(sink_.identity.begin_ns.value_or(span.begin_ns), span.begin_ns);
    sink_.identity.end_ns = std::max(sink_.identity.end_ns.value_or(span.end_ns), span.end_ns);
    ++sink_.sources.back().events_read;
  }

  // Which micro-batch it is, or that Python collected garbage.
  void WriteRange(const Span& span) {
    std::string name(span.name);
    if (span.name != "gc") {
      name += ", micro-batch " + std::to_string(*span.microbatch);
      if (span.model_chunk) name += ", chunk " + std::to_string(*span.model_chunk);
    }
    schema::GpuRangeRow range;
    range.device_id = 0;
    range.stream_id = StreamOf(span.stream);
    range.name_id = sink_.Intern(name);
    range.begin_ns = span.begin_ns;
    range.end_ns = span.end_ns;
    sink_.Add(std::move(range));
  }

  void WritePhase(const Span& span, const Meaning& meaning) {
    schema::PhaseRow phase;
    phase.tid = tid_;
    phase.phase = meaning.phase;
    phase.begin_ns = span.begin_ns;
    phase.end_ns = span.end_ns;
    phase.origin = "timeline";
    sink_.Add(std::move(phase));
  }

  void WriteCollective(const Span& span, const Meaning& meaning) {
    Group& group = GroupFor(meaning.among);
    schema::CollectiveSourceRow row;
    row.origin = "kernel";
    row.communicator_id = group.id;
    row.op_id = sink_.Intern(meaning.op);
    row.begin_ns = span.begin_ns;
    row.end_ns = span.end_ns;
    row.device_id = 0;
    row.stream_id = StreamOf(span.stream);
    row.correlation_id = correlation_;
    if (meaning.among == Among::kNextStage || meaning.among == Among::kPreviousStage) {
      const int64_t by = meaning.among == Among::kNextStage ? 1 : stages_ - 1;
      row.peer = (self_.pp + by) % stages_;
    } else {
      row.sequence = group.calls++;
    }
    sink_.Add(std::move(row));
  }

  struct Group {
    int64_t id = 0;
    int64_t calls = 0;  // collectives so far: their sequence
  };

  Group& GroupFor(Among among) {
    if (among == Among::kPreviousStage) among = Among::kNextStage;
    const auto [group, is_new] = groups_.try_emplace(among);
    if (is_new) group->second.id = AddCommunicator(among);
    return group->second;
  }

  bool IsMember(Among among, const Worker& other) const {
    if (among == Among::kWorld) return true;
    if (other.tp != self_.tp) return false;
    if (among == Among::kDataParallel) return other.pp == self_.pp;
    if (other.dp != self_.dp) return false;
    return among == Among::kNextStage || other.pp == 0 || other.pp == stages_ - 1;
  }

  int64_t AddCommunicator(Among among) {
    schema::CommunicatorRow row;
    row.backend = "nccl";
    row.description = among == Among::kWorld          ? "world"
                      : among == Among::kDataParallel ? "data parallel"
                      : among == Among::kEmbedding    ? "embedding"
                                                      : "pipeline parallel";
    row.uid = *row.description;
    if (among != Among::kWorld) {
      *row.uid += " " + std::to_string(among == Among::kDataParallel ? self_.pp : self_.dp);
    }
    row.ordinal = static_cast<int64_t>(groups_.size()) - 1;
    std::string list;
    int64_t size = 0;
    for (size_t i = 0; i < timeline_.workers.size(); ++i) {
      if (!IsMember(among, timeline_.workers[i])) continue;
      if (i == rank_) row.group_rank = size;
      list += (size == 0 ? "[" : ",") + std::to_string(i);
      ++size;
    }
    row.group_size = size;
    row.global_ranks = list + "]";
    return sink_.Add(std::move(row));
  }

  void WriteSteps(std::span<const Span> spans) {
    std::map<int64_t, std::pair<int64_t, int64_t>> bounds;
    for (const Span& span : spans) {
      const auto [step, is_new] = bounds.emplace(span.step, std::pair(span.begin_ns, span.end_ns));
      step->second.first = std::min(step->second.first, span.begin_ns);
      step->second.second = std::max(step->second.second, span.end_ns);
    }
    std::vector<schema::StepRow> steps;
    for (const auto& [number, bound] : bounds) {
      schema::StepRow step;
      step.number = number;
      step.tid = tid_;
      step.begin_ns = bound.first;
      step.end_ns = bound.second;
      step.origin = "timeline";
      steps.push_back(std::move(step));
    }
    std::sort(steps.begin(), steps.end(),
              [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    for (schema::StepRow& step : steps) sink_.Add(std::move(step));
  }

  const Timeline& timeline_;
  const Worker& self_;
  size_t rank_;
  TraceSink& sink_;
  int64_t stages_ = 1;
  int64_t tid_ = 0;
  int64_t correlation_ = 0;
  std::map<Among, Group> groups_;
};

}  // namespace

void WriteWorker(const Timeline& timeline, size_t worker, std::span<const Span> spans,
                 TraceSink& sink) {
  Writer(timeline, worker, sink).Write(spans);
}

}  // namespace tutti::collector::importers::straggler_study
