// Which step a moment of a rank belongs to, by the rows of step_window.
// Immutable once built; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/interval.h"
#include "schema/derived_rows.h"

namespace tutti::analyzer {

class StepIndex {
 public:
  // Rows of one rank in any order.
  explicit StepIndex(std::span<const schema::StepWindowRow> windows);

  // The step that the host was in, for things that the host starts.
  std::optional<int64_t> ByHost(int64_t time_ns) const;
  // The step whose window holds the moment.
  std::optional<int64_t> ByWindow(int64_t time_ns) const;

  // In order of time; windows()[i] belongs to steps()[i].
  std::span<const Interval> windows() const { return windows_; }
  std::span<const int64_t> steps() const { return steps_; }

 private:
  std::vector<Interval> windows_;
  std::vector<Interval> hosts_;
  std::vector<int64_t> steps_;
};

}  // namespace tutti::analyzer
