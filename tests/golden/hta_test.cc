// Tutti's interval sets, gaps, queues and launch delays against HolisticTraceAnalysis' figures
// on real traces, under its filter and rounding (hta_run.h). Where HTA is wrong, the
// difference is asserted and explained.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "analyzer/metrics/device_gaps.h"
#include "analyzer/metrics/kernel_names.h"
#include "analyzer/metrics/launch_queue.h"
#include "tests/golden/csv.h"
#include "tests/golden/hta_run.h"
#include "tests/golden/shared_data.h"

namespace tutti::golden {
namespace {

struct Set {
  const char* name;                 // of the folder in goldens/hta
  std::vector<std::string> traces;  // by rank
  int64_t base_ns = 0;              // baseTimeNanoseconds of the files
  bool has_fractions = false;       // their times are finer than microseconds
};

const std::vector<Set>& Sets() {
  static const std::vector<Set> kSets = {
      {"trace_filter_2ranks",
       {"hta/timeline_analysis/sampled_rank-0.json.gz", "hta/trace_filter/sampled_rank-1.json.gz"}},
      {"tb_resnet50_nw0",
       {"kineto/tb_plugin/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz"}},
      {"tb_resnet50_nw4",
       {"kineto/tb_plugin/samples/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"}},
      {"nccl_data", {"hta/nccl_parser_config/nccl_data.json.gz"}, 1'711'964'646'000'000'000, true},
      {"ns_resolution",
       {"hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"},
       0,
       true}};
  return kSets;
}

std::string Golden(const Set& set, const std::string& file) {
  return SharedFolder() + "/goldens/hta/" + set.name + "/" + file;
}

double Number(const CsvRow& row, const char* column) { return std::stod(row.at(column)); }

using Kind = HtaEvent::Kind;

// The union of events of a kind, or of all.
IntervalSet UnionOf(const std::vector<HtaEvent>& events, std::optional<Kind> kind) {
  std::map<int64_t, std::vector<Interval>> streams;
  for (const HtaEvent& event : events) {
    if (!kind || event.kind == *kind) streams[event.stream].push_back(event.us);
  }
  std::vector<std::span<const Interval>> runs;
  for (const auto& [stream, run] : streams) runs.emplace_back(run);
  return UnionOfRuns(runs);
}

class Hta : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    TUTTI_NEEDS_SHARED_DATA();
    run_ = std::make_unique<ImportedRun>(set().traces);
    for (size_t rank = 0; rank < set().traces.size(); ++rank) {
      events_.push_back(ReadHtaEvents(run_->RankFile(static_cast<int>(rank)), set().base_ns));
      ASSERT_FALSE(events_.back().empty());
    }
  }

  const Set& set() const { return Sets()[GetParam()]; }
  const std::vector<HtaEvent>& Of(const CsvRow& row) const {
    return events_.at(std::stoul(row.at("rank")));
  }

  std::unique_ptr<ImportedRun> run_;
  std::vector<std::vector<HtaEvent>> events_;  // by rank
};

INSTANTIATE_TEST_SUITE_P(Sets, Hta, testing::Range(size_t{0}, size_t{5}),
                         [](const auto& param) { return std::string(Sets()[param.param].name); });

TEST_P(Hta, TemporalBreakdown) {
  for (const CsvRow& row : ReadCsv(Golden(set(), "temporal_breakdown.csv"))) {
    const std::vector<HtaEvent>& events = Of(row);
    int64_t end_us = 0;
    for (const HtaEvent& event : events) end_us = std::max(end_us, event.us.end_ns);
    const int64_t span_us = end_us - events.front().us.begin_ns;
    const int64_t busy_us = TotalNs(UnionOf(events, {}));
    const int64_t compute_us = TotalNs(UnionOf(events, Kind::kCompute));
    EXPECT_EQ(static_cast<double>(span_us), Number(row, "kernel_time(us)"));
    EXPECT_EQ(static_cast<double>(span_us - busy_us), Number(row, "idle_time(us)"));
    EXPECT_EQ(static_cast<double>(compute_us), Number(row, "compute_time(us)"));
    EXPECT_EQ(static_cast<double>(busy_us - compute_us), Number(row, "non_compute_time(us)"));
  }
}

TEST_P(Hta, Overlap) {
  for (const CsvRow& row : ReadCsv(Golden(set(), "comm_comp_overlap.csv"))) {
    const IntervalSet comm = UnionOf(Of(row), Kind::kCommunication);
    if (row.at("comp_comm_overlap_pctg").empty()) {
      EXPECT_TRUE(comm.empty());
      continue;
    }
    const auto both_us =
        static_cast<double>(TotalNs(Intersect(comm, UnionOf(Of(row), Kind::kCompute))));
    const double percent = 100 * both_us / static_cast<double>(TotalNs(comm));
    EXPECT_EQ(std::round(percent * 100) / 100, Number(row, "comp_comm_overlap_pctg"));
  }
}

// HTA's causes: host_wait if the call began after the work before had ended, kernel_wait if
// the gap is shorter than 30 us, else other. Work that rounding left without length still ends
// HTA's gaps, so times are stretched and such work gets a length of one.
TEST_P(Hta, IdleTimeByCause) {
  constexpr int64_t kStretch = 1'000'000;
  for (const CsvRow& row : ReadCsv(Golden(set(), "idle_time_breakdown_0.csv"))) {
    std::vector<analyzer::DeviceWork> work;
    const std::vector<HtaEvent>& events = Of(row);
    // From the first event on: microseconds since 1970 can't be stretched so far.
    const auto stretched = [&](int64_t time_us) {
      return (time_us - events.front().us.begin_ns) * kStretch;
    };
    for (const HtaEvent& event : events) {
      if (event.stream != std::stoll(row.at("stream"))) continue;
      work.push_back({{stretched(event.us.begin_ns),
                       stretched(event.us.end_ns) + (event.us.length_ns() == 0 ? 1 : 0)},
                      stretched(event.call_us.begin_ns)});
    }
    int64_t idle = 0;
    for (const analyzer::DeviceGap& gap : analyzer::GapsBetween(work)) {
      const char* cause = *gap.launched_ns > gap.time.begin_ns       ? "host_wait"
                          : gap.time.length_ns() < 30 * kStretch - 1 ? "kernel_wait"
                                                                     : "other";
      if (row.at("idle_category") == cause) idle += gap.time.length_ns();
    }
    EXPECT_EQ(static_cast<double>((idle + kStretch / 2) / kStretch), Number(row, "idle_time"))
        << row.at("stream") << " " << row.at("idle_category");
  }
}

TEST_P(Hta, LaunchDelays) {
  for (size_t rank = 0; rank < events_.size(); ++rank) {
    std::map<int64_t, const HtaEvent*> by_correlation;
    for (const HtaEvent& event : events_[rank]) by_correlation[event.correlation] = &event;
    const auto rows =
        ReadCsv(Golden(set(), "cuda_kernel_launch_stats_rank" + std::to_string(rank) + ".csv"));
    EXPECT_EQ(rows.size(), by_correlation.size());
    for (const CsvRow& row : rows) {
      const auto found = by_correlation.find(std::stoll(row.at("correlation")));
      ASSERT_NE(found, by_correlation.end()) << row.at("correlation");
      const HtaEvent& event = *found->second;
      const analyzer::LaunchedPiece piece{event.call_us, event.us};
      const analyzer::LaunchWait wait = analyzer::LaunchWaits({&piece, 1}, {&event.us, 1}).front();
      EXPECT_EQ(static_cast<double>(event.call_us.length_ns()), Number(row, "cpu_duration"));
      EXPECT_EQ(static_cast<double>(event.us.length_ns()), Number(row, "gpu_duration"));
      EXPECT_EQ(static_cast<double>(wait.delay_ns), Number(row, "launch_delay"));
    }
  }
}

// Launches and begins at one microsecond are in no defined order in HTA (an unstable sort), so
// that its mean lies between that of launches first, as in Tutti, and that of begins first.
TEST_P(Hta, QueueLengths) {
  for (const CsvRow& row : ReadCsv(Golden(set(), "queue_length_summary.csv"))) {
    std::vector<analyzer::LaunchedPiece> pieces;
    for (const HtaEvent& event : Of(row)) {
      if (event.stream != std::stoll(row.at("stream"))) continue;
      pieces.push_back({event.call_us, event.us});
    }
    const std::vector<analyzer::QueueLength> lengths = analyzer::QueueLengths(pieces);
    std::map<int64_t, int64_t> changes_at;
    double up_first = 0;
    for (const analyzer::QueueLength& entry : lengths) {
      up_first += static_cast<double>(entry.length);
      ++changes_at[entry.time_ns];
    }
    // At one moment with u launches and d begins the two sums differ by 2 u d.
    double down_first = up_first;
    int64_t before = 0;
    size_t next = 0;
    for (const auto& [time, changes] : changes_at) {
      next += static_cast<size_t>(changes);
      const int64_t net = lengths[next - 1].length - before;
      before = lengths[next - 1].length;
      const int64_t ups = (changes + net) / 2;
      down_first -= 2.0 * static_cast<double>(ups) * static_cast<double>(changes - ups);
    }
    const auto count = static_cast<double>(lengths.size());
    EXPECT_EQ(count, Number(row, "queue_length_count"));
    EXPECT_EQ(static_cast<double>(analyzer::SummarizeQueue(lengths).max_length),
              Number(row, "queue_length_max"));
    EXPECT_LE(Number(row, "queue_length_mean"), up_first / count + 1e-9);
    EXPECT_GE(Number(row, "queue_length_mean"), down_first / count - 1e-9);
  }
}

struct KernelSum {
  int64_t sum_us = 0;
  int64_t min_us = std::numeric_limits<int64_t>::max();
  int64_t max_us = 0;
  Kind kind = Kind::kCompute;
};

TEST_P(Hta, KernelStatistics) {
  std::vector<std::map<std::string, KernelSum>> sums(events_.size());
  for (size_t rank = 0; rank < events_.size(); ++rank) {
    for (const HtaEvent& event : events_[rank]) {
      KernelSum& sum = sums[rank][event.name];
      sum.sum_us += event.us.length_ns();
      sum.min_us = std::min(sum.min_us, event.us.length_ns());
      sum.max_us = std::max(sum.max_us, event.us.length_ns());
      sum.kind = event.kind;
    }
  }
  size_t kernels = 0;
  for (const CsvRow& row : ReadCsv(Golden(set(), "kernel_breakdown_full_1.csv"))) {
    if (row.at("kernel_type") == "MEMORY") continue;
    const auto& of_rank = sums[std::stoul(row.at("rank"))];
    const auto found = of_rank.find(row.at("name"));
    ASSERT_NE(found, of_rank.end()) << row.at("name");
    ++kernels;
    EXPECT_EQ(static_cast<double>(found->second.sum_us), Number(row, "sum (us)"));
    EXPECT_EQ(static_cast<double>(found->second.min_us), Number(row, "min (us)"));
    EXPECT_EQ(static_cast<double>(found->second.max_us), Number(row, "max (us)"));
    // Tutti's own idea of what communicates agrees on these traces.
    EXPECT_EQ(analyzer::RoleOfKernel(row.at("name")) == analyzer::KernelRole::kCommunication,
              row.at("kernel_type") == "COMMUNICATION")
        << row.at("name");
  }
  EXPECT_GT(kernels, 10u);
}

// Whether a copy ends in the microsecond in which another one of its name begins, or in which
// it began itself.
bool AnyTouch(const std::vector<HtaEvent>& events, const std::string& name) {
  int64_t last_end_us = std::numeric_limits<int64_t>::min();
  for (const HtaEvent& event : events) {
    if (event.name != name) continue;
    if (event.us.begin_ns <= last_end_us || event.us.length_ns() == 0) return true;
    last_end_us = event.us.end_ns;
  }
  return false;
}

// The file's own figure is of the exact duration; in files of whole microseconds that is lost.
// HTA describes the bandwidth at each change, not of each copy: where copies touch, or one is
// rounded to no length, there are more or fewer changes than copies.
TEST_P(Hta, CopyBandwidth) {
  for (const CsvRow& row : ReadCsv(Golden(set(), "memory_bw_summary.csv"))) {
    int64_t count = 0;
    double sum = 0;
    double highest = 0;
    for (const HtaEvent& event : Of(row)) {
      if (event.name != row.at("name")) continue;
      ++count;
      if (event.exact_ns.length_ns() == 0) continue;
      const double gb_per_s =
          static_cast<double>(event.bytes) / static_cast<double>(event.exact_ns.length_ns());
      sum += gb_per_s;
      highest = std::max(highest, gb_per_s);
    }
    EXPECT_NEAR(static_cast<double>(count), Number(row, "memory_bw_gbps_count"),
                0.01 * static_cast<double>(count));
    if (set().has_fractions) {
      EXPECT_NEAR(highest, Number(row, "memory_bw_gbps_max"),
                  1e-6 * Number(row, "memory_bw_gbps_max"));
    }
    if (AnyTouch(Of(row), row.at("name"))) continue;
    EXPECT_EQ(static_cast<double>(count), Number(row, "memory_bw_gbps_count"));
    if (!set().has_fractions) continue;
    EXPECT_NEAR(sum / static_cast<double>(count), Number(row, "memory_bw_gbps_mean"),
                1e-6 * Number(row, "memory_bw_gbps_mean"));
  }
}

// Defect: rounding begins up and ends down to microseconds loses time of short kernels.
TEST_P(Hta, RoundingLosesKernelTimeThatTuttiKeeps) {
  if (!set().has_fractions) GTEST_SKIP() << "the file has whole microseconds";
  int64_t exact_ns = 0;
  int64_t rounded_us = 0;
  for (const HtaEvent& event : events_.front()) {
    exact_ns += event.exact_ns.length_ns();
    rounded_us += event.us.length_ns();
  }
  EXPECT_GT(exact_ns, rounded_us * 1'000);
  EXPECT_LT(exact_ns, rounded_us * 1'050);  // up to 3.7 % on these traces
}

// Defect: a row of a host that waits for a stream counts as busy time of the stream.
TEST(HtaDefects, SynchronisationIsNoDeviceWork) {
  TUTTI_NEEDS_SHARED_DATA();
  const ImportedRun run({"hta/critical_path/cuda_event_sync/event_sync_trace.json.gz"});
  const std::vector<HtaEvent> events = ReadHtaEvents(run.RankFile(0), 0);
  const CsvRow golden =
      ReadCsv(SharedFolder() + "/goldens/hta/cuda_event_sync/temporal_breakdown.csv").front();
  const int64_t compute_us = TotalNs(UnionOf(events, Kind::kCompute));
  EXPECT_EQ(static_cast<double>(compute_us), Number(golden, "compute_time(us)"));
  const int64_t other_us = TotalNs(UnionOf(events, {})) - compute_us;
  EXPECT_EQ(other_us, 2);                                    // the one copy
  EXPECT_EQ(Number(golden, "non_compute_time(us)"), 2 + 5);  // and 5 us of "Stream Sync"
}

}  // namespace
}  // namespace tutti::golden
