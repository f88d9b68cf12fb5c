#include "collector/live/step_follower.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tutti::collector::live {
namespace {

constexpr int64_t kHangFactor = 20;

std::string Milliseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f ms", static_cast<double>(ns) * 1e-6);
  return text;
}

RankSteps RankOf(const spool::ProcessChunk& process) {
  RankSteps rank;
  rank.rank = process.hello.rank >= 0 ? std::to_string(process.hello.rank)
                                      : "pid " + std::to_string(process.hello.pid);
  rank.host.assign(process.host, ::strnlen(process.host, sizeof(process.host)));
  return rank;
}

}  // namespace

StepFollower::Watched& StepFollower::WatchedOf(uint32_t index, const spool::ProcessChunk& process) {
  auto& watched = watched_[index];
  if (watched != nullptr) return *watched;
  watched = std::make_unique<Watched>();
  watched->rank = RankOf(process);
  watched->rank.steps = StepTimes(limits_.slow_factor);
  watched->first = clock::ReadClocks(process.clock_kind);
  Watched* const raw = watched.get();
  watched->scan = std::make_unique<convert::SpoolScan>(
      std::nullopt, [raw](int64_t number, uint64_t begin_ticks, uint64_t end_ticks) {
        // Two readings of our own tell how long a tick is; which is all that lengths need.
        const double ns_per_tick =
            static_cast<double>(raw->last.monotonic_raw_ns - raw->first.monotonic_raw_ns) /
            static_cast<double>(raw->last.ticks - raw->first.ticks);
        const auto at = [&](uint64_t ticks) {
          const auto ago = static_cast<double>(static_cast<int64_t>(raw->last.ticks - ticks));
          return raw->last.monotonic_raw_ns - static_cast<int64_t>(ago * ns_per_tick);
        };
        raw->rank.steps.Add(number, at(begin_ticks), at(end_ticks));
      });
  return *watched;
}

Status StepFollower::OpenFile(Watched& watched, const std::string& name) const {
  if (watched.name == name) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(spool::SpoolReader reader,
                         spool::SpoolReader::Open(spool_directory_, name));
  watched.reader = std::make_unique<spool::SpoolReader>(std::move(reader));
  watched.name = name;
  watched.scan->Restart();
  return OkStatus();
}

void StepFollower::Look(uint32_t index, const std::string& name, const spool::ProcessChunk& process,
                        uint64_t committed, uint64_t kept_bytes) {
  Watched& watched = WatchedOf(index, process);
  if (watched.scan == nullptr) return;        // it has ended
  if (!OpenFile(watched, name).ok()) return;  // it is looked at again next time
  watched.last = clock::ReadClocks(process.clock_kind);
  if (watched.last.ticks <= watched.first.ticks) return;
  (void)!watched.scan->Advance(*watched.reader, committed).ok();
  watched.rank.spooled_bytes = static_cast<int64_t>(kept_bytes);
  const auto inferred = watched.scan->inferred_rank();
  if (process.hello.rank < 0 && inferred) watched.rank.rank = std::to_string(inferred->rank);
}

void StepFollower::End(uint32_t index) {
  const auto found = watched_.find(index);
  if (found == watched_.end()) return;
  found->second->rank.running = false;
  found->second->scan.reset();
  found->second->reader.reset();
}

std::optional<Alarm> StepFollower::HangOf(uint32_t index, Watched& watched, int64_t raw_ns) const {
  const StepTimes& steps = watched.rank.steps;
  if (!watched.rank.running || steps.steps() < static_cast<int64_t>(StepTimes::kEnough)) return {};
  const int64_t since_ns = raw_ns - steps.last_end_ns();
  if (since_ns < std::max(limits_.hang_ns, kHangFactor * steps.MedianNs())) return {};
  if (std::exchange(watched.hang_said_of_ns, steps.last_end_ns()) == steps.last_end_ns()) return {};
  return Alarm{Alarm::Kind::kHang,
               index,
               watched.rank.rank,
               steps.last_number(),
               steps.MedianNs(),
               "rank " + watched.rank.rank + ": no step has ended for " +
                   std::to_string(since_ns / 1'000'000'000) + " s, the last was step " +
                   std::to_string(steps.last_number()) + "; the median is " +
                   Milliseconds(steps.MedianNs())};
}

std::vector<Alarm> StepFollower::TakeAlarms(int64_t raw_ns) {
  std::vector<Alarm> alarms;
  for (const auto& [index, watched] : watched_) {
    if (auto hang = HangOf(index, *watched, raw_ns)) alarms.push_back(*std::move(hang));
    const auto slow = watched->rank.steps.TakeSlow();
    if (!slow) continue;
    alarms.push_back(
        {Alarm::Kind::kSlowStep, index, watched->rank.rank, slow->number, slow->median_ns,
         "rank " + watched->rank.rank + ": step " + std::to_string(slow->number) + " took " +
             Milliseconds(slow->ns) + ", the median is " + Milliseconds(slow->median_ns)});
  }
  return alarms;
}

std::vector<const RankSteps*> StepFollower::ranks() const {
  std::vector<const RankSteps*> ranks;
  for (const auto& [index, watched] : watched_) ranks.push_back(&watched->rank);
  return ranks;
}

const StepTimes* StepFollower::StepsOf(uint32_t index) const {
  const auto found = watched_.find(index);
  return found == watched_.end() ? nullptr : &found->second->rank.steps;
}

}  // namespace tutti::collector::live
