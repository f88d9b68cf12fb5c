#include "viewer/app/state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "viewer/model/clocks.h"
#include "viewer/scene/path.h"
#include "viewer/scene/whiskers.h"

namespace tutti::viewer {
namespace {

constexpr size_t kMostPlaces = 200;  // to come back to
constexpr double kGlideSeconds = 0.14;

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
    : session_(std::move(session)),
      own_clock_shifts_(OwnClockShifts(session_->summary())),
      reader_(session_->summary()),
      replay_(std::move(opener)) {
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
  TakeRanks();
}

// The ranks that are loaded, and whatever was made of those that were.
void State::TakeRanks() {
  ranks_ = session_->Ranks();
  for (size_t slot = 0; slot < ranks_.size(); ++slot) {
    const int64_t shift_ns = ShiftOf(slot);
    if (shift_ns != 0 && ranks_[slot] != nullptr) ranks_[slot] = MovedBy(*ranks_[slot], shift_ns);
  }
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
  if (goal_.has_value()) goal_->width_px = width_px;
  viewport_.width_px = width_px;
  height_px_ = height_px;
  scene_is_stale_ = true;
}

void State::Remember() {
  undo_.push_back({{Goal().begin_ns, Goal().end_ns}, scroll_y_});
  if (undo_.size() > kMostPlaces) undo_.erase(undo_.begin());
  redo_.clear();
}

void State::Apply(const Place& place) {
  SendTo({place.range.begin_ns, place.range.end_ns, viewport_.width_px});
  scroll_y_ = place.scroll_y;
  scene_is_stale_ = true;
}

void State::Show(int64_t begin_ns, int64_t end_ns, bool is_small) {
  const Viewport next =
      viewport_.Over(begin_ns, end_ns).KeptInside(extent_.begin_ns, extent_.end_ns);
  if (next == Goal()) return;
  was_moved_ = true;
  if (!is_small) Remember();
  SendTo(next);
}

void State::SendTo(const Viewport& next) {
  goal_.reset();
  if (animates) {
    goal_ = next;
    glide_from_ = viewport_;
    glide_s_ = 0;
    return;
  }
  viewport_ = next;
  scene_is_stale_ = true;
}

void State::Advance(double seconds) {
  if (!goal_.has_value()) return;
  glide_s_ += seconds;
  const double share = animates ? std::min(1.0, glide_s_ / kGlideSeconds) : 1.0;
  viewport_ = GlideAt(glide_from_, *goal_, share);
  if (share >= 1) goal_.reset();
  scene_is_stale_ = true;
}

void State::ShowWhole() { Show(extent_.begin_ns, extent_.end_ns); }

void State::ZoomAt(double x, double factor) {
  const Viewport next = Goal().ZoomedAt(x, factor);
  Show(next.begin_ns, next.end_ns, true);
}

void State::PanBy(double pixels) {
  const Viewport next = Goal().PannedBy(pixels);
  Show(next.begin_ns, next.end_ns, true);
}

void State::DragBy(double pixels) {
  const bool glides = std::exchange(animates, false);
  goal_.reset();
  PanBy(pixels);
  animates = glides;
}

void State::ScrollTo(float y) {
  const float most = std::max(0.0F, scene().total_height - height_px_ + scene().pinned_height);
  y = std::clamp(y, 0.0F, most);
  if (y == scroll_y_) return;
  scroll_y_ = y;
  scene_is_stale_ = true;
}

void State::ScrollPinnedTo(float y) {
  y = std::clamp(y, 0.0F, scene().pinned_total - scene().pinned_height);
  scene_is_stale_ = scene_is_stale_ || y != pinned_scroll_;
  pinned_scroll_ = y;
}

bool State::Undo() {
  if (undo_.empty()) return false;
  redo_.push_back({{Goal().begin_ns, Goal().end_ns}, scroll_y_});
  Apply(undo_.back());
  undo_.pop_back();
  return true;
}

bool State::Redo() {
  if (redo_.empty()) return false;
  undo_.push_back({{Goal().begin_ns, Goal().end_ns}, scroll_y_});
  Apply(redo_.back());
  redo_.pop_back();
  return true;
}

const RowTree& State::tree() {
  if (tree_is_stale_) {
    tree_ = BuildRows(summary(), ranks_, choices_);
    tree_is_stale_ = false;
    scene_is_stale_ = true;
    rows_changed_ = true;
  }
  return tree_;
}

const Scene& State::scene() {
  const RowTree& rows = tree();
  if (scene_is_stale_) {
    std::vector<SceneRow> built;
    if (!rows_changed_ && scene_.viewport == viewport_) {
      built = std::move(scene_.rows);
      std::move(scene_.pinned.begin(), scene_.pinned.end(), std::back_inserter(built));
    }
    rows_changed_ = false;
    scene_ = BuildScene(summary(), ranks_, rows, {viewport_, scroll_y_, height_px_, pinned_scroll_},
                        std::move(built));
    if (shows_path_ && !shows_own_clocks_) {
      scene_.path = MarkPath(path_, summary(), ranks_, session_->names(), scene_);
    }
    if (!shows_own_clocks_) {
      scene_.whiskers = MarkWhiskers(SelectedAndLinked(), summary(), ranks_, scene_);
    }
    scene_is_stale_ = false;
    ++scenes_built_;
  }
  return scene_;
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

void State::ShowOwnClocks(bool shows) {
  if (!has_several_clocks()) {
    message = "No rank's clock was moved to align it: they are shown as they are";
    return;
  }
  shows_own_clocks_ = shows;
  TakeRanks();
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
  const int64_t begin_ns = summary().times_a.Back(event->begin_ns - ShiftOf(ref.rank));
  return facts->SlackAt(summary().ranks[ref.rank].rank,
                        begin_ns + (event->end_ns - event->begin_ns));
}

int64_t State::ShownTime(uint32_t slot, int64_t aligned_ns) const {
  return summary().TimesOf(slot)(aligned_ns) + ShiftOf(slot);
}

int64_t State::AlignedTime(uint32_t slot, int64_t shown_ns) const {
  return summary().TimesOf(slot).Back(shown_ns - ShiftOf(slot));
}

}  // namespace tutti::viewer
