#include "collector/session/rank_selector.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace tutti::collector::session {
namespace {

std::optional<int32_t> Number(std::string_view text) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<std::pair<int32_t, int32_t>> Range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = Number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : Number(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

Status BadList(std::string_view text) {
  return UsageError("--ranks " + std::string(text) +
                    ": give ranks as 0,8-15, or local0, or sample:8");
}

}  // namespace

Result<RankSelector> RankSelector::Parse(std::string_view text) {
  constexpr std::string_view kSamplePrefix = "sample:";
  constexpr std::string_view kLocalPrefix = "local";
  RankSelector selector;
  std::string_view list = text;
  if (text.starts_with(kSamplePrefix)) {
    const auto size = Number(text.substr(kSamplePrefix.size()));
    if (!size || *size == 0) return BadList(text);
    selector.kind_ = Kind::kSample;
    selector.sample_size_ = *size;
    return selector;
  }
  selector.kind_ = Kind::kGlobal;
  if (text.starts_with(kLocalPrefix)) {
    selector.kind_ = Kind::kLocal;
    list.remove_prefix(kLocalPrefix.size());
  }
  for (;;) {
    const size_t comma = list.find(',');
    const auto range = Range(list.substr(0, comma));
    if (!range) return BadList(text);
    selector.ranges_.push_back(*range);
    if (comma == std::string_view::npos) return selector;
    list.remove_prefix(comma + 1);
  }
}

bool RankSelector::Selects(int32_t rank, int32_t local_rank, int32_t world_size) const {
  const auto listed = [this](int32_t number) {
    return number < 0 || std::any_of(ranges_.begin(), ranges_.end(), [number](const auto& range) {
             return range.first <= number && number <= range.second;
           });
  };
  switch (kind_) {
    case Kind::kAll:
      return true;
    case Kind::kGlobal:
      return listed(rank);
    case Kind::kLocal:
      return listed(local_rank);
    case Kind::kSample: {
      if (rank < 0 || world_size <= sample_size_) return true;
      // Rank i*world/n for i = 0 … n-1: the first rank of each of n equal parts.
      const int64_t part = (int64_t{rank} * sample_size_ + world_size - 1) / world_size;
      return part * world_size / sample_size_ == rank;
    }
  }
  return true;
}

}  // namespace tutti::collector::session
