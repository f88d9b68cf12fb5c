// What a state's user does to the rows: open, pin, hide, filter.
#include <algorithm>

#include "viewer/app/state.h"
#include "viewer/model/stragglers.h"

namespace tutti::viewer {

void State::ToggleOpen(const std::string& row_key) {
  if (choices_.flipped.erase(row_key) == 0) choices_.flipped.insert(row_key);
  InvalidateRows();
}

void State::ToggleDeep(const std::string& row_key) {
  if (LevelsOf(choices_, row_key) == kAllLevels) {
    choices_.levels.erase(row_key);
  } else {
    choices_.levels[row_key] = kAllLevels;
  }
  InvalidateRows();
}

void State::ShowLevels(const std::string& row_key, uint32_t levels) {
  choices_.levels[row_key] = std::max(1U, levels);
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

void State::Restore(const KeptView& kept) {
  choices_ = kept.rows;
  marks = kept.marks;
  views = kept.views;
  InvalidateRows();
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

}  // namespace tutti::viewer
