// Loss records (holes with their place in time) and loss totals (exact counts from the
// segment) -> findings. A hole's count is part of its ring's total; what the totals
// hold beyond the holes was dropped after the last event that still fitted. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "collector/convert/context.h"
#include "collector/spool/format.h"
#include "common/wire/record.h"

namespace tutti::collector::convert {

class Losses {
 public:
  explicit Losses(Context& context) : context_(context) {}

  void OnLoss(uint32_t ring, const wire::LossRecord& record);
  // Running totals: the last one of a ring and reason counts.
  void OnTotal(const spool::LossTotal& total);
  // What the totals hold so far was lost before what is converted here: none of its business.
  void Rebase() { before_ = totals_; }
  // Findings for what the totals hold beyond the holes.
  void Finish();

 private:
  using Key = std::pair<uint32_t, wire::LossReason>;
  void Report(wire::LossReason reason, uint64_t count, uint64_t first_ticks, uint64_t last_ticks);

  Context& context_;
  std::map<Key, uint64_t> holes_;
  std::map<Key, spool::LossTotal> totals_;
  std::map<Key, spool::LossTotal> before_;
};

}  // namespace tutti::collector::convert
