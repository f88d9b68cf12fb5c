#include "viewer/app/state.h"

#include <algorithm>

#include "viewer/model/stragglers.h"
#include "viewer/scene/path.h"

namespace tutti::viewer {
namespace {

constexpr size_t kMostPlaces = 200;  // to come back to

}  // namespace

std::array<bool, kPanels> PanelsAtFirst() {
  std::array<bool, kPanels> shows = {};
  for (const Panel panel :
       {Panel::kFindings, Panel::kDetails, Panel::kHeatMap, Panel::kCollective, Panel::kEvents}) {
    shows[static_cast<size_t>(panel)] = true;
  }
  return shows;
}

State::State(std::unique_ptr<Session> session, ReplayOpener opener)
    : session_(std::move(session)), reader_(session_->summary()), replay_(std::move(opener)) {
  ranks_.resize(summary().ranks.size());
  Update();
}

void State::WaitUntilLoaded() {
  session_->WaitUntilComplete();
  Update();
}

void State::Update() {
  if (const size_t version = replay_.version(); version != replay_version_) {
    replay_version_ = version;
    TakePath();
    scene_is_stale_ = scene_is_stale_ || shows_path_;
  }
  const size_t loaded = session_->loaded();
  if (loaded == loaded_) return;
  loaded_ = loaded;
  ranks_ = session_->Ranks();
  durations_.clear();
  totals_of_.reset();
  links_of_.reset();
  if (const auto query = search_.durations) {
    SearchDurations(query->name, query->least_ns, query->most_ns);
  } else if (!search_.text.empty()) {
    Search(search_.text);
  }
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
    if (shows_path_) {
      scene_.path = MarkPath(path_, summary(), ranks_, session_->names(), scene_);
    }
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

void State::TogglePinnedStragglers() {
  const bool was_pinned = !choices_.badges.empty();
  for (const auto& [key, badge] : choices_.badges) std::erase(choices_.pinned, key);
  choices_.badges.clear();
  InvalidateRows();
  if (was_pinned) return;
  const std::optional<Stragglers> found = FindStragglers(summary());
  if (!found.has_value()) {
    message = "Fewer than two ranks have steps: none is slower than the others";
    return;
  }
  const auto pin = [&](size_t slot, const char* badge) {
    const std::string key = "r" + std::to_string(slot);
    if (!choices_.badges.emplace(key, badge).second) return;
    std::erase(choices_.pinned, key);
    choices_.pinned.push_back(key);
  };
  pin(found->slowest, "slowest");
  pin(found->median, "median");
  pin(found->fastest, "fastest");
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

// Where two runs share the axis, the path is that of run A.
void State::TakePath() {
  const auto facts = replay_.facts();
  if (facts == nullptr || !path_.empty()) return;
  path_ = facts->path;
  for (PathPiece& piece : path_) {
    const int64_t length = piece.end_ns - piece.begin_ns;
    piece.begin_ns = summary().times_a(piece.begin_ns);
    piece.end_ns = piece.begin_ns + length;
  }
}

void State::ShowPath(bool shows) {
  shows_path_ = shows;
  if (shows) replay_.Open();
  scene_is_stale_ = true;
}

std::optional<int64_t> State::SlackOf(const EventRef& ref) const {
  const auto facts = replay_.facts();
  const auto event = EventAt(ranks_, ref);
  if (facts == nullptr || !event.has_value()) return std::nullopt;
  const int64_t begin_ns = summary().times_a.Back(event->begin_ns);
  return facts->SlackAt(summary().ranks[ref.rank].rank,
                        begin_ns + (event->end_ns - event->begin_ns));
}

}  // namespace tutti::viewer
