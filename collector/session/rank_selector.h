// `--ranks`: which ranks are recorded. Forms: "0,8-15" (global ranks), "local0" (local
// ranks), "sample:8" (that many, spread evenly over the job). Value type.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

namespace tutti::collector::session {

class RankSelector {
 public:
  RankSelector() = default;  // every rank

  // kUsage: not one of the forms.
  static Result<RankSelector> Parse(std::string_view text);

  // Numbers below 0 are unknown. What can't be decided yet is selected.
  bool Selects(int32_t rank, int32_t local_rank, int32_t world_size) const;

 private:
  enum class Kind : uint8_t { kAll, kGlobal, kLocal, kSample };
  Kind kind_ = Kind::kAll;
  std::vector<std::pair<int32_t, int32_t>> ranges_;  // inclusive
  int32_t sample_size_ = 0;
};

}  // namespace tutti::collector::session
