// What the user looks at and has chosen, and all that they can do to it: the viewer without a
// window. The interface and scripts call the same functions. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/app/kept_view.h"
#include "viewer/app/replay_runner.h"
#include "viewer/model/details.h"
#include "viewer/model/event_set.h"
#include "viewer/model/parallelism.h"
#include "viewer/model/session.h"
#include "viewer/scene/rows.h"
#include "viewer/scene/scene.h"

namespace tutti::viewer {

struct TimeRange {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

// A place to come back to.
struct Place {
  TimeRange range;
  float scroll_y = 0;
};

struct DurationQuery {
  NameId name = 0;
  int64_t least_ns = 0;
  int64_t most_ns = 0;
};

struct SearchState {
  std::string text;
  std::string error;  // why it means nothing
  SearchResult result;
  std::optional<size_t> current;           // place in result.hits
  std::optional<DurationQuery> durations;  // what was asked, if not a text
};

// The panels that can be closed.
enum class Panel : uint8_t {
  kFindings,
  kDetails,
  kSearch,
  kRange,
  kHeatMap,
  kCollective,
  kEvents,
  kSql,
  kHelp,
  kPalette,
  kHang,
  kWhatIf,
  kCompare,
  kFlame,
  kSteps,
  kMemory,
  kNotes,
};
inline constexpr size_t kPanels = 17;

// Findings, details, the heat map, collectives and events.
std::array<bool, kPanels> PanelsAtFirst();

class State {
 public:
  // `opener`: of a replay of the run, nothing if there is none.
  explicit State(std::unique_ptr<Session> session, ReplayOpener opener = {});

  const Session& session() const { return *session_; }
  const RunSummary& summary() const { return session_->summary(); }
  const RankTraces& ranks() const { return ranks_; }
  void WaitUntilLoaded();
  // Takes over what was loaded meanwhile. Once a frame, before anything else.
  void Update();

  // From the first event to the last; until they are loaded, that of the steps or the ranks.
  const TimeRange& extent() const { return extent_; }

  // --- Where the user looks.
  const Viewport& viewport() const { return viewport_; }
  // Size of the part of the screen with rows, in pixels.
  void SetSize(int width_px, float height_px);
  // Remembers where it was (unless `is_small`: a step of a zoom or pan that goes on).
  void Show(int64_t begin_ns, int64_t end_ns, bool is_small = false);
  void ShowWhole();
  void ZoomAt(double x, double factor);
  void PanBy(double pixels);
  void DragBy(double pixels);  // the same below the pointer: never glides
  void ScrollTo(float y);
  float scroll_y() const { return scroll_y_; }
  void ScrollPinnedTo(float y);  // the pinned rows, where they are too many to be seen at once
  bool Undo();
  bool Redo();
  // Whether views glide to where they were sent; what a script or test asks for is there at once.
  bool animates = false;
  // Once a frame: brings a view that glides nearer to its goal.
  void Advance(double seconds);
  bool is_gliding() const { return goal_.has_value(); }

  // --- What is on screen, made anew when something changed.
  const RowTree& tree();
  const Scene& scene();
  int scenes_built() const { return scenes_built_; }

  // --- Choices.
  const RowChoices& choices() const { return choices_; }
  void ToggleOpen(const std::string& row_key);
  void ToggleDeep(const std::string& row_key);  // all levels, or the first
  void ShowLevels(const std::string& row_key, uint32_t levels);
  void TogglePin(const std::string& row_key);
  // The slowest rank, one as usual and the fastest above the others; again, not any more.
  void TogglePinnedStragglers();
  void Hide(const std::string& row_key);
  void ShowHidden();
  void Filter(const std::string& text);
  // Before another row of the same parent, "" behind them all.
  void MoveRow(const std::string& key, const std::string& before);
  void ResetOrder();
  // What is kept between two looks at a run.
  KeptView Kept() const { return {choices_, marks, views}; }
  void Restore(const KeptView& kept);
  // Ranks below the groups of the next kind of parallelism that the run has; after the last, below
  // their hosts again.
  void FoldByNextParallelism();

  // --- One event.
  const std::optional<EventRef>& selected() const { return selected_; }
  std::optional<Event> selected_event() const;
  void Select(const EventRef& ref);  // and nothing else
  void GoTo(const EventRef& ref);    // and brings it on screen
  void ZoomToSelected();
  void SelectNext(int direction);        // of its lane
  void SelectNextOfName(int direction);  // on its track
  void FollowLink(int direction);        // ] and [: through what belongs to it
  void Deselect();
  const Details& details();
  const std::vector<Link>& links();
  const NameDurations& DurationsOf(const Event& event);

  // --- Time.
  const std::optional<TimeRange>& range() const { return range_; }
  void SelectRange(int64_t begin_ns, int64_t end_ns);
  void ClearRange() { range_.reset(); }
  const RangeTotals& range_totals();
  void GoToStep(int64_t step, std::optional<int64_t> rank);
  void GoToNextStep(int direction);
  void GoToNextRank(int direction);
  // The step that holds most of the screen, nullopt none.
  std::optional<int64_t> CurrentStep() const;
  std::vector<Mark> marks;  // set by the user, in order of time
  void ToggleMark(int64_t time_ns);
  // The mark at a time, made if there is none near it; its place in `marks`.
  size_t MarkAt(int64_t time_ns);
  std::optional<size_t> edited_mark;  // its text is to take the keyboard
  // What is on screen by a name, in place of what had that name.
  std::vector<NamedView> views;
  void KeepView(const std::string& name);
  void ShowView(const NamedView& view);

  // --- Memory: of one allocator of a rank, at a moment.
  struct MemoryPlace {
    uint32_t rank = 0;   // slot
    uint32_t track = 0;  // kMemory
    int64_t time_ns = 0;
    friend bool operator==(const MemoryPlace&, const MemoryPlace&) = default;
  };
  std::optional<MemoryPlace> memory_place;
  // That of the row's allocator, or of the selected rank's, or of the first that there is.
  void LookAtMemory(const Row* row, int64_t time_ns);

  // --- Search.
  const SearchState& search() const { return search_; }
  void Search(const std::string& text);
  // Finds the events of one name whose duration is in [least_ns, most_ns].
  void SearchDurations(NameId name, int64_t least_ns, int64_t most_ns);
  void GoToHit(int direction);

  // --- Findings.
  // To a rank's call of a collective, if it made one.
  void GoToCollective(int64_t id, int64_t rank);
  void GoToFinding(size_t index, size_t evidence);

  // --- Clocks.
  // Whether events are shown where their ranks' own clocks have them, not aligned.
  bool shows_own_clocks() const { return shows_own_clocks_; }
  void ShowOwnClocks(bool shows);
  bool has_several_clocks() const { return !own_clock_shifts_.empty(); }

  // A time of a rank's aligned clock where it is shown, and back.
  int64_t ShownTime(uint32_t slot, int64_t aligned_ns) const;
  int64_t AlignedTime(uint32_t slot, int64_t shown_ns) const;
  // A rank's events as they were loaded.
  std::shared_ptr<const RankTrace> AlignedTrace(uint32_t slot) const {
    return session_->Ranks()[slot];
  }

  // --- The replay.
  ReplayRunner& replay() { return replay_; }
  bool shows_path() const { return shows_path_; }
  void ShowPath(bool shows);  // opens the replay if it must
  // How much later an event could have ended, nullopt unknown or the replay is not open.
  std::optional<int64_t> SlackOf(const EventRef& ref) const;

  // "RANK:STEP" or "RANK:STEP:ROW" (row of cpu_op or kernel); ranks and steps as the program
  // numbers them.
  Status GoToPlace(const std::string& text);

  bool is_dark = true;
  std::array<bool, kPanels> shows_panel = PanelsAtFirst();
  bool& Shows(Panel panel) { return shows_panel[static_cast<size_t>(panel)]; }
  // Shows a panel in front of those that share its place.
  void Raise(Panel panel) {
    Shows(panel) = true;
    raised = panel;
  }
  std::optional<Panel> raised;        // until the interface has done so
  std::string message;                // last thing that went wrong, "" none
  std::string note;                   // last thing that was done and can't be seen, "" none
  bool wants_picture = false;         // the next frame is to be kept as a picture
  std::optional<int64_t> collective;  // id of the one that the collective panel shows
  size_t finding = SIZE_MAX;          // the one that was gone to last

 private:
  void Remember();
  void Apply(const Place& place);
  // Where the view is, or glides to.
  const Viewport& Goal() const { return goal_.has_value() ? *goal_ : viewport_; }
  void SendTo(const Viewport& next);
  void BringRowOnScreen(const EventRef& ref);
  void InvalidateRows();
  void UpdateExtent();
  void TakePath();
  void TakeRanks();
  // How much later than aligned a rank's events are shown.
  int64_t ShiftOf(size_t slot) const {
    return shows_own_clocks_ ? own_clock_shifts_[slot] : int64_t{0};
  }
  std::vector<EventRef> SelectedAndLinked();

  std::unique_ptr<Session> session_;
  RankTraces ranks_;  // where they are shown
  std::vector<int64_t> own_clock_shifts_;
  bool shows_own_clocks_ = false;
  size_t loaded_ = SIZE_MAX;
  TimeRange extent_;

  Viewport viewport_;
  std::optional<Viewport> goal_;  // while it glides
  Viewport glide_from_;
  double glide_s_ = 0;  // since it began
  float scroll_y_ = 0;
  float pinned_scroll_ = 0;
  float height_px_ = 600;
  bool was_moved_ = false;  // until then the whole run is shown
  std::vector<Place> undo_;
  std::vector<Place> redo_;

  RowChoices choices_;
  std::optional<Parallelism> parallelism_;  // once it was asked for
  size_t folding_ = 0;                      // 0: by host; else that kind, from 1
  bool tree_is_stale_ = true;
  bool scene_is_stale_ = true;
  bool rows_changed_ = true;  // since the scene was made
  RowTree tree_;
  Scene scene_;
  int scenes_built_ = 0;

  std::optional<EventRef> selected_;
  std::optional<EventRef> details_of_;
  Details details_;
  std::optional<EventRef> links_of_;
  std::vector<Link> links_;
  size_t next_link_ = 0;
  DetailReader reader_;
  std::map<std::pair<NameId, Source>, NameDurations> durations_;

  std::optional<TimeRange> range_;
  std::optional<TimeRange> totals_of_;
  RangeTotals totals_;

  SearchState search_;

  bool shows_path_ = false;
  std::vector<PathPiece> path_;  // on the axis
  size_t replay_version_ = 0;
  ReplayRunner replay_;  // last: its thread ends first
};

}  // namespace tutti::viewer
