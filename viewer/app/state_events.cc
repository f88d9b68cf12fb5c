// A state's selected event and range: what they are and what belongs to them.
#include <algorithm>

#include "viewer/app/state.h"
#include "viewer/model/clocks.h"

namespace tutti::viewer {

std::optional<Event> State::selected_event() const {
  return selected_.has_value() ? EventAt(ranks_, *selected_) : std::nullopt;
}

void State::Select(const EventRef& ref) {
  if (!EventAt(ranks_, ref).has_value()) return;
  selected_ = ref;
  scene_is_stale_ = true;  // it says how exact the selected event's time is
  next_link_ = 0;
  const Event event = *EventAt(ranks_, ref);
  if (event.source == Source::kCollective) {
    const Collective* found =
        summary().FindCollective(summary().ranks[ref.rank].rank, event.row_id);
    if (found != nullptr) collective = found->row.id;
  }
}

void State::GoTo(const EventRef& ref) {
  const std::optional<Event> event = EventAt(ranks_, ref);
  if (!event.has_value()) return;
  Select(ref);
  const int64_t span = Goal().span_ns();
  const int64_t duration = event->end_ns - event->begin_ns;
  const bool is_on_screen = event->begin_ns >= Goal().begin_ns && event->end_ns <= Goal().end_ns;
  const bool is_tiny = static_cast<double>(duration) < 2 * Goal().ns_per_px();
  if (!is_on_screen || is_tiny) {
    // Keeps the zoom if the event can be made out at it.
    const int64_t wanted = is_tiny               ? std::max<int64_t>(duration * 40, 2'000)
                           : duration > span / 2 ? duration * 2
                                                 : span;
    const int64_t middle = event->begin_ns + duration / 2;
    Show(middle - wanted / 2, middle + wanted / 2);
  }
  BringRowOnScreen(ref);
}

void State::ZoomToSelected() {
  const std::optional<Event> event = selected_event();
  if (!event.has_value()) return;
  const int64_t margin = std::max<int64_t>((event->end_ns - event->begin_ns) / 4, 10);
  Show(event->begin_ns - margin, event->end_ns + margin);
}

void State::SelectNext(int direction) {
  if (!selected_.has_value()) return;
  if (const auto next = NextInLane(ranks_, *selected_, direction)) GoTo(*next);
}

void State::SelectNextOfName(int direction) {
  if (!selected_.has_value()) return;
  if (const auto next = NextOfSameName(ranks_, *selected_, direction)) GoTo(*next);
}

void State::FollowLink(int direction) {
  const std::vector<Link>& all = links();
  if (all.empty()) return;
  const size_t count = all.size();
  const size_t at = direction > 0 ? 0 : count - 1;
  GoTo(EventRef(all[at].event));
}

void State::Deselect() {
  selected_.reset();
  range_.reset();
  scene_is_stale_ = true;
}

std::vector<EventRef> State::SelectedAndLinked() {
  std::vector<EventRef> events;
  if (!selected_.has_value()) return events;
  events.push_back(*selected_);
  if (!ClockErrorNs(summary(), selected_->rank).has_value()) return events;
  for (const Link& link : links()) events.push_back(link.event);
  return events;
}

const Details& State::details() {
  if (selected_ != details_of_) {
    details_of_ = selected_;
    details_ = Details();
    if (selected_.has_value()) {
      auto read = reader_.Read(ranks_, *selected_);
      if (read.ok()) {
        details_ = std::move(*read);
      } else {
        details_.columns.emplace_back("not available", read.status().message());
      }
    }
  }
  return details_;
}

const std::vector<Link>& State::links() {
  if (selected_ != links_of_ || !links_of_.has_value()) {
    links_of_ = selected_;
    links_ = selected_.has_value() ? reader_.FindLinks(ranks_, *selected_) : std::vector<Link>();
  }
  return links_;
}

const NameDurations& State::DurationsOf(const Event& event) {
  const auto [found, is_new] = durations_.try_emplace({event.name, event.source});
  if (is_new) found->second = CollectDurations(ranks_, event.name, event.source);
  return found->second;
}

void State::SelectRange(int64_t begin_ns, int64_t end_ns) {
  range_ = {std::min(begin_ns, end_ns), std::max(begin_ns, end_ns)};
  Raise(Panel::kRange);
}

const RangeTotals& State::range_totals() {
  if (range_ != totals_of_ || !totals_of_.has_value()) {
    totals_of_ = range_;
    totals_ = RangeTotals();
    if (range_.has_value()) {
      totals_ = SumRange(ranks_, range_->begin_ns, range_->end_ns,
                         [](const EventRef&, const Track&) { return true; });
    }
  }
  return totals_;
}

}  // namespace tutti::viewer
