#include "viewer/scene/dump.h"

#include <array>
#include <cstdio>

#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

// Half-pixels are as fine as a picture shows.
std::string Px(float x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(x));
  return text.data();
}

std::string Percent(float share) {
  return std::to_string(static_cast<int>(share * 100 + 0.5F)) + "%";
}

void DumpMarks(const std::vector<SpanMark>& marks, const NameTable& names, std::string* text) {
  for (const SpanMark& mark : marks) {
    *text += "    [" + Px(mark.x0) + " " + Px(mark.x1) + ") ";
    *text += std::string(CategoryName(mark.category)) + " ";
    if (mark.count > 1) {
      *text += "x" + std::to_string(mark.count) + " busy " + Percent(mark.busy) + ", longest ";
    }
    *text += ShortName(names.Text(mark.name));
    if (mark.is_open) *text += " (open)";
    *text += "\n";
  }
}

void DumpBand(const std::vector<BandMark>& band, std::string* text) {
  for (const BandMark& mark : band) {
    *text += "    [" + std::to_string(mark.x0) + " " + std::to_string(mark.x1) + ")";
    for (size_t i = 0; i < kCategories; ++i) {
      if (mark.share[i] == 0) continue;
      *text +=
          " " + std::string(CategoryName(static_cast<Category>(i))) + " " + Percent(mark.share[i]);
    }
    *text += "\n";
  }
}

void DumpEnvelope(const SceneRow& row, std::string* text) {
  const SeriesMark* last = nullptr;
  for (const SeriesMark& mark : row.envelope) {
    const bool is_same = last != nullptr && mark.least == last->least &&
                         mark.largest == last->largest && mark.x != row.envelope.back().x;
    last = &mark;
    if (is_same) continue;
    *text += "    x " + std::to_string(mark.x) + ": " + FormatValue(mark.least, row.unit) + " to " +
             FormatValue(mark.largest, row.unit) + "\n";
  }
}

void DumpDeltas(const std::vector<DeltaMark>& deltas, std::string* text) {
  for (const DeltaMark& mark : deltas) {
    *text += "    [" + Px(mark.x0) + " " + Px(mark.x1) + ") A " + FormatNs(mark.a_ns) + ", B " +
             FormatNs(mark.b_ns);
    if (mark.steps > 1) *text += ", " + std::to_string(mark.steps) + " steps";
    *text += "\n";
  }
}

void DumpRow(const SceneRow& row, const NameTable& names, std::string* text) {
  *text += std::string(static_cast<size_t>(2 * row.row.depth), ' ');
  if (row.row.can_open) *text += row.row.is_open ? "- " : "+ ";
  *text += row.row.label + "  y " + Px(row.y) + " height " + Px(row.row.height);
  if (row.row.lanes > row.row.lanes_shown && row.row.lanes_shown > 0) {
    *text += "  " + std::to_string(row.row.lanes_shown) + " of " + std::to_string(row.row.lanes) +
             " levels";
  }
  *text += "\n";
  for (size_t i = 0; i < row.lanes.size(); ++i) {
    *text += "   level " + std::to_string(i) + "\n";
    DumpMarks(row.lanes[i], names, text);
  }
  DumpDeltas(row.deltas, text);
  DumpBand(row.band, text);
  DumpEnvelope(row, text);
}

}  // namespace

std::string DumpScene(const Scene& scene, const NameTable& names) {
  std::string text = "scene " + std::to_string(scene.viewport.width_px) + " px over " +
                     FormatNs(scene.viewport.span_ns()) + ", " + Px(scene.total_height) +
                     " px of rows\n";
  for (const Tick& tick : scene.ticks) text += "tick " + Px(tick.x) + " " + tick.label + "\n";
  for (const StepLine& step : scene.steps) {
    text += "step [" + Px(step.x0) + " " + Px(step.x1) + ") " + step.label + "\n";
  }
  for (const PathMark& mark : scene.path) {
    text += "path [" + Px(mark.x0) + " " + Px(mark.x1) + ") y " + Px(mark.y) + "\n";
  }
  for (const WhiskerMark& mark : scene.whiskers) {
    text += "may begin [" + Px(mark.x0) + " " + Px(mark.x1) + ") y " + Px(mark.y) + "\n";
  }
  for (const SceneRow& row : scene.pinned) {
    text += "pinned ";
    DumpRow(row, names, &text);
  }
  for (const SceneRow& row : scene.rows) DumpRow(row, names, &text);
  return text;
}

}  // namespace tutti::viewer
