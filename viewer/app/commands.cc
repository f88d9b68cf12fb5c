#include "viewer/app/commands.h"

#include <array>

namespace tutti::viewer {
namespace {

constexpr double kZoomStep = 0.75;
constexpr double kPanShare = 0.12;  // of the screen's width
constexpr float kScrollStep = 54;

double Anchor(const State& state, const Pointer& pointer) {
  if (pointer.is_over_rows) return static_cast<double>(pointer.x);
  return state.viewport().width_px / 2.0;
}

int64_t TimeAt(const State& state, const Pointer& pointer) {
  return state.viewport().ToTime(Anchor(state, pointer));
}

void Pan(State& state, int direction) {
  state.PanBy(direction * kPanShare * state.viewport().width_px);
}

void ZoomToRange(State& state) {
  if (!state.range().has_value()) return;
  state.Show(state.range()->begin_ns, state.range()->end_ns);
}

// To the selected event; again, to the selected range.
void ZoomToItem(State& state) {
  if (state.selected().has_value()) {
    state.ZoomToSelected();
  } else {
    ZoomToRange(state);
  }
}

void RangeOfItem(State& state) {
  if (const auto event = state.selected_event()) state.SelectRange(event->begin_ns, event->end_ns);
}

void PinRow(State& state, const Pointer& pointer) {
  const Hit hit = HitTest(state.scene(), pointer.x, pointer.y);
  if (pointer.is_over_rows && hit.row != nullptr) state.TogglePin(std::string(hit.row->row.key));
}

void OpenRow(State& state, const Pointer& pointer) {
  const Hit hit = HitTest(state.scene(), pointer.x, pointer.y);
  if (pointer.is_over_rows && hit.row != nullptr && hit.row->row.can_open) {
    state.ToggleOpen(std::string(hit.row->row.key));
  }
}

void LookAtMemory(State& state, const Pointer& pointer) {
  const Hit hit = HitTest(state.scene(), pointer.x, pointer.y);
  const SceneRow* row = pointer.is_over_rows ? hit.row : nullptr;
  const Row* memory = row == nullptr ? nullptr : &row->row;
  state.LookAtMemory(memory, TimeAt(state, pointer));
}

void Toggle(State& state, Panel panel) { state.Shows(panel) = !state.Shows(panel); }

void Escape(State& state) {
  if (state.Shows(Panel::kHelp) || state.Shows(Panel::kPalette)) {
    state.Shows(Panel::kHelp) = state.Shows(Panel::kPalette) = false;
    return;
  }
  state.message.clear();
  state.note.clear();
  state.Deselect();
}

using S = State&;
using P = const Pointer&;

constexpr std::array kCommands =
    {
        Command{"zoom-in", "Zoom in", "Move",
                "W =", [](S s, P p) { s.ZoomAt(Anchor(s, p), kZoomStep); }, true},
        Command{"zoom-out", "Zoom out", "Move", "S -",
                [](S s, P p) { s.ZoomAt(Anchor(s, p), 1 / kZoomStep); }, true},
        Command{"pan-left", "To earlier", "Move", "A Left", [](S s, P) { Pan(s, -1); }, true},
        Command{"pan-right", "To later", "Move", "D Right", [](S s, P) { Pan(s, 1); }, true},
        Command{"scroll-up", "Rows up", "Move", "Up",
                [](S s, P) { s.ScrollTo(s.scroll_y() - kScrollStep); }, true},
        Command{"scroll-down", "Rows down", "Move", "Down",
                [](S s, P) { s.ScrollTo(s.scroll_y() + kScrollStep); }, true},
        Command{"fit", "Whole run", "Move", "Home 0", [](S s, P) { s.ShowWhole(); }},
        Command{"undo-view", "Back to the last view", "Move", "Backspace Alt+Left",
                [](S s, P) { s.Undo(); }},
        Command{"redo-view", "Forward again", "Move", "Alt+Right", [](S s, P) { s.Redo(); }},
        Command{"next-step", "Next step", "Move", "J", [](S s, P) { s.GoToNextStep(1); }, true},
        Command{"previous-step", "Previous step", "Move", "K", [](S s, P) { s.GoToNextStep(-1); },
                true},
        Command{"next-rank", "Next rank", "Move", "Alt+Down", [](S s, P) { s.GoToNextRank(1); },
                true},
        Command{"previous-rank", "Previous rank", "Move", "Alt+Up",
                [](S s, P) { s.GoToNextRank(-1); }, true},
        Command{"zoom-to-item", "Zoom to the selected event", "Select", "F",
                [](S s, P) { ZoomToItem(s); }},
        Command{"zoom-to-range", "Zoom to the selected range", "Select", "Enter",
                [](S s, P) { ZoomToRange(s); }},
        Command{"item-to-range", "Range of the selected event", "Select", "R",
                [](S s, P) { RangeOfItem(s); }},
        Command{"next-event", "Next event of the row", "Select", ".",
                [](S s, P) { s.SelectNext(1); }, true},
        Command{"previous-event", "Previous event of the row", "Select", ",",
                [](S s, P) { s.SelectNext(-1); }, true},
        Command{"next-same-name", "Next event of the same name", "Select", "N",
                [](S s, P) { s.SelectNextOfName(1); }, true},
        Command{"previous-same-name", "Previous event of the same name", "Select", "Shift+N",
                [](S s, P) { s.SelectNextOfName(-1); }, true},
        Command{"follow", "Follow an arrow forward", "Select", "]",
                [](S s, P) { s.FollowLink(1); }},
        Command{"follow-back", "Follow an arrow backward", "Select", "[",
                [](S s, P) { s.FollowLink(-1); }},
        Command{"mark", "Set or remove a mark", "Select", "M",
                [](S s, P p) { s.ToggleMark(TimeAt(s, p)); }},
        Command{"mark-with-text", "Set a mark and write what it is", "Select", "Shift+M",
                [](S s, P p) {
                  s.edited_mark = s.MarkAt(TimeAt(s, p));
                  s.Raise(Panel::kNotes);
                }},
        Command{"clear-marks", "Remove all marks", "Select", "Delete",
                [](S s, P) { s.marks.clear(); }},
        Command{"deselect", "Deselect, close", "Select", "Escape", [](S s, P) { Escape(s); }},
        Command{"next-hit", "Next match of the search", "Search", "F3",
                [](S s, P) { s.GoToHit(1); }, true},
        Command{"previous-hit", "Previous match of the search", "Search", "Shift+F3",
                [](S s, P) { s.GoToHit(-1); }, true},
        Command{"clear-search", "Clear the search", "Search", "", [](S s, P) { s.Search(""); }},
        Command{"pin-row", "Pin or unpin the row below the pointer", "Rows", "P", &PinRow},
        Command{"open-row", "Open or close the row below the pointer", "Rows", "O", &OpenRow},
        Command{"show-hidden-rows", "Show hidden rows again", "Rows", "",
                [](S s, P) { s.ShowHidden(); }},
        Command{"fold", "Ranks by pipeline, tensor, data or expert groups, or by host", "Rows", "B",
                [](S s, P) { s.FoldByNextParallelism(); }},
        Command{"reset-order", "Rows in their first order", "Rows", "",
                [](S s, P) { s.ResetOrder(); }},
        Command{"theme", "Dark or light", "Window", "T", [](S s, P) { s.is_dark = !s.is_dark; }},
        Command{"findings", "Findings", "Window", "1", [](S s, P) { Toggle(s, Panel::kFindings); }},
        Command{"details", "Details", "Window", "2 Q", [](S s, P) { Toggle(s, Panel::kDetails); }},
        Command{"heat-map", "Heat map of ranks and steps", "Window", "3",
                [](S s, P) { s.Raise(Panel::kHeatMap); }},
        Command{"collective", "Collective alignment", "Window", "4",
                [](S s, P) { s.Raise(Panel::kCollective); }},
        Command{"events", "Events by name", "Window", "5", [](S s, P) { s.Raise(Panel::kEvents); }},
        Command{"sql", "SQL console", "Window", "6", [](S s, P) { s.Raise(Panel::kSql); }},
        Command{"hang", "Who is behind in which collective", "Window", "7",
                [](S s, P) { s.Raise(Panel::kHang); }},
        Command{"what-if", "What if: how long a step would take", "Window", "8",
                [](S s, P) { s.Raise(Panel::kWhatIf); }},
        Command{"compare", "Compare two runs", "Window", "9",
                [](S s, P) { s.Raise(Panel::kCompare); }},
        Command{"flames", "Flame graph", "Window", "", [](S s, P) { s.Raise(Panel::kFlame); }},
        Command{"steps", "A rank's steps below one another", "Window", "",
                [](S s, P) { s.Raise(Panel::kSteps); }},
        Command{"stragglers", "Pin the slowest, a usual and the fastest rank", "Rows", "G",
                [](S s, P) { s.TogglePinnedStragglers(); }},
        Command{"critical-path", "Critical path, on or off", "Window", "C",
                [](S s, P) { s.ShowPath(!s.shows_path()); }},
        Command{"clocks", "Each host's own clock, or aligned", "Window", "L",
                [](S s, P) { s.ShowOwnClocks(!s.shows_own_clocks()); }},
        Command{"memory", "What memory is held by at the pointer", "Window", "U", &LookAtMemory},
        Command{"notes", "Marks and named views", "Window", "V",
                [](S s, P) { s.Raise(Panel::kNotes); }},
        Command{"save-picture", "Keep what is to be seen as a picture (PNG)", "Window", "Ctrl+S",
                [](S s, P) { s.wants_picture = true; }},
        Command{"palette", "Command palette", "Window", "Ctrl+Shift+P",
                [](S s, P) { Toggle(s, Panel::kPalette); }},
        Command{"help", "Keys", "Window", "? F1", [](S s, P) { Toggle(s, Panel::kHelp); }},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

const Command* FindCommand(std::string_view name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

}  // namespace tutti::viewer
