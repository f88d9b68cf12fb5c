#include "collector/importers/replicas.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

namespace tutti::collector::importers {
namespace {

constexpr int64_t kMostReplicas = int64_t{1} << 16;
constexpr int64_t kMostRanksEach = int64_t{1} << 16;

bool IsLetterOrDigit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::optional<int64_t> ReplicaOf(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (size_t at = name.find("dp"); at != std::string_view::npos; at = name.find("dp", at + 1)) {
    if (at > 0 && IsLetterOrDigit(name[at - 1])) continue;  // "fsdp2"
    int64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + at + 2, end, number);
    if (error != std::errc() || number < 0 || number >= kMostReplicas) continue;
    if (stop == end || !IsLetterOrDigit(*stop)) return number;
  }
  return std::nullopt;
}

Replicas FindReplicas(const std::vector<CaptureClaim>& claims) {
  std::set<int64_t> ranks;
  std::set<std::pair<int64_t, int64_t>> places;  // replica, rank
  Replicas found;
  for (const CaptureClaim& claim : claims) {
    const std::optional<int64_t> replica = ReplicaOf(claim.path);
    if (!replica || !claim.rank || *claim.rank < 0 || *claim.rank >= kMostRanksEach) return {};
    if (!places.emplace(*replica, *claim.rank).second) return {};
    ranks.insert(*claim.rank);
    const int64_t told = claim.is_told_inside ? claim.world_size.value_or(0) : 0;
    found.ranks_each = std::max({found.ranks_each, *claim.rank + 1, told});
    found.count = std::max(found.count, *replica + 1);
    found.first_ranks.push_back(*replica);
  }
  if (ranks.size() == claims.size() || found.ranks_each > kMostRanksEach) return {};
  for (int64_t& first : found.first_ranks) first *= found.ranks_each;
  return found;
}

}  // namespace tutti::collector::importers
