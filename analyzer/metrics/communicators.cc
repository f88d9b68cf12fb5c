#include "analyzer/metrics/communicators.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

namespace tutti::analyzer {
namespace {

using Bucket = std::tuple<std::string /*backend*/, std::string /*uid*/, int64_t /*size*/,
                          std::vector<int64_t> /*global ranks*/, int64_t /*ordinal*/>;

// The member list that others tell of the group with this uid, if there is just one
// with this rank in it.
std::vector<int64_t> MembersByUid(std::span<const LocalCommunicator> locals,
                                  const LocalCommunicator& own) {
  std::set<std::vector<int64_t>> told;
  for (const LocalCommunicator& other : locals) {
    if (other.backend != own.backend || other.uid != own.uid || other.size != own.size) continue;
    const std::vector<int64_t>& ranks = other.global_ranks;
    if (std::find(ranks.begin(), ranks.end(), own.rank) != ranks.end()) told.insert(ranks);
  }
  return told.size() == 1 ? *told.begin() : std::vector<int64_t>();
}

Bucket BucketOf(std::span<const LocalCommunicator> locals, const LocalCommunicator& own) {
  std::vector<int64_t> ranks = own.global_ranks;
  if (ranks.empty() && !own.uid.empty()) ranks = MembersByUid(locals, own);
  // With a uid the ordinal may differ between ranks: some make groups that others don't.
  const int64_t ordinal = own.uid.empty() ? own.ordinal : -1;
  return {own.backend, own.uid, own.size.value_or(-1), std::move(ranks), ordinal};
}

// Splits one bucket where two ranks claim one place, or one rank comes twice.
std::vector<std::vector<size_t>> SplitByPlace(std::span<const LocalCommunicator> locals,
                                              std::vector<size_t> bucket) {
  std::sort(bucket.begin(), bucket.end(), [&](size_t a, size_t b) {
    return std::tie(locals[a].rank, locals[a].local_id) <
           std::tie(locals[b].rank, locals[b].local_id);
  });
  std::vector<std::vector<size_t>> groups;
  for (const size_t index : bucket) {
    const LocalCommunicator& own = locals[index];
    const auto has_room = [&](const std::vector<size_t>& group) {
      return std::none_of(group.begin(), group.end(), [&](size_t other) {
        return locals[other].rank == own.rank ||
               (own.group_rank && locals[other].group_rank == own.group_rank);
      });
    };
    const auto place = std::find_if(groups.begin(), groups.end(), has_room);
    if (place == groups.end()) {
      groups.push_back({index});
    } else {
      place->push_back(index);
    }
  }
  return groups;
}

// The ranks by their place in a group of which nobody tells the members, but every member its own
// place (NCCL's communicators are such); empty where one is missing.
std::vector<int64_t> RanksByPlace(std::span<const LocalCommunicator> locals,
                                  std::span<const size_t> group) {
  std::vector<int64_t> ranks(group.size(), -1);
  for (const size_t index : group) {
    const LocalCommunicator& own = locals[index];
    const auto size = static_cast<int64_t>(ranks.size());
    if (own.size != size || !own.group_rank || *own.group_rank < 0 || *own.group_rank >= size) {
      return {};
    }
    ranks[static_cast<size_t>(*own.group_rank)] = own.rank;
  }
  if (std::find(ranks.begin(), ranks.end(), -1) != ranks.end()) return {};
  return ranks;
}

JobCommunicator Describe(std::span<const LocalCommunicator> locals, const Bucket& bucket,
                         std::vector<size_t> group, int64_t world_size) {
  const LocalCommunicator& lowest = locals[group.front()];
  JobCommunicator job;
  job.backend = lowest.backend;
  job.uid = lowest.uid;
  job.description = lowest.description;
  job.ordinal = lowest.ordinal;
  job.size = lowest.size;
  job.global_ranks = std::get<3>(bucket);
  if (job.global_ranks.empty() && !job.uid.empty()) {
    job.global_ranks = RanksByPlace(locals, group);
  }
  if (!job.global_ranks.empty()) {
    job.members_origin = MembersOrigin::kTold;
    job.members = job.global_ranks;
    std::sort(job.members.begin(), job.members.end());
    if (!job.size) job.size = static_cast<int64_t>(job.members.size());
  } else if (job.size == world_size) {
    job.members_origin = MembersOrigin::kWholeWorld;
    for (int64_t rank = 0; rank < world_size; ++rank) job.members.push_back(rank);
  } else {
    for (const size_t index : group) job.members.push_back(locals[index].rank);
  }
  job.locals = std::move(group);
  return job;
}

}  // namespace

int64_t JobCommunicator::expected() const {
  return std::max(size.value_or(0), static_cast<int64_t>(members.size()));
}

std::optional<int64_t> JobCommunicator::GlobalRankOf(int64_t group_rank) const {
  if (group_rank < 0) return std::nullopt;
  const auto place = static_cast<size_t>(group_rank);
  if (place < global_ranks.size()) return global_ranks[place];
  if (members_origin == MembersOrigin::kWholeWorld && place < members.size()) return group_rank;
  return std::nullopt;
}

std::vector<JobCommunicator> JoinCommunicators(std::span<const LocalCommunicator> locals,
                                               int64_t world_size) {
  std::map<Bucket, std::vector<size_t>> buckets;
  for (size_t i = 0; i < locals.size(); ++i) buckets[BucketOf(locals, locals[i])].push_back(i);
  std::vector<JobCommunicator> jobs;
  for (auto& [bucket, indices] : buckets) {
    for (std::vector<size_t>& group : SplitByPlace(locals, std::move(indices))) {
      jobs.push_back(Describe(locals, bucket, std::move(group), world_size));
    }
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.backend, a.members, a.uid, a.ordinal) <
           std::tie(b.backend, b.members, b.uid, b.ordinal);
  });
  return jobs;
}

std::vector<int64_t> ParseRankList(std::string_view text) {
  std::vector<int64_t> ranks;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '[' || c == ']' || c == ',' || c == ' ') {
      ++i;
      continue;
    }
    int64_t rank = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), rank);
    if (error != std::errc() || rank < 0) return {};
    ranks.push_back(rank);
    i = static_cast<size_t>(end - text.data());
  }
  return ranks;
}

}  // namespace tutti::analyzer
