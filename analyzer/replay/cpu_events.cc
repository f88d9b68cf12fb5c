#include "analyzer/replay/cpu_events.h"

#include <algorithm>
#include <unordered_map>

#include "analyzer/replay/call_sources.h"

namespace tutti::analyzer {
namespace {

struct Call {
  Interval time;
  std::optional<int64_t> enqueue_ns;
  int64_t tid = 0;
  CallEvents events;
};

Result<std::vector<Call>> AddCalls(const RankSource& source, Interval range, RankLabels& labels) {
  TUTTI_ASSIGN_OR_RETURN(const CallSources sources, CallSources::Read(source.trace));
  std::vector<Call> calls;
  for (const ReplayCall& call : source.calls) {
    const CollectiveEvent* const event = sources.Find(call.source_id);
    if (event == nullptr) continue;
    if (call.time.begin_ns < range.begin_ns || call.time.begin_ns >= range.end_ns) continue;
    Call added{call.time, call.enqueue_ns, event->row.tid.value_or(0), {}};
    const uint32_t step = labels.StepByHost(call.enqueue_ns.value_or(call.time.begin_ns));
    added.events.collective_id = call.collective_id;
    added.events.begin = labels.AddEvent(call.time.begin_ns, step);
    added.events.end = labels.AddEvent(call.time.end_ns, step);
    added.events.rank = labels.place();
    added.events.name = labels.Intern(Describe(*event));
    added.events.is_root = sources.IsRoot(*event);
    calls.push_back(added);
  }
  return calls;
}

// A call begins when it was handed in and its thread is done with the one before. Sends and
// receives go on by themselves: their thread hands in the next meanwhile.
void LinkCalls(std::vector<Call>& calls, const std::vector<ItemEvents>& items, RankLabels& labels) {
  std::sort(calls.begin(), calls.end(),
            [](const Call& a, const Call& b) { return a.time.begin_ns < b.time.begin_ns; });
  std::unordered_map<int64_t, const Call*> last_of_thread;
  for (const Call& call : calls) {
    const Call*& last = last_of_thread[call.tid];
    if (last != nullptr) {
      const bool is_done = last->time.end_ns <= call.time.begin_ns;
      labels.AddEdge(call.events.begin, is_done ? last->events.end : last->events.begin, 0,
                     TimeKind::kLaunch);
    }
    last = &call;
    if (!call.enqueue_ns) continue;
    auto after = std::upper_bound(
        items.begin(), items.end(), *call.enqueue_ns,
        [](int64_t t, const ItemEvents& item) { return t < item.item.time.begin_ns; });
    while (after != items.begin() && std::prev(after)->item.kind == HostItem::Kind::kStepEnd) {
      --after;  // nothing runs in it
    }
    if (after == items.begin()) continue;
    const ItemEvents& item = *std::prev(after);
    const bool is_inside = *call.enqueue_ns < item.item.time.end_ns;
    const int64_t from_ns = is_inside ? item.item.time.begin_ns : item.item.time.end_ns;
    labels.AddEdge(call.events.begin, is_inside ? item.begin : item.end, *call.enqueue_ns - from_ns,
                   TimeKind::kLaunch);
  }
}

// A thread that waited goes on as soon as the collective's result is there; Gloo's thread, from
// which it may take the core, notes the end only then. So much later than the end of a wait, as a
// share of it, a collective may be said to have ended that was waited for: what takes longer is
// still under way.
constexpr int64_t kLateEndShare = 10;  // a tenth

// Collectives that have ended and that the thread has not waited for, as it goes on.
class EndedCalls {
 public:
  explicit EndedCalls(std::vector<Call>& calls) : calls_(calls) {
    std::sort(calls_.begin(), calls_.end(),
              [](const Call& a, const Call& b) { return a.time.end_ns < b.time.end_ns; });
  }

  // How long after the last of them ended inside `pause` it went on; nothing if it did not
  // wait in it.
  std::optional<int64_t> AfterWait(Interval pause) {
    while (next_ < calls_.size() && calls_[next_].time.end_ns <= pause.end_ns) ++next_;
    const bool has_waited = next_ > first_ && IsWait(pause, calls_[next_ - 1].time.end_ns);
    if (has_waited) return pause.end_ns - calls_[next_ - 1].time.end_ns;
    if (next_ == calls_.size() || !EndsLate(calls_[next_], pause)) return std::nullopt;
    ++next_;
    return 0;
  }

  // How long of `exchange` is not spent waiting for what it handed in; nothing if that has not
  // ended in it, or hardly later.
  std::optional<int64_t> BesideWait(Interval exchange) {
    while (next_ < calls_.size() && calls_[next_].time.end_ns <= exchange.end_ns) ++next_;
    if (next_ < calls_.size() && HandedInBy(exchange, calls_[next_]) &&
        EndsLate(calls_[next_], {EnqueueNs(calls_[next_]), exchange.end_ns})) {
      ++next_;
    }
    if (next_ == first_ || !HandedInBy(exchange, calls_[next_ - 1])) return std::nullopt;
    const Call& last = calls_[next_ - 1];
    return EnqueueNs(last) - exchange.begin_ns +
           std::max<int64_t>(exchange.end_ns - last.time.end_ns, 0);
  }

  // `event` waits for all of them.
  void Wait(EventGraph::Id event, TimeKind kind, RankLabels& labels) {
    for (; first_ < next_; ++first_) labels.AddEdge(event, calls_[first_].events.end, 0, kind);
  }

 private:
  static bool IsWait(Interval pause, int64_t ended_ns) {
    return ended_ns - pause.begin_ns > pause.end_ns - ended_ns;
  }

  static int64_t EnqueueNs(const Call& call) {
    return call.enqueue_ns.value_or(call.time.begin_ns);
  }

  static bool HandedInBy(Interval exchange, const Call& call) {
    return EnqueueNs(call) >= exchange.begin_ns && EnqueueNs(call) < exchange.end_ns;
  }

  static bool EndsLate(const Call& call, Interval pause) {
    const int64_t late_ns = call.time.end_ns - pause.end_ns;
    return EnqueueNs(call) <= pause.begin_ns && late_ns <= pause.length_ns() / kLateEndShare;
  }

  std::vector<Call>& calls_;
  size_t first_ = 0;  // not waited for yet
  size_t next_ = 0;   // not ended yet
};

// While a call hands a collective in, Gloo's thread, which shares its cores, may already run
// it and hold the call up: then its time is the collective's.
TimeKind KindOfItem(const HostItem& item, const IntervalSet& communication) {
  if (item.kind != HostItem::Kind::kHandOver) return KindOf(item.kind);
  const int64_t during_ns = TotalNs(Clip(communication, item.time));
  return 2 * during_ns > item.time.length_ns() ? TimeKind::kTransfer : TimeKind::kHost;
}

IntervalSet TimesOf(const std::vector<Call>& calls) {
  std::vector<Interval> times;
  for (const Call& call : calls) times.push_back(call.time);
  SortByBegin(times);
  return Union(times);
}

void LinkWaits(std::vector<Call>& calls, const std::vector<ItemEvents>& items, RankLabels& labels) {
  const IntervalSet communication = TimesOf(calls);
  EndedCalls ended(calls);
  std::vector<int64_t> own_gap_ns(items.size(), 0);
  int64_t free_ns = items.empty() ? 0 : items[0].item.time.begin_ns;
  for (size_t i = 0; i < items.size(); ++i) {
    const Interval time = items[i].item.time;
    own_gap_ns[i] = std::max<int64_t>(time.begin_ns - free_ns, 0);
    if (own_gap_ns[i] > 0) {
      if (const auto rest = ended.AfterWait({free_ns, time.begin_ns})) {
        own_gap_ns[i] = *rest;
        ended.Wait(items[i].begin, TimeKind::kHost, labels);
      }
    }
    int64_t own_ns = time.length_ns();
    if (items[i].item.kind == HostItem::Kind::kBlocked) {
      if (const auto rest = ended.AfterWait(time)) {
        own_ns = *rest;
        ended.Wait(items[i].end, TimeKind::kSync, labels);
      }
    }
    if (items[i].item.kind == HostItem::Kind::kExchange) {
      if (const auto rest = ended.BesideWait(time)) {
        own_ns = *rest;
        ended.Wait(items[i].end, TimeKind::kHost, labels);
      }
    }
    LinkDuration(items[i], own_ns, KindOfItem(items[i].item, communication), labels);
    free_ns = std::max(free_ns, time.end_ns);
  }
  LinkItems(items, own_gap_ns, labels);
}

}  // namespace

Status AddCpuEvents(const RankSource& source, Interval range, const HostTrack& track,
                    RankLabels& labels, std::vector<CallEvents>& calls) {
  const std::vector<ItemEvents> items = AddItems(track, labels);
  TUTTI_ASSIGN_OR_RETURN(std::vector<Call> own, AddCalls(source, range, labels));
  LinkCalls(own, items, labels);
  LinkWaits(own, items, labels);
  for (const Call& call : own) calls.push_back(call.events);
  return OkStatus();
}

}  // namespace tutti::analyzer
