// What an event costs the thread that it happens on. The floor is a bare loop of two TSC
// reads and one 64-byte store into a buffer of a ring's size; spans are given as a multiple
// of it (target: docs/architecture.md), from runs of all loops interleaved in one process.
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracer/core/entry.h"
#include "tracer/core/session.h"
#include "tracer/testing/fake_collector.h"

namespace tutti::tracer {
namespace {

constexpr double kSpanTarget = 1.25;
constexpr uint32_t kRingCells = 1024;  // the smallest ring of a 64 MiB segment
constexpr char kOperatorName[] = "aten::addmm";

// The ring of this thread, emptied between bursts as the drainer does between its naps.
class Ring {
 public:
  static wire::RingHeader& Header() { return *Thread::slot.state->ring; }
  // Cheap enough to be in the loop: one store each kRingCells / 2 events.
  static void MakeRoom(uint64_t iteration) {
    if (iteration % (kRingCells / 2) != 0) return;
    Header().tail.store(Header().head.load(std::memory_order_relaxed), std::memory_order_release);
  }
};

wire::OpenSpan OperatorSpan(uint64_t begin_ticks, uint32_t name) {
  wire::OpenSpan span{};
  span.begin_ticks = begin_ticks;
  span.identity = 1;
  span.name = name;
  span.kind = static_cast<uint8_t>(wire::RecordKind::kCpuOp);
  return span;
}

void FillOperator(wire::CpuOpRecord& record, const wire::OpenSpan& span, uint64_t end_ticks,
                  uint16_t depth) {
  record = {.header = HeaderOf(wire::RecordKind::kCpuOp, span.name),
            .begin_ticks = span.begin_ticks,
            .end_ticks = end_ticks,
            .sequence_nr = -1,
            .torch_tid = 1,
            .forward_tid = 0,
            .shapes = 0,
            .depth = depth,
            .scope = 0,
            .reserved0 = 0,
            .reserved1 = 0};
}

void Floor(benchmark::State& state) {
  std::vector<wire::CpuOpRecord> cells(kRingCells);
  uint64_t position = 0;
  for (auto _ : state) {
    const uint64_t begin = __rdtsc();
    const uint64_t end = __rdtsc();
    FillOperator(cells[position++ % kRingCells], OperatorSpan(begin, 1), end, 0);
    benchmark::ClobberMemory();
  }
}

void TscRead(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(__rdtsc());
}

// An event with one time stamp.
void Write(benchmark::State& state) {
  uint64_t iteration = 0;
  for (auto _ : state) {
    Entry entry(wire::kCaptureTorch);
    if (!entry) std::abort();
    entry.EmitInPlace<wire::MarkRecord>([ticks = entry.Now()](wire::MarkRecord& mark) {
      mark = {.header = HeaderOf(wire::RecordKind::kMark, 1),
              .ticks = ticks,
              .payload = 0,
              .domain = 0,
              .category = 0,
              .category_name = 0,
              .argb = 0,
              .payload_type = wire::PayloadType::kNone,
              .reserved0 = {},
              .reserved1 = {}};
    });
    Ring::MakeRoom(++iteration);
  }
}

// A span whose stack frame can keep its begin: two stamps and one record.
void Span(benchmark::State& state) {
  uint64_t iteration = 0;
  for (auto _ : state) {
    Entry entry(wire::kCaptureTorch);
    if (!entry) std::abort();
    const uint64_t begin = entry.Now();
    const uint64_t end = entry.Now();
    entry.EmitInPlace<wire::CpuOpRecord>(
        [&](wire::CpuOpRecord& record) { FillOperator(record, OperatorSpan(begin, 1), end, 0); });
    Ring::MakeRoom(++iteration);
  }
}

// A span as an operator's two callbacks write it: visible on the open-span stack meanwhile.
void OpenSpan(benchmark::State& state) {
  uint64_t iteration = 0;
  for (auto _ : state) {
    {
      Entry entry(wire::kCaptureTorch);
      if (!entry) std::abort();
      entry.BeginSpanInPlace([&](wire::OpenSpan& span) { span = OperatorSpan(entry.Now(), 1); });
    }
    {
      Entry entry(wire::kCaptureTorch);
      const uint64_t end = entry.Now();
      const EndedSpan ended = entry.EndSpan(1);
      entry.EmitInPlace<wire::CpuOpRecord>(
          [&](wire::CpuOpRecord& record) { FillOperator(record, *ended.span, end, ended.depth); });
    }
    Ring::MakeRoom(++iteration);
  }
}

void InternByAddress(benchmark::State& state) {
  for (auto _ : state) {
    Entry entry(wire::kCaptureTorch);
    benchmark::DoNotOptimize(entry.Intern(kOperatorName, sizeof(kOperatorName) - 1));
  }
}

void InternByContent(benchmark::State& state) {
  std::string text = "autograd::engine::evaluate_function: AddmmBackward0";
  for (auto _ : state) {
    Entry entry(wire::kCaptureTorch);
    benchmark::DoNotOptimize(entry.InternText(text));
  }
}

// What every event costs in a process that is not a rank.
void NotARank(benchmark::State& state) {
  Gate* const own = Process::gate.exchange(&Process::closed_gate);
  for (auto _ : state) benchmark::DoNotOptimize(static_cast<bool>(Entry(wire::kCaptureTorch)));
  Process::gate.store(own);
}

// Keeps each repetition's time and prints the medians.
class KeepingReporter : public benchmark::ConsoleReporter {
 public:
  KeepingReporter() : ConsoleReporter(OO_Tabular) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration && !run.error_occurred) {
        times_ns_[run.run_name.function_name].push_back(run.GetAdjustedCPUTime());
      }
    }
    std::vector<Run> medians;
    std::ranges::copy_if(runs, std::back_inserter(medians),
                         [](const Run& run) { return run.aggregate_name == "median"; });
    if (!medians.empty()) ConsoleReporter::ReportRuns(medians);
  }
  double MedianNs(const std::string& name) {
    std::vector<double>& times = times_ns_[name];
    if (times.empty()) return 0;
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
  }

 private:
  std::map<std::string, std::vector<double>> times_ns_;
};

void PrintRatios(KeepingReporter& reporter) {
  const double floor_ns = reporter.MedianNs("Floor");
  if (floor_ns <= 0) return;
  const double ratio = reporter.MedianNs("Span") / floor_ns;
  std::printf("\nfloor (two TSC reads, one 64-byte store)  %.1f ns\n", floor_ns);
  std::printf("span ÷ floor       %.2f (target ≤ %.2f: %s)\n", ratio, kSpanTarget,
              ratio <= kSpanTarget ? "met" : "missed");
  std::printf("open span ÷ floor  %.2f\n", reporter.MedianNs("OpenSpan") / floor_ns);
  std::printf("event ÷ TSC read   %.2f\n",
              reporter.MedianNs("Write") / reporter.MedianNs("TscRead"));
}

int Main(int argc, char** argv) {
  testing::FakeCollector collector(
      testing::FakeCollector::Options{.shape = {1024, 1u << 16, {{2, kRingCells}}}});
  setenv("TUTTI_SESSION", collector.session().c_str(), 1);
  Configure();
  if (!Promote("bench")) return 1;
  for (const auto& [name, function] : {std::pair{"Floor", &Floor},
                                       {"Span", &Span},
                                       {"OpenSpan", &OpenSpan},
                                       {"Write", &Write},
                                       {"TscRead", &TscRead},
                                       {"InternByAddress", &InternByAddress},
                                       {"InternByContent", &InternByContent},
                                       {"NotARank", &NotARank}}) {
    benchmark::RegisterBenchmark(name, function)->Repetitions(15)->MinTime(0.05);
  }
  // Interleaved, so that what else the machine does hits all loops alike.
  std::vector<char*> arguments(argv, argv + argc);
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  arguments.insert(arguments.begin() + 1, interleave.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  KeepingReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  PrintRatios(reporter);
  return 0;
}

}  // namespace
}  // namespace tutti::tracer

int main(int argc, char** argv) { return tutti::tracer::Main(argc, argv); }
