// Looks through a spool for what must be known before rows are made: the rank of a
// process that no variable told, and when the wanted steps ran. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "collector/convert/cell_decoder.h"
#include "collector/spool/reader.h"
#include "common/status.h"
#include "common/wire/record.h"

namespace tutti::collector::convert {

// A process's place in its job, where no environment variable told.
struct InferredRank {
  int32_t rank;
  int32_t world_size;
};

// Steps with begin <= number < end.
struct StepRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool Contains(int64_t step) const { return begin <= step && step < end; }
};

struct TickRange {
  uint64_t begin;
  uint64_t end;
};

class SpoolScan {
 public:
  using StepListener =
      std::function<void(int64_t number, uint64_t begin_ticks, uint64_t end_ticks)>;

  // `on_step` hears of every step that has ended.
  explicit SpoolScan(std::optional<StepRange> steps = std::nullopt, StepListener on_step = {})
      : steps_(steps), on_step_(std::move(on_step)) {}

  // Looks at the chunks before |limit| that it has not seen yet.
  Status Advance(spool::SpoolReader& reader, uint64_t limit);

  // From the default group: the one that torch describes so, else the first with a rank.
  std::optional<InferredRank> inferred_rank() const;

  // Goes on with another file of the same spool, from its beginning.
  void Restart() { offset_ = 0; }

  // Of a spool whose older part was dropped: where its first whole step begins, of those with at
  // least the number |first_step|; without one where its first clock reading is. Else absent.
  std::optional<uint64_t> window_begin_ticks() const;
  void SetFirstStep(int64_t first_step) { first_step_ = first_step; }

  // From the first begin to the last end of the wanted steps; absent if none was found.
  const std::optional<TickRange>& step_ticks() const { return step_ticks_; }

 private:
  void OnStrings(std::span<const std::byte> payload);
  void OnCells(std::span<const std::byte> payload);
  void OnRecord(const RecordView& record);
  void OnCarried(std::span<const std::byte> payload);
  void OnWindow(std::span<const std::byte> payload);
  void OnStep(int64_t number, uint64_t begin_ticks, uint64_t end_ticks);
  std::string_view TextOf(uint32_t index) const;

  bool WantsSteps() const { return steps_.has_value() || on_step_ || window_ticks_.has_value(); }

  std::optional<StepRange> steps_;
  StepListener on_step_;
  uint64_t offset_ = 0;
  // Texts that matter here: the domain "tutti", "default_pg", "ProfilerStep#…".
  std::map<uint32_t, std::string> strings_;
  std::map<uint32_t, wire::CommunicatorRecord> communicators_;
  std::optional<TickRange> step_ticks_;
  std::optional<uint64_t> window_ticks_;  // before it something is missing
  std::optional<uint64_t> first_whole_step_ticks_;
  int64_t first_step_ = INT64_MIN;
};

}  // namespace tutti::collector::convert
