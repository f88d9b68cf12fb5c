// The whole run in small, above the rows.
#include <algorithm>

#include "viewer/draw/painter.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

class Overview {
 public:
  Overview(DrawContext& context, const TimelineLayout& layout, ImDrawList* list)
      : state_(context.state),
        theme_(*context.theme),
        list_(list),
        whole_{state_.extent().begin_ns, state_.extent().end_ns,
               std::max(1, state_.viewport().width_px)},
        left_(layout.RowsX()),
        right_(layout.RowsX() + layout.width),
        top_(layout.OverviewY()),
        bottom_(layout.OverviewY() + layout.overview_height - 2) {}

  // A bar a step as high as the step is long; those of three usual ones and more are cut, so that a
  // first step that took a minute leaves the others something to be seen.
  void PaintSteps() {
    std::vector<int64_t> lengths;
    for (const schema::RunStepRow& step : state_.summary().steps) {
      lengths.push_back(step.end_ns - step.begin_ns);
    }
    if (lengths.empty()) return;
    std::sort(lengths.begin(), lengths.end());
    const int64_t usual_ns = lengths[lengths.size() / 2];
    const auto tall =
        static_cast<double>(std::max<int64_t>(1, std::min(lengths.back(), 3 * usual_ns)));
    for (const schema::RunStepRow& step : state_.summary().steps) {
      const double share = std::min(1.0, static_cast<double>(step.end_ns - step.begin_ns) / tall);
      const float height = std::max(2.0F, static_cast<float>(share) * (bottom_ - top_ - 6));
      const float x0 = X(step.begin_ns);
      const ImU32 color = ColorOf(step.is_steady != 0 ? Category::kCompute : Category::kStep);
      list_->AddRectFilled({x0, bottom_ - height}, {std::max(x0 + 1, X(step.end_ns) - 1), bottom_},
                           WithAlpha(color, 0.75F));
    }
  }

  // Where the search matches, once a pixel.
  void PaintHits() {
    int last_column = -1;
    for (const EventRef& ref : state_.search().result.hits) {
      const int column = whole_.ColumnOf(EventAt(state_.ranks(), ref)->begin_ns);
      if (column == last_column) continue;
      last_column = column;
      const float x = left_ + static_cast<float>(column);
      list_->AddRectFilled({x, top_}, {x + 1.5F, top_ + 6}, theme_.accent);
    }
  }

  // Marks of the user, and the part that is on screen.
  void PaintPlace() {
    for (const Mark& mark : state_.marks) {
      list_->AddLine({X(mark.time_ns), top_}, {X(mark.time_ns), bottom_}, theme_.alarm);
    }
    const float x0 = std::clamp(X(state_.viewport().begin_ns), left_, right_);
    const float x1 = std::clamp(X(state_.viewport().end_ns), left_, right_);
    const ImU32 shade = WithAlpha(theme_.background, 0.62F);
    list_->AddRectFilled({left_, top_}, {x0, bottom_}, shade);
    list_->AddRectFilled({x1, top_}, {right_, bottom_}, shade);
    list_->AddRect({x0, top_}, {std::max(x1, x0 + 3), bottom_}, theme_.text, 2);
  }

 private:
  float X(int64_t time_ns) const { return left_ + static_cast<float>(whole_.ToX(time_ns)); }

  State& state_;
  const Theme& theme_;
  ImDrawList* list_;
  Viewport whole_;
  float left_;
  float right_;
  float top_;
  float bottom_;
};

}  // namespace

void PaintOverview(DrawContext& context, const TimelineLayout& layout, ImDrawList* list) {
  const RunSummary& summary = context.state.summary();
  const float top = layout.OverviewY();
  const float bottom = top + layout.overview_height;
  const float right = layout.RowsX() + layout.width;
  list->AddRectFilled({layout.origin.x, top}, {right, bottom}, context.theme->background);
  list->PushClipRect({layout.RowsX(), top}, {right, bottom}, true);
  Overview overview(context, layout, list);
  overview.PaintSteps();
  overview.PaintHits();
  overview.PaintPlace();
  list->PopClipRect();
  if (!summary.steps.empty()) {
    const auto steps = static_cast<int64_t>(summary.steps.size());
    const std::string text = FormatCount(steps) + (steps == 1 ? " step" : " steps");
    list->AddText({layout.origin.x + 8, top + 4}, context.theme->dim_text, text.c_str());
  }
  list->AddLine({layout.origin.x, bottom - 1}, {right, bottom - 1}, context.theme->line);
}

}  // namespace tutti::viewer
