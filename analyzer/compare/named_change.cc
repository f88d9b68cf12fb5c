#include "analyzer/compare/named_change.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyzer/compare/verdict.h"

namespace tutti::analyzer::compare {
namespace {

NamedTime TimeIn(const Launch& launch, const NameKey& key) {
  const auto found = launch.names.find(key);
  return found == launch.names.end() ? NamedTime{} : found->second;
}

// A name's values in one arm.
struct ArmTimes {
  std::vector<double> ns;
  NamedTime mean;
  size_t launches_with_it = 0;
};

ArmTimes TimesIn(std::span<const Launch> launches, const NameKey& key) {
  ArmTimes times;
  const auto count = static_cast<double>(launches.size());
  for (const Launch& launch : launches) {
    const NamedTime time = TimeIn(launch, key);
    times.ns.push_back(time.ns_per_step);
    times.mean.ns_per_step += time.ns_per_step / count;
    times.mean.count_per_step += time.count_per_step / count;
    times.launches_with_it += launch.names.contains(key) ? 1 : 0;
  }
  return times;
}

std::set<std::string> WordsOf(const std::string& name) {
  std::set<std::string> words;
  std::string word;
  for (const char c : name + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, ""));
    }
  }
  return words;
}

// Shared words over all words, 0 to 1.
double Likeness(const std::string& a, const std::string& b) {
  const std::set<std::string> words_a = WordsOf(a);
  const std::set<std::string> words_b = WordsOf(b);
  const auto shared = static_cast<double>(
      std::ranges::count_if(words_a, [&](const auto& word) { return words_b.contains(word); }));
  const auto all = static_cast<double>(words_a.size() + words_b.size()) - shared;
  return all == 0 ? 0 : shared / all;
}

// As often a step, about as long a call, and half of its words.
bool LooksRenamed(const NamedChange& gone, const NamedChange& added) {
  if (gone.kind != added.kind) return false;
  const double counts = added.now.count_per_step / gone.base.count_per_step;
  const double times = added.now.ns_per_step / std::max(gone.base.ns_per_step, 1.0);
  return std::abs(counts - 1) < 0.05 && times > 0.5 && times < 2 &&
         Likeness(gone.name, added.name) >= 0.5;
}

void MarkRenamed(std::vector<NamedChange>& changes) {
  for (NamedChange& added : changes) {
    if (added.presence != Presence::kNew) continue;
    NamedChange* best = nullptr;
    for (NamedChange& gone : changes) {
      if (gone.presence != Presence::kVanished || !LooksRenamed(gone, added)) continue;
      if (best == nullptr || Likeness(gone.name, added.name) > Likeness(best->name, added.name)) {
        best = &gone;
      }
    }
    if (best == nullptr) continue;
    added.presence = Presence::kRenamed;
    added.old_name = best->name;
    added.base = best->base;
    best->presence = Presence::kRenamed;
    best->kind.clear();  // told by the other one
  }
  std::erase_if(changes, [](const NamedChange& change) { return change.kind.empty(); });
}

NamedChange CompareName(std::span<const Launch> base, std::span<const Launch> fresh,
                        const NameKey& key) {
  const ArmTimes old_times = TimesIn(base, key);
  const ArmTimes new_times = TimesIn(fresh, key);
  NamedChange change;
  change.kind = key.first;
  change.name = key.second;
  change.base = old_times.mean;
  change.now = new_times.mean;
  if (old_times.launches_with_it == 0 && new_times.launches_with_it == fresh.size()) {
    change.presence = Presence::kNew;
  } else if (new_times.launches_with_it == 0 && old_times.launches_with_it == base.size()) {
    change.presence = Presence::kVanished;
  }
  return change;
}

// Tests the change of each name's time, with the old name's where it was renamed.
void TestAll(std::span<const Launch> base, std::span<const Launch> fresh, bool paired,
             double base_step_ns, std::vector<NamedChange>& changes) {
  std::vector<double> p;
  std::vector<NamedChange*> tested;
  for (NamedChange& change : changes) {
    const std::string& old_name = change.old_name.empty() ? change.name : change.old_name;
    std::vector<double> old_shares = TimesIn(base, {change.kind, old_name}).ns;
    std::vector<double> new_shares = TimesIn(fresh, {change.kind, change.name}).ns;
    for (double& ns : old_shares) ns /= base_step_ns;
    for (double& ns : new_shares) ns /= base_step_ns;
    change.estimate = EstimateDifference(old_shares, new_shares, paired, /*permute=*/false);
    if (!change.estimate) continue;
    p.push_back(std::min(1.0, 2 * std::min(change.estimate->p_up, change.estimate->p_down)));
    tested.push_back(&change);
  }
  const std::vector<double> q = BenjaminiHochberg(p);
  for (size_t i = 0; i < tested.size(); ++i) tested[i]->q = q[i];
}

}  // namespace

std::vector<NamedChange> CompareNames(std::span<const Launch> base, std::span<const Launch> fresh,
                                      bool paired, double base_step_ns, const NamedRule& rule) {
  std::set<NameKey> keys;
  for (const std::span<const Launch> arm : {base, fresh}) {
    for (const Launch& launch : arm) {
      for (const auto& [key, time] : launch.names) keys.insert(key);
    }
  }
  std::vector<NamedChange> changes;
  changes.reserve(keys.size());
  for (const NameKey& key : keys) changes.push_back(CompareName(base, fresh, key));
  MarkRenamed(changes);
  TestAll(base, fresh, paired, base_step_ns, changes);
  for (NamedChange& change : changes) {
    const double share = std::abs(change.change_ns()) / base_step_ns;
    change.listed = change.estimate
                        ? change.q < rule.false_discovery_rate && share >= rule.min_share
                        : share >= rule.min_untested_share;
  }
  std::ranges::stable_sort(changes, [](const NamedChange& a, const NamedChange& b) {
    return std::abs(a.change_ns()) > std::abs(b.change_ns());
  });
  return changes;
}

}  // namespace tutti::analyzer::compare
