#include "collector/importers/rank_assignment.h"

#include <charconv>
#include <map>
#include <set>
#include <string_view>

namespace tutti::collector::importers {
namespace {

constexpr int64_t kMostRanks = int64_t{1} << 24;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The number behind `word` at `at`, with at most one separator between.
std::optional<int64_t> NumberAt(std::string_view name, size_t at) {
  if (at < name.size() && (name[at] == '-' || name[at] == '_' || name[at] == '.')) ++at;
  int64_t number = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + at, end, number);
  if (error != std::errc() || name[at] == '-' || number >= kMostRanks) return std::nullopt;
  if (stop != end && IsLetter(*stop)) return std::nullopt;
  return number;
}

bool IsRank(const std::optional<int64_t>& rank) { return rank && *rank >= 0 && *rank < kMostRanks; }

bool NameAgrees(const RankClaim& claim) { return RankFromFileName(claim.file_name) == claim.rank; }

// Of two claims of one rank. Copies get longer names: "copy_of_rank7.json", "rank7 (1).json".
bool IsBetter(const RankClaim& claim, const RankClaim& than) {
  if (NameAgrees(claim) != NameAgrees(than)) return NameAgrees(claim);
  return NameAgrees(claim) && claim.file_name.size() < than.file_name.size();
}

}  // namespace

std::optional<int64_t> RankFromFileName(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += Lower(c);
  for (const std::string_view word : {"rank", "worker"}) {
    std::optional<int64_t> found;
    for (size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
      if (at > 0 && IsLetter(lower[at - 1])) continue;  // "shrank7"
      if (const auto number = NumberAt(lower, at + word.size())) found = number;
    }
    if (found) return found;
  }
  return std::nullopt;
}

std::vector<RankAnswer> AssignRanks(const std::vector<RankClaim>& claims) {
  std::map<int64_t, size_t> owner;  // of each rank that was told
  for (size_t i = 0; i < claims.size(); ++i) {
    if (!IsRank(claims[i].rank)) continue;
    const auto [entry, is_first] = owner.try_emplace(*claims[i].rank, i);
    if (!is_first && IsBetter(claims[i], claims[entry->second])) entry->second = i;
  }
  std::set<int64_t> taken;
  for (const auto& [rank, index] : owner) taken.insert(rank);
  int64_t next_free = 0;
  const auto take_free = [&](std::optional<int64_t> wish) {
    if (IsRank(wish) && taken.insert(*wish).second) return *wish;
    while (!taken.insert(next_free).second) ++next_free;
    return next_free;
  };
  std::vector<RankAnswer> answers(claims.size());
  std::vector<size_t> assumed;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (!IsRank(claims[i].rank)) {
      answers[i].is_assumed = true;
      assumed.push_back(i);
    } else if (const size_t has_it = owner.at(*claims[i].rank); has_it == i) {
      answers[i].rank = *claims[i].rank;
    } else {
      answers[i].conflict_with = has_it;
    }
  }
  // A trace by itself is most likely of a job of one process, whatever its GPU.
  const bool is_alone = claims.size() == 1;
  for (const size_t i : assumed) {
    answers[i].rank = take_free(is_alone ? std::nullopt : claims[i].device);
  }
  for (RankAnswer& answer : answers) {
    if (answer.conflict_with) answer.rank = take_free(std::nullopt);
  }
  return answers;
}

}  // namespace tutti::collector::importers
