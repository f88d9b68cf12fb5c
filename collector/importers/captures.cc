#include "collector/importers/captures.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "collector/importers/byte_source.h"
#include "collector/importers/rank_assignment.h"

namespace tutti::collector::importers {
namespace {

using Sets = std::map<std::string, std::vector<const CaptureClaim*>>;  // by their name

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// The path without the digits of the rank: "a/jobA_rank#.json".
std::string NameWithoutRank(const CaptureClaim& claim) {
  const std::string digits = std::to_string(claim.rank.value_or(-1));
  const size_t at = claim.path.rfind(digits);
  if (at == std::string::npos) return claim.path;
  return claim.path.substr(0, at) + "#" + claim.path.substr(at + digits.size());
}

Sets SetsBy(const std::vector<CaptureClaim>& claims,
            const std::function<std::string(const CaptureClaim&)>& name_of) {
  Sets sets;
  for (const CaptureClaim& claim : claims) sets[name_of(claim)].push_back(&claim);
  return sets;
}

bool AtDifferentTimes(const CaptureClaim& a, const CaptureClaim& b) {
  if (!a.begin_ns || !a.end_ns || !b.begin_ns || !b.end_ns) return false;
  return *a.end_ns < *b.begin_ns || *b.end_ns < *a.begin_ns;
}

// Of traces of one rank.
bool AreDifferentRuns(const CaptureClaim& a, const CaptureClaim& b) {
  return (a.is_told_inside && b.is_told_inside) || AtDifferentTimes(a, b);
}

// A rank that two sets have, where each set is of different ranks and those that are in two are
// of different runs.
std::optional<int64_t> SharedRank(const Sets& sets) {
  std::map<int64_t, const CaptureClaim*> first;
  std::optional<int64_t> shared;
  for (const auto& [name, members] : sets) {
    std::set<int64_t> own;
    for (const CaptureClaim* claim : members) {
      if (!claim->rank || !own.insert(*claim->rank).second) return std::nullopt;
      const auto [known, is_new] = first.try_emplace(*claim->rank, claim);
      if (is_new) continue;
      if (!AreDifferentRuns(*claim, *known->second)) return std::nullopt;
      if (!shared) shared = claim->rank;
    }
  }
  return shared;
}

std::string Named(const Sets& sets) {
  constexpr size_t kMostNamed = 4;
  std::string text;
  size_t count = 0;
  for (const auto& [name, members] : sets) {
    if (count++ == kMostNamed) return text + ", …";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string Refusal(const Sets& sets, int64_t rank) {
  return "these are traces of " + std::to_string(sets.size()) + " runs, each with a rank " +
         std::to_string(rank) + " of its own: " + Named(sets) + "; import one at a time";
}

// Every rank has as many traces, two or more, at different times.
std::string WhyOneAfterAnother(const std::vector<CaptureClaim>& claims) {
  std::map<int64_t, std::vector<const CaptureClaim*>> by_rank;
  for (const CaptureClaim& claim : claims) {
    if (!claim.rank) return "";
    for (const CaptureClaim* other : by_rank[*claim.rank]) {
      if (!AtDifferentTimes(claim, *other)) return "";
    }
    by_rank[*claim.rank].push_back(&claim);
  }
  const size_t count = by_rank.empty() ? 0 : by_rank.begin()->second.size();
  for (const auto& [rank, traces] : by_rank) {
    if (traces.size() != count) return "";
  }
  if (count < 2) return "";
  const auto& traces = by_rank.begin()->second;
  return "each rank was traced " + std::to_string(count) + " times, one after another (rank " +
         std::to_string(by_rank.begin()->first) + ": " + traces[0]->path + ", " + traces[1]->path +
         (count > 2 ? ", …" : "") + "); import the files of one time at once";
}

std::string WhyOfDifferentSizes(const std::vector<CaptureClaim>& claims) {
  const CaptureClaim* first = nullptr;
  for (const CaptureClaim& claim : claims) {
    if (!claim.world_size || !claim.is_told_inside) continue;
    if (first == nullptr) first = &claim;
    if (*claim.world_size == *first->world_size) continue;
    return "these are traces of different jobs: " + first->path + " is of " +
           std::to_string(*first->world_size) + " ranks, " + claim.path + " of " +
           std::to_string(*claim.world_size) + "; import one job at a time";
  }
  return "";
}

// Ranks of one job are traced at once. Of traces that don't say which rank they are, two that have
// no moment in common are of no such job.
std::string WhyNoRanksOfOneJob(const std::vector<CaptureClaim>& claims) {
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].rank) return "";
    for (size_t j = 0; j < i; ++j) {
      if (!AtDifferentTimes(claims[i], claims[j])) return "";
    }
  }
  if (claims.size() < 2 || RanksFromFolders(claims)[0]) return "";
  return "these traces are of different times, and none says its rank: " + claims[0].path + ", " +
         claims[1].path + (claims.size() > 2 ? ", …" : "") +
         "; import one at a time, or with --assume-rank 0 if they are of one job after all";
}

}  // namespace

std::string WhySeveralRuns(const std::vector<CaptureClaim>& claims) {
  const auto folder_of = [](const CaptureClaim& claim) { return FolderOf(claim.path); };
  const Sets folders = SetsBy(claims, folder_of);
  // A folder that tells the rank is of that process.
  const bool folders_are_ranks = std::ranges::all_of(folders, [](const auto& folder) {
    return RankFromFileName(folder.first.substr(folder.first.rfind('/') + 1)).has_value();
  });
  if (!folders_are_ranks) {
    if (const auto rank = SharedRank(folders)) return Refusal(folders, *rank);
  }
  const Sets names = SetsBy(claims, NameWithoutRank);
  const bool are_groups =
      std::ranges::all_of(names, [](const auto& members) { return members.second.size() > 1; });
  if (are_groups) {
    if (const auto rank = SharedRank(names)) return Refusal(names, *rank);
  }
  if (std::string why = WhyOneAfterAnother(claims); !why.empty()) return why;
  if (std::string why = WhyNoRanksOfOneJob(claims); !why.empty()) return why;
  return WhyOfDifferentSizes(claims);
}

std::vector<std::optional<int64_t>> RanksFromFolders(const std::vector<CaptureClaim>& claims) {
  using Ranks = std::vector<std::optional<int64_t>>;
  Ranks ranks(claims.size());
  std::set<int64_t> seen;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].rank) continue;
    const std::string folder = FolderOf(claims[i].path);
    ranks[i] = RankFromFileName(folder.substr(folder.rfind('/') + 1));
    if (!ranks[i] || !seen.insert(*ranks[i]).second) return Ranks(claims.size());
  }
  if (seen.size() < 2) return Ranks(claims.size());
  return ranks;
}

bool LooksLikeCopy(const CaptureClaim& copy, const CaptureClaim& original) {
  const auto name = [](const CaptureClaim& claim) {
    return std::pair(claim.path.size(), std::string_view(claim.path));
  };
  return copy.rank && copy.rank == original.rank && copy.begin_ns == original.begin_ns &&
         copy.end_ns == original.end_ns && name(original) < name(copy);
}

bool HaveEqualContent(const std::string& a, const std::string& b) {
  constexpr size_t kPieceBytes = size_t{256} << 10;
  const auto fill = [](ByteSource& source, std::string& piece) -> bool {
    piece.resize(kPieceBytes);
    size_t filled = 0;
    while (filled < kPieceBytes) {
      const Result<size_t> got = source.Read(piece.data() + filled, kPieceBytes - filled);
      if (!got.ok()) return false;
      if (*got == 0) break;
      filled += *got;
    }
    piece.resize(filled);
    return true;
  };
  auto first = OpenBytes(a);
  auto second = OpenBytes(b);
  if (!first.ok() || !second.ok()) return false;
  std::array<std::string, 2> pieces;
  do {
    if (!fill(**first, pieces[0]) || !fill(**second, pieces[1])) return false;
    if (pieces[0] != pieces[1]) return false;
  } while (!pieces[0].empty());
  return true;
}

}  // namespace tutti::collector::importers
