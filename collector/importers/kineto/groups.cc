#include "collector/importers/kineto/groups.h"

#include <algorithm>
#include <utility>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

constexpr size_t kMostRanks = 200'000;
constexpr size_t kMostMentions = 100'000;
constexpr size_t kMostGroups = 50'000;

std::string TextOf(const RawEvent& event, Arg arg) {
  return event.Has(arg) ? DecodeString(event.Get(arg)) : std::string();
}

std::optional<int64_t> IntegerOf(const RawEvent& event, Arg arg) {
  return event.Has(arg) ? ParseInteger(event.Get(arg)) : std::nullopt;
}

GroupFacts FactsOf(const RawEvent& event) {
  GroupFacts facts;
  facts.name = TextOf(event, Arg::kGroupName);
  if (facts.name.empty()) facts.name = TextOf(event, Arg::kCommsId);
  facts.description = TextOf(event, Arg::kGroupDescription);
  facts.ranks = TextOf(event, Arg::kGroupRanks);
  facts.size = IntegerOf(event, Arg::kGroupSize);
  facts.first_rank = IntegerOf(event, Arg::kGlobalRankStart);
  facts.stride = IntegerOf(event, Arg::kGlobalRankStride);
  facts.own_rank = IntegerOf(event, Arg::kRank);
  return facts;
}

template <typename Fact>
void Take(Fact& known, const Fact& told) {
  if (known == Fact()) known = told;
}

// All members, if what is known tells them.
std::vector<int64_t> MembersOf(const GroupFacts& facts) {
  PrintedRanks printed = ParseRanks(facts.ranks);
  const auto count = static_cast<int64_t>(printed.ranks.size());
  if (!printed.is_elided && count > 0 && facts.size.value_or(count) == count) return printed.ranks;
  if (!facts.first_rank || !facts.stride || !facts.size || *facts.stride < 1 ||
      *facts.first_rank < 0 || *facts.size < 1 || *facts.size > static_cast<int64_t>(kMostRanks) ||
      *facts.stride > 1'000'000) {
    return {};
  }
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < *facts.size; ++i) ranks.push_back(*facts.first_rank + i * *facts.stride);
  // What is printed must be among them: groups need not be progressions.
  const bool fits = std::all_of(printed.ranks.begin(), printed.ranks.end(), [&ranks](int64_t rank) {
    return std::binary_search(ranks.begin(), ranks.end(), rank);
  });
  return fits ? ranks : std::vector<int64_t>();
}

std::string ToJson(const std::vector<int64_t>& ranks) {
  std::string json = "[";
  for (const int64_t rank : ranks) json += (json.size() > 1 ? "," : "") + std::to_string(rank);
  return json + "]";
}

// Names of groups are numbers in the order of creation, or hashes.
bool ComesBefore(const std::string& a, const std::string& b) {
  const std::optional<int64_t> a_number = ParseInteger(a);
  const std::optional<int64_t> b_number = ParseInteger(b);
  if (a_number && b_number && *a_number != *b_number) return *a_number < *b_number;
  if (a_number.has_value() != b_number.has_value()) return a_number.has_value();
  return a < b;
}

}  // namespace

PrintedRanks ParseRanks(std::string_view text) {
  PrintedRanks printed;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return printed;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    if (const auto rank = ParseInteger(item); rank && printed.ranks.size() < kMostRanks) {
      printed.ranks.push_back(*rank);
    } else if (!item.empty()) {
      printed.is_elided = true;  // "..." or what else is no rank
    }
  }
  return printed;
}

std::optional<int64_t> Groups::Of(const RawEvent& event) {
  std::string mention;
  for (const Arg arg : {Arg::kGroupName, Arg::kCommsId, Arg::kGroupRanks, Arg::kGroupSize}) {
    mention.append(event.Get(arg)).append("\n");
  }
  if (const auto known = known_.find(mention); known != known_.end()) return known->second;
  const GroupFacts facts = FactsOf(event);
  if (groups_.size() >= kMostGroups) return std::nullopt;
  // Without a name, only members tell groups apart; "[]" and "0" are written for "none".
  if (facts.name.empty() && ParseRanks(facts.ranks).ranks.empty()) return std::nullopt;
  const int64_t id = Add(facts);
  if (known_.size() < kMostMentions) known_.emplace(std::move(mention), id);
  return id;
}

int64_t Groups::Add(const GroupFacts& facts) {
  const std::string key = facts.name.empty() ? "ranks " + facts.ranks : facts.name;
  const auto [group, is_new] = groups_.try_emplace(key);
  if (is_new) group->second.id = context_.sink.NextId<schema::CommunicatorRow>();
  Learn(group->second, facts);
  return group->second.id;
}

void Groups::Learn(Group& group, const GroupFacts& facts) {
  Take(group.facts.name, facts.name);
  Take(group.facts.description, facts.description);
  Take(group.facts.backend, facts.backend);
  Take(group.facts.own_rank, facts.own_rank);
  if (group.ranks.empty()) {
    std::vector<int64_t> ranks = MembersOf(facts);
    if (ranks.size() > members_left_) ranks.clear();
    members_left_ -= ranks.size();
    group.ranks = std::move(ranks);
    if (!group.ranks.empty()) {
      group.facts.ranks = facts.ranks;
      group.facts.size = static_cast<int64_t>(group.ranks.size());
    }
  }
  // "wait" and the like print an empty group of one.
  if (!facts.ranks.empty() || facts.ranks != "[]") Take(group.facts.ranks, facts.ranks);
  if (group.ranks.empty() && facts.ranks != "[]") Take(group.facts.size, facts.size);
}

// Of "cpu:gloo,cuda:nccl" the part for the GPU.
std::string Groups::BackendOf(const Group& group) const {
  const std::string& told = group.facts.backend.empty() ? default_backend_ : group.facts.backend;
  const size_t cuda = told.find("cuda:");
  const std::string backend = told.substr(cuda == std::string::npos ? 0 : cuda + 5);
  const std::string first = backend.substr(0, backend.find(','));
  const size_t colon = first.find(':');
  if (!first.empty()) return colon == std::string::npos ? first : first.substr(colon + 1);
  return "nccl";  // what c10d's metadata is written for
}

void Groups::Finish(std::optional<int64_t> rank) {
  std::vector<const Group*> groups;
  for (const auto& [key, group] : groups_) groups.push_back(&group);
  std::sort(groups.begin(), groups.end(), [](const Group* a, const Group* b) {
    return ComesBefore(a->facts.name, b->facts.name);
  });
  std::map<std::string, int64_t> ordinals;
  for (const Group* group : groups) {
    schema::CommunicatorRow row;
    row.id = group->id;
    row.backend = BackendOf(*group);
    if (!group->facts.name.empty()) row.uid = group->facts.name;
    if (!group->facts.description.empty()) row.description = group->facts.description;
    row.ordinal = ordinals[row.backend]++;
    row.group_size = group->facts.size;
    row.group_rank = group->facts.own_rank;
    if (!group->ranks.empty()) {
      row.global_ranks = ToJson(group->ranks);
      const auto own = std::find(group->ranks.begin(), group->ranks.end(), rank.value_or(-1));
      if (own != group->ranks.end()) row.group_rank = own - group->ranks.begin();
    } else if (ParseRanks(group->facts.ranks).is_elided) {
      context_.ledger.Count(odd::kRanksElided, -1);
    }
    context_.sink.Append(std::move(row));
  }
}

}  // namespace tutti::collector::importers::kineto
