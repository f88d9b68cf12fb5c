#include "viewer/app/state.h"

#include <algorithm>
#include <charconv>

namespace tutti::viewer {
namespace {

constexpr size_t kMostPlaces = 200;  // to come back to
constexpr size_t kMostHitsALane = 20'000;

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

State::State(std::unique_ptr<Session> session)
    : session_(std::move(session)), reader_(session_->summary()) {
  ranks_.resize(summary().ranks.size());
  Update();
}

void State::WaitUntilLoaded() {
  session_->WaitUntilComplete();
  Update();
}

void State::Update() {
  const size_t loaded = session_->loaded();
  if (loaded == loaded_) return;
  loaded_ = loaded;
  ranks_ = session_->Ranks();
  durations_.clear();
  totals_of_.reset();
  links_of_.reset();
  if (!search_.text.empty()) Search(search_.text);
  InvalidateRows();
  UpdateExtent();
  if (!was_moved_) {
    viewport_ = viewport_.Over(extent_.begin_ns, extent_.end_ns)
                    .KeptInside(extent_.begin_ns, extent_.end_ns);
  }
}

void State::UpdateExtent() {
  extent_ = {summary().begin_ns, summary().end_ns};
  if (!summary().steps.empty()) {
    extent_ = {summary().steps.front().begin_ns, summary().steps.back().end_ns};
  }
  bool is_first = true;
  ForEachLane(ranks_, [&](const EventRef& ref, const Lane& lane) {
    // A first step that was inferred may begin long before anything happens.
    if (ranks_[ref.rank]->tracks[ref.track].kind == TrackKind::kSteps) return;
    const int64_t begin = lane.begin_ns(0);
    const int64_t end = lane.end_ns(lane.size() - 1);
    extent_.begin_ns = is_first ? begin : std::min(extent_.begin_ns, begin);
    extent_.end_ns = is_first ? end : std::max(extent_.end_ns, end);
    is_first = false;
  });
  extent_.end_ns = std::max(extent_.end_ns, extent_.begin_ns + Viewport::kShortestNs);
}

void State::InvalidateRows() {
  tree_is_stale_ = true;
  scene_is_stale_ = true;
}

void State::SetSize(int width_px, float height_px) {
  width_px = std::max(width_px, 16);
  if (width_px == viewport_.width_px && height_px == height_px_) return;
  viewport_.width_px = width_px;
  height_px_ = height_px;
  scene_is_stale_ = true;
}

void State::Remember() {
  undo_.push_back({{viewport_.begin_ns, viewport_.end_ns}, scroll_y_});
  if (undo_.size() > kMostPlaces) undo_.erase(undo_.begin());
  redo_.clear();
}

void State::Apply(const Place& place) {
  viewport_.begin_ns = place.range.begin_ns;
  viewport_.end_ns = place.range.end_ns;
  scroll_y_ = place.scroll_y;
  scene_is_stale_ = true;
}

void State::Show(int64_t begin_ns, int64_t end_ns, bool is_small) {
  const Viewport next =
      viewport_.Over(begin_ns, end_ns).KeptInside(extent_.begin_ns, extent_.end_ns);
  if (next == viewport_) return;
  was_moved_ = true;
  if (!is_small) Remember();
  viewport_ = next;
  scene_is_stale_ = true;
}

void State::ShowWhole() { Show(extent_.begin_ns, extent_.end_ns); }

void State::ZoomAt(double x, double factor) {
  const Viewport next = viewport_.ZoomedAt(x, factor);
  Show(next.begin_ns, next.end_ns, true);
}

void State::PanBy(double pixels) {
  const Viewport next = viewport_.PannedBy(pixels);
  Show(next.begin_ns, next.end_ns, true);
}

void State::ScrollTo(float y) {
  const float most = std::max(0.0F, scene().total_height - height_px_ + scene().pinned_height);
  y = std::clamp(y, 0.0F, most);
  if (y == scroll_y_) return;
  scroll_y_ = y;
  scene_is_stale_ = true;
}

bool State::Undo() {
  if (undo_.empty()) return false;
  redo_.push_back({{viewport_.begin_ns, viewport_.end_ns}, scroll_y_});
  Apply(undo_.back());
  undo_.pop_back();
  return true;
}

bool State::Redo() {
  if (redo_.empty()) return false;
  undo_.push_back({{viewport_.begin_ns, viewport_.end_ns}, scroll_y_});
  Apply(redo_.back());
  redo_.pop_back();
  return true;
}

const RowTree& State::tree() {
  if (tree_is_stale_) {
    tree_ = BuildRows(summary(), ranks_, choices_);
    tree_is_stale_ = false;
    scene_is_stale_ = true;
  }
  return tree_;
}

const Scene& State::scene() {
  const RowTree& rows = tree();
  if (scene_is_stale_) {
    scene_ = BuildScene(summary(), ranks_, rows, {viewport_, scroll_y_, height_px_});
    scene_is_stale_ = false;
    ++scenes_built_;
  }
  return scene_;
}

void State::ToggleOpen(const std::string& row_key) {
  if (choices_.flipped.erase(row_key) == 0) choices_.flipped.insert(row_key);
  InvalidateRows();
}

void State::ToggleDeep(const std::string& row_key) {
  if (choices_.deep.erase(row_key) == 0) choices_.deep.insert(row_key);
  InvalidateRows();
}

void State::TogglePin(const std::string& row_key) {
  if (std::erase(choices_.pinned, row_key) == 0) choices_.pinned.push_back(row_key);
  InvalidateRows();
}

void State::Hide(const std::string& row_key) {
  choices_.hidden.insert(row_key);
  InvalidateRows();
}

void State::ShowHidden() {
  choices_.hidden.clear();
  InvalidateRows();
}

void State::Filter(const std::string& text) {
  if (text == choices_.filter) return;
  choices_.filter = text;
  scroll_y_ = 0;
  InvalidateRows();
}

std::optional<Event> State::selected_event() const {
  return selected_.has_value() ? EventAt(ranks_, *selected_) : std::nullopt;
}

void State::Select(const EventRef& ref) {
  if (!EventAt(ranks_, ref).has_value()) return;
  selected_ = ref;
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
  const int64_t span = viewport_.span_ns();
  const int64_t duration = event->end_ns - event->begin_ns;
  const bool is_on_screen =
      event->begin_ns >= viewport_.begin_ns && event->end_ns <= viewport_.end_ns;
  const bool is_tiny = static_cast<double>(duration) < 2 * viewport_.ns_per_px();
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

void State::BringRowOnScreen(const EventRef& ref) {
  Reveal(summary(), ranks_, ref, &choices_);
  InvalidateRows();
  float y = 0;
  for (const Row& row : tree().rows) {
    if (row.rank == ref.rank && row.track == ref.track) {
      const float lane_y = y + kLaneHeight * static_cast<float>(ref.lane);
      const float visible = height_px_ - scene().pinned_height;
      if (lane_y < scroll_y_ || lane_y + kLaneHeight > scroll_y_ + visible) {
        ScrollTo(lane_y - visible / 3);
      }
      return;
    }
    y += row.height;
  }
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

void State::GoToStep(int64_t step, std::optional<int64_t> rank) {
  if (step < 0 || step >= static_cast<int64_t>(summary().steps.size())) return;
  const schema::RunStepRow& row = summary().steps[static_cast<size_t>(step)];
  TimeRange range{row.begin_ns, row.end_ns};
  if (rank.has_value()) {
    if (const schema::StepWindowRow* window = summary().FindWindow(*rank, step)) {
      range = {window->begin_ns, window->end_ns};
    }
  }
  const int64_t margin = (range.end_ns - range.begin_ns) / 20;
  Show(range.begin_ns - margin, range.end_ns + margin);
  const std::optional<size_t> slot = rank.has_value() ? summary().SlotOf(*rank) : std::nullopt;
  if (!slot.has_value() || ranks_[*slot] == nullptr) return;
  float y = 0;
  for (const Row& candidate : tree().rows) {
    if (candidate.kind == RowKind::kRank && candidate.rank == *slot) {
      if (!candidate.is_open) ToggleOpen(candidate.key);
      ScrollTo(y);
      return;
    }
    y += candidate.height;
  }
}

std::optional<int64_t> State::CurrentStep() const {
  std::optional<int64_t> best;
  int64_t most_ns = 0;
  for (const schema::RunStepRow& step : summary().steps) {
    const int64_t inside =
        std::min(step.end_ns, viewport_.end_ns) - std::max(step.begin_ns, viewport_.begin_ns);
    if (inside > most_ns) {
      most_ns = inside;
      best = step.step;
    }
  }
  return best;
}

void State::GoToNextStep(int direction) {
  const std::optional<int64_t> current = CurrentStep();
  if (!current.has_value()) return;
  const int64_t next = *current + direction;
  if (next < 0 || next >= static_cast<int64_t>(summary().steps.size())) return;
  // The same zoom and the same place in the step, unless more than a step is on screen.
  const auto& from = summary().steps[static_cast<size_t>(*current)];
  const auto& to = summary().steps[static_cast<size_t>(next)];
  if (viewport_.span_ns() > 2 * (from.end_ns - from.begin_ns)) return GoToStep(next, {});
  const int64_t shift = to.begin_ns - from.begin_ns;
  Show(viewport_.begin_ns + shift, viewport_.end_ns + shift);
}

void State::GoToNextRank(int direction) {
  float y = 0;
  std::optional<float> above;
  for (const Row& row : tree().rows) {
    if (row.kind == RowKind::kRank) {
      if (direction > 0 && y > scroll_y_ + 1) return ScrollTo(y);
      if (y < scroll_y_ - 1) above = y;
    }
    y += row.height;
  }
  if (direction < 0) ScrollTo(above.value_or(0));
}

void State::ToggleMark(int64_t time_ns) {
  const auto near = static_cast<int64_t>(4 * viewport_.ns_per_px());
  if (std::erase_if(marks, [&](int64_t t) { return std::abs(t - time_ns) <= near; }) > 0) return;
  marks.insert(std::lower_bound(marks.begin(), marks.end(), time_ns), time_ns);
}

void State::Search(const std::string& text) {
  SearchState next;
  next.text = text;
  if (!text.empty()) {
    const Result<NameFilter> filter = NameFilter::Parse(text);
    if (filter.ok()) {
      next.result = viewer::Search(ranks_, session_->names(), *filter, kMostHitsALane);
    } else {
      next.error = filter.status().message();
    }
    if (text != search_.text) Raise(Panel::kSearch);
  }
  search_ = std::move(next);
}

void State::GoToHit(int direction) {
  const std::vector<EventRef>& hits = search_.result.hits;
  if (hits.empty()) return;
  if (!search_.current.has_value()) {
    // The first one on screen.
    const auto first = std::find_if(hits.begin(), hits.end(), [&](const EventRef& ref) {
      return EventAt(ranks_, ref)->begin_ns >= viewport_.begin_ns;
    });
    search_.current = first == hits.end() ? 0 : static_cast<size_t>(first - hits.begin());
  } else if (direction > 0) {
    search_.current = (*search_.current + 1) % hits.size();
  } else {
    search_.current = (*search_.current + hits.size() - 1) % hits.size();
  }
  GoTo(EventRef(hits[*search_.current]));
}

void State::GoToCollective(int64_t id, int64_t rank) {
  collective = id;
  const std::optional<size_t> slot = summary().SlotOf(rank);
  if (!slot.has_value()) return;
  for (const Collective& candidate : summary().collectives) {
    if (candidate.row.id != id) continue;
    for (const schema::CollectiveCallRow& call : candidate.calls) {
      if (call.rank != rank) continue;
      const auto ref = FindRow(ranks_, static_cast<uint32_t>(*slot), Source::kCollective,
                               static_cast<uint32_t>(call.source_id));
      if (ref.has_value()) GoTo(*ref);
    }
  }
}

void State::GoToFinding(size_t index, size_t evidence) {
  if (index >= summary().findings.size()) return;
  finding = index;
  const Finding& found = summary().findings[index];
  if (evidence >= found.evidence.size()) {
    if (!found.ranks.empty() && found.row.first_step.has_value()) {
      GoToStep(*found.row.first_step, found.ranks.front());
    }
    return;
  }
  const schema::FindingEvidenceRow& row = found.evidence[evidence];
  if (row.rank.has_value() && row.source == "step_breakdown" && row.row_id.has_value()) {
    return GoToStep(*row.row_id, row.rank);
  }
  if (row.begin_ns.has_value()) {
    const int64_t end = row.end_ns.value_or(*row.begin_ns + 1);
    const int64_t margin = std::max<int64_t>((end - *row.begin_ns) / 4, 1'000);
    Show(*row.begin_ns - margin, end + margin);
    range_ = {*row.begin_ns, end};
  }
  if (row.source == "collective" && row.row_id.has_value()) collective = row.row_id;
  const std::optional<size_t> slot = row.rank ? summary().SlotOf(*row.rank) : std::nullopt;
  if (!slot.has_value()) return;
  for (const Row& candidate : tree().rows) {
    if (candidate.kind == RowKind::kRank && candidate.rank == *slot && !candidate.is_open) {
      return ToggleOpen(std::string(candidate.key));
    }
  }
}

Status State::GoToPlace(const std::string& text) {
  const Status usage = UsageError(text + ": not a place; RANK:STEP or RANK:STEP:ROW is one");
  const size_t first = text.find(':');
  if (first == std::string::npos) return usage;
  const size_t second = text.find(':', first + 1);
  const auto rank = ParseNumber(std::string_view(text).substr(0, first));
  const auto number = ParseNumber(std::string_view(text).substr(
      first + 1, second == std::string::npos ? std::string::npos : second - first - 1));
  if (!rank.has_value() || !number.has_value()) return usage;
  const std::optional<size_t> slot = summary().SlotOf(*rank);
  if (!slot.has_value()) return NotFoundError("no rank " + std::to_string(*rank) + " in this run");
  const std::optional<int64_t> step = summary().StepNumbered(*number);
  if (!step.has_value())
    return NotFoundError("no step " + std::to_string(*number) + " in this run");
  GoToStep(*step, rank);
  if (second == std::string::npos) return OkStatus();
  const auto row = ParseNumber(std::string_view(text).substr(second + 1));
  if (!row.has_value()) return usage;
  for (const Source source : {Source::kKernel, Source::kCpuOp, Source::kRange}) {
    const auto ref =
        FindRow(ranks_, static_cast<uint32_t>(*slot), source, static_cast<uint32_t>(*row));
    if (ref.has_value()) {
      GoTo(*ref);
      return OkStatus();
    }
  }
  return NotFoundError("rank " + std::to_string(*rank) + " has no event in row " +
                       std::to_string(*row));
}

}  // namespace tutti::viewer
