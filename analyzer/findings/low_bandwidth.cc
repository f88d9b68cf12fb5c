// Catalogue 26: large collectives that move their data slower than their links can.
//
// Bound per step: sum of transfer * (1 - bandwidth / reference). The reference is what the trace
// itself attains: the communicator in one of ten of its large collectives, else the median of the
// communicators like it. Only where both say nothing it is what GPUs of this product reach over
// their links on one machine (nccl-tests: three quarters of the link), a table of data sheets,
// which knows nothing of how a machine is wired: confidence is medium at most then.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzer/findings/rule.h"
#include "analyzer/metrics/gpu_peaks.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kLargeBytes = 16 << 20;
constexpr double kReachable = 0.75;
constexpr double kLow = 0.5;
constexpr size_t kFewestPeers = 3;
constexpr size_t kFewestOwn = 20;
constexpr int64_t kBestPermille = 900;

constexpr std::array kKinds = {
    FindingKind{"low_bandwidth",
                "Large collectives move their data slower than their links can (catalogue 26).",
                "mean over steps of the sum of transfers of 16 MiB and more * (1 - bus bandwidth / "
                "reference), at most the exposed transfer; the reference is what the communicator "
                "itself reaches in a tenth of at least 20 of them, else the median of at least "
                "three other communicators of the same size and backend, else three quarters of "
                "the GPUs' link on one machine by its data sheet (nccl-tests reaches that)",
                "as above; less than half of the reference: below that it is no tuning but a link "
                "that is not used; by the data sheet with medium confidence at most",
                "nvidia-smi topo -m and NCCL_DEBUG=INFO: NVLink or peer-to-peer off "
                "(NCCL_P2P_DISABLE, IOMMU, containers without shared memory), InfiniBand not found "
                "(NCCL_IB_HCA, NCCL_SOCKET_IFNAME), a link at a lower speed"},
};

struct Group {
  schema::RunCommunicatorRow row;
  std::set<int64_t> ranks;
  int64_t transfer_ns = 0;  // of large collectives
  double busbw = 0;         // mean over their time
  std::vector<double> busbws;
  std::optional<double> reference;
  std::string why;  // where the reference is from
  bool is_data_sheet = false;
};
using Groups = std::map<int64_t, Group>;

// Complete large collectives, by communicator.
Result<Groups> ReadGroups(RunContext& context,
                          const std::vector<schema::CollectiveRow>& collectives) {
  Groups groups;
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::RunCommunicatorRow>(""));
  for (const schema::RunCommunicatorRow& row : rows) groups[row.id].row = row;
  TUTTI_ASSIGN_OR_RETURN(const auto members, context.Read<schema::RunCommunicatorMemberRow>(""));
  for (const auto& member : members) groups[member.communicator_id].ranks.insert(member.rank);
  for (const schema::CollectiveRow& row : collectives) {
    Group& group = groups[*row.communicator_id];
    group.transfer_ns += *row.transfer_ns;
    group.busbw += static_cast<double>(*row.transfer_ns) * *row.busbw_gb_per_s;
    group.busbws.push_back(*row.busbw_gb_per_s);
  }
  std::erase_if(groups, [](const auto& entry) { return entry.second.transfer_ns == 0; });
  for (auto& [id, group] : groups) group.busbw /= static_cast<double>(group.transfer_ns);
  return groups;
}

// What the GPUs of each rank reach over their links, 0: not known.
Result<std::map<int64_t, double>> ReadLinks(RunContext& context) {
  std::map<int64_t, double> links;
  TUTTI_RETURN_IF_ERROR(
      context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const auto devices, trace.Devices());
        for (const schema::DeviceRow& device : devices) {
          const auto peak = PeakOf(device.name);
          const double link = peak ? peak->link_gb_per_s : 0;
          const auto [known, is_new] = links.emplace(rank.rank, link);
          if (!is_new) known->second = std::min(known->second, link);
        }
        return OkStatus();
      }));
  return links;
}

// Of a group that is on one machine, if its GPUs are of one known product with links.
std::optional<double> LinkOf(const FindingFacts& facts, const std::map<int64_t, double>& links,
                             const Group& group) {
  if (group.row.backend != "nccl" || group.ranks.size() < 2) return std::nullopt;
  std::set<std::string> hosts;
  std::set<double> of_group;
  for (const schema::RankRow& rank : facts.ranks) {
    if (!group.ranks.contains(rank.rank)) continue;
    hosts.insert(rank.host + " " + rank.boot_id.value_or(""));
    const auto link = links.find(rank.rank);
    of_group.insert(link == links.end() ? 0 : link->second);
  }
  const bool is_known = hosts.size() == 1 && of_group.size() == 1 && *of_group.begin() > 0;
  return is_known ? std::optional(*of_group.begin()) : std::nullopt;
}

// In its best tenth, where that is more than it usually reaches by so much as is told.
std::optional<double> OwnBest(const Group& group) {
  std::vector<double> own = group.busbws;
  if (own.size() < kFewestOwn) return std::nullopt;
  const double best = LowerNearestRank(std::span<double>(own), kBestPermille);
  return group.busbw < kLow * best ? std::optional(best) : std::nullopt;
}

std::optional<double> BandwidthOfPeers(const Groups& groups, const Group& group) {
  std::vector<double> peers;
  for (const auto& [id, other] : groups) {
    const bool is_alike = other.row.id != group.row.id && other.row.backend == group.row.backend &&
                          other.row.size == group.row.size;
    if (is_alike) peers.push_back(other.busbw);
  }
  if (peers.size() < kFewestPeers) return std::nullopt;
  return LowerNearestRank(std::span<double>(peers), 500);
}

Status SetReferences(RunContext& context, const FindingFacts& facts, Groups& groups) {
  std::map<int64_t, double> links;
  if (facts.OnGpus()) {
    TUTTI_ASSIGN_OR_RETURN(links, ReadLinks(context));
  }
  for (auto& [id, group] : groups) {
    if (const auto best = OwnBest(group)) {
      group.reference = *best;
      group.why = "what they reach in one of ten";
    } else if (const auto peers = BandwidthOfPeers(groups, group)) {
      group.reference = *peers;
      group.why = "what the groups like it reach";
    } else if (const auto link = LinkOf(facts, links, group)) {
      group.reference = *link * kReachable;
      group.why = "three quarters of the GPUs' link";
      group.is_data_sheet = true;
    }
  }
  return OkStatus();
}

std::string Gb(double gb_per_s) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g GB/s", gb_per_s);
  return text;
}

Status FindLowBandwidth(RunContext& context, const FindingFacts& facts,
                        std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(
      const auto collectives,
      context.Read<schema::CollectiveRow>(
          "WHERE state = 'complete' AND bytes >= ?1 AND transfer_ns > 0 AND is_bw_raw = 0"
          " AND busbw_gb_per_s > 0 AND communicator_id IS NOT NULL ORDER BY id",
          kLargeBytes));
  // Communication that is late for another reason is told as that.
  if (collectives.empty() || IsClaimed(drafts, "exposed_comm_transfer")) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(Groups groups, ReadGroups(context, collectives));
  TUTTI_RETURN_IF_ERROR(SetReferences(context, facts, groups));
  const std::map<int64_t, size_t> places = facts.counted.Places();
  for (const auto& [id, group] : groups) {
    if (!group.reference || group.busbw >= kLow * *group.reference) continue;
    std::vector<double> per_step(places.size(), 0);
    int64_t first_id = -1;
    for (const schema::CollectiveRow& row : collectives) {
      if (*row.communicator_id != id || !row.step || !places.contains(*row.step)) continue;
      if (first_id < 0) first_id = row.id;
      const double lost = std::max(0.0, 1 - *row.busbw_gb_per_s / *group.reference);
      per_step[places.at(*row.step)] += static_cast<double>(*row.transfer_ns) * lost;
    }
    const auto exposed = [&](const schema::StepBreakdownRow& parts) {
      return group.ranks.contains(parts.rank) ? parts.exposed_comm_transfer_ns : 0;
    };
    for (size_t i = 0; i < per_step.size(); ++i) {
      int64_t most_ns = 0;
      for (const auto& parts : facts.breakdown[i]) {
        if (parts) most_ns = std::max(most_ns, exposed(*parts));
      }
      per_step[i] = std::min(per_step[i], static_cast<double>(most_ns));
    }
    const CostOfSteps cost = CostOver(facts, per_step);
    // Of several groups the first is charged: they may wait for one another.
    if (!IsWorthwhile(facts, cost) || IsClaimed(drafts, "exposed_comm_transfer")) continue;
    FindingDraft draft = DraftOf(kKinds[0], facts, cost);
    draft.ranks.assign(group.ranks.begin(), group.ranks.end());
    draft.row.title = "collectives of 16 MiB and more among " + RankList(draft.ranks) + " move " +
                      Gb(group.busbw) + " on the bus, " + group.why + " is " + Gb(*group.reference);
    draft.row.cause = "exposed_comm_transfer";
    draft.row.advice = kKinds[0].advice;
    if (group.is_data_sheet) {
      if (draft.row.confidence == "high") draft.row.confidence = "medium";
      draft.row.reason += "; the reference is from a data sheet, the trace has none";
    }
    draft.evidence.push_back({0, 0, {}, "collective", first_id, {}, {}, "the first of them"});
    AddStepEvidence(facts, per_step, exposed, "of exposed transfer", draft);
    drafts.push_back(std::move(draft));
  }
  return OkStatus();
}

}  // namespace

extern const FindingRule kLowBandwidthRule;
const FindingRule kLowBandwidthRule{kKinds, FindLowBandwidth};

}  // namespace tutti::analyzer
