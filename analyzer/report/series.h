// What the HTML report draws over time, read from the derived tables and nothing else. Sizes are
// bounded whatever the run: steps are joined to groups, ranks, lines and spans beyond a number are
// left out, and how many is told. All sums are exact.
// Value types.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/input/step_parts.h"
#include "analyzer/report/report_data.h"
#include "common/status.h"

namespace tutti::analyzer {

// Steps of one state that are drawn as one; a single step unless there are too many.
struct StepGroup {
  int64_t first = 0;  // run_step.step
  int64_t last = 0;
  int64_t first_number = 0;  // as the program called them
  int64_t last_number = 0;
  int64_t count = 0;
  std::string state;  // 'steady', 'warm-up', 'partial', 'checkpoint', 'evaluation'
};

// A rank's steps: sums over each group.
struct RankSteps {
  int64_t rank = 0;
  std::vector<int64_t> steps;  // how many of the group's it has
  std::vector<int64_t> step_ns;
  std::vector<int64_t> longest_ns;
  std::vector<int64_t> comm_ns;     // step_overlap
  std::vector<int64_t> exposed_ns;  // the same
  std::array<std::vector<int64_t>, kStepParts.size()> parts;
};

// Skews of the complete collectives of each group of steps.
struct SkewSeries {
  std::vector<int64_t> count;
  std::vector<int64_t> p50_ns;  // lower nearest rank; 0 where there are none
  std::vector<int64_t> max_ns;
};

// How late a rank comes to collectives in which all wait for the last.
struct RankLateness {
  int64_t rank = 0;
  int64_t calls = 0;
  int64_t late_ns = 0;  // sum of arrival - first arrival
};

// An allocator's line; times since the run's begin.
struct MemoryLine {
  int64_t rank = 0;
  std::string device_type;
  int64_t device_id = 0;
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> end_ns;
  std::vector<int64_t> max_bytes;
};

struct TimelineSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t busy_ns = 0;
};

// A rank in the median step; times since the step's begin.
struct RankTimeline {
  int64_t rank = 0;
  int64_t begin_ns = 0;  // of its window
  int64_t end_ns = 0;
  int64_t comm_ns = 0;
  int64_t exposed_ns = 0;
  std::map<std::string, std::vector<TimelineSpan>> spans;  // by kind
};

struct StepTimeline {
  int64_t step = 0;
  int64_t number = 0;
  int64_t length_ns = 0;
  std::vector<RankTimeline> ranks;  // those to look at first come first
  int64_t left_out = 0;             // ranks
};

struct ReportSeries {
  std::vector<StepGroup> groups;
  std::vector<RankSteps> ranks;  // the slowest of all, by rank
  int64_t ranks_left_out = 0;
  SkewSeries skew;
  std::vector<RankLateness> lateness;
  int64_t run_ns = 0;              // what the memory lines are over
  std::vector<MemoryLine> memory;  // of the highest peaks
  int64_t memory_left_out = 0;
  StepTimeline timeline;
};

Result<ReportSeries> ReadReportSeries(const std::string& analysis_path, const ReportData& data);

// The ranks of which steps are in the series: all, or the slowest.
inline constexpr int64_t kMostRanks = 2048;
// Groups of |steps| steps for |ranks| ranks, in order of their first step. For tests.
std::vector<StepGroup> GroupSteps(const std::vector<schema::RunStepRow>& steps, size_t ranks);

}  // namespace tutti::analyzer
