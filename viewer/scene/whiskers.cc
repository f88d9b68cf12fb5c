#include "viewer/scene/whiskers.h"

#include <algorithm>

#include "viewer/model/clocks.h"

namespace tutti::viewer {

std::vector<WhiskerMark> MarkWhiskers(std::span<const EventRef> events, const RunSummary& summary,
                                      const RankTraces& ranks, const Scene& scene) {
  std::vector<WhiskerMark> marks;
  const Viewport& viewport = scene.viewport;
  const auto x_of = [&](int64_t time_ns) {
    return static_cast<float>(std::clamp(viewport.ToX(time_ns), -8.0, viewport.width_px + 8.0));
  };
  for (const EventRef& ref : events) {
    const std::optional<Event> event = EventAt(ranks, ref);
    const SceneRow* row = FindSceneRow(scene, ref);
    if (!event.has_value() || row == nullptr) continue;
    const int64_t error_ns = ClockErrorNs(summary, ref.rank).value_or(0);
    if (static_cast<double>(error_ns) < viewport.ns_per_px()) continue;
    const float y = row->y + 1 + kLaneHeight * (static_cast<float>(ref.lane) + 0.5F);
    const WhiskerMark mark{x_of(event->begin_ns - error_ns), x_of(event->begin_ns + error_ns), y};
    if (mark.x1 > 0 && mark.x0 < static_cast<float>(viewport.width_px)) marks.push_back(mark);
  }
  return marks;
}

}  // namespace tutti::viewer
