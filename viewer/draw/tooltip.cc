#include "viewer/draw/tooltip.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

std::string Percent(double share, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %%", digits, share * 100);
  return text.data();
}

// The step that an event begins in and how much of it the event takes.
std::string ShareOfStep(const RunSummary& summary, const Event& event) {
  for (const schema::RunStepRow& step : summary.steps) {
    if (event.begin_ns < step.begin_ns || event.begin_ns >= step.end_ns) continue;
    const double share = static_cast<double>(event.end_ns - event.begin_ns) /
                         static_cast<double>(std::max<int64_t>(1, step.end_ns - step.begin_ns));
    return Percent(share, 1) + " of step " + std::to_string(step.number);
  }
  return "";
}

std::optional<int64_t> MedianOfOthers(const NameDurations& durations, uint32_t slot) {
  std::vector<int64_t> others;
  for (const auto& [rank, median_ns] : durations.rank_median_ns) {
    if (rank != slot) others.push_back(median_ns);
  }
  if (others.empty()) return std::nullopt;
  std::sort(others.begin(), others.end());
  return others[(others.size() - 1) / 2];
}

}  // namespace

void DrawCollectiveFacts(DrawContext& context, const EventRef& ref, const Event& event) {
  const RunSummary& summary = context.state.summary();
  const int64_t rank = summary.ranks[ref.rank].rank;
  const Collective* collective = summary.FindCollective(rank, event.row_id);
  const schema::CollectiveCallRow* call = summary.FindCall(rank, event.row_id);
  if (collective == nullptr || call == nullptr) return;
  if (call->wait_ns.has_value()) {
    const std::string wait =
        "waits " + FormatNs(*call->wait_ns) + " for " +
        (collective->row.last_rank ? summary.RankName(*collective->row.last_rank) : "rank ?");
    ImGui::TextUnformatted(wait.c_str());
  }
  std::string more = collective->row.state;
  if (collective->row.bytes)
    more += ", " + FormatBytes(static_cast<double>(*collective->row.bytes));
  if (collective->row.sequence) more += ", sequence " + std::to_string(*collective->row.sequence);
  ImGui::TextUnformatted(more.c_str());
}

void DrawSlack(DrawContext& context, const EventRef& ref) {
  const std::optional<int64_t> slack_ns = context.state.SlackOf(ref);
  if (!slack_ns.has_value()) return;
  const std::string text = *slack_ns <= 0
                               ? "critical: its step would be longer if it were"
                               : "slack " + FormatNs(*slack_ns) + ": so much longer costs nothing";
  ImGui::TextUnformatted(text.c_str());
}

void DrawComparison(DrawContext& context, const EventRef& ref, const Event& event) {
  const NameDurations& durations = context.state.DurationsOf(event);
  if (durations.sorted_ns.size() < 2) return;
  const int64_t duration = event.end_ns - event.begin_ns;
  const std::string place = "longer than " + Percent(durations.PercentileOf(duration), 0) + " of " +
                            FormatCount(static_cast<int64_t>(durations.sorted_ns.size())) +
                            ", median " + FormatNs(durations.Quantile(0.5)) + ", p99 " +
                            FormatNs(durations.Quantile(0.99));
  ImGui::TextUnformatted(place.c_str());
  const auto own = durations.MedianOf(ref.rank);
  const auto others = MedianOfOthers(durations, ref.rank);
  if (!own.has_value() || !others.has_value() || *others == 0) return;
  const double delta = static_cast<double>(*own - *others) / static_cast<double>(*others);
  const std::string ranks = "on this rank " + FormatNs(*own) + ", " + (delta >= 0 ? "+" : "") +
                            Percent(delta, 0) + " against the other ranks";
  ImGui::TextUnformatted(ranks.c_str());
}

void DrawSeriesTooltip(DrawContext& context, const SceneRow& row) {
  constexpr size_t kMostRanks = 16;
  State& state = context.state;
  if (!ImGui::BeginTooltip()) return;
  const int64_t time = state.viewport().ToTime(static_cast<double>(context.pointer.x));
  ImGui::TextUnformatted(
      (row.row.label + " at " + FormatNs(time - state.summary().begin_ns)).c_str());
  size_t shown = 0;
  for (size_t slot = 0; slot < state.ranks().size() && shown < kMostRanks; ++slot) {
    if (state.ranks()[slot] == nullptr) continue;
    for (const Track& track : state.ranks()[slot]->tracks) {
      if (!track.lanes.empty() || track.label != row.row.label) continue;
      const Extent now = track.series.Holding(time, time + 1);
      if (now.is_empty) continue;
      const std::string text = state.summary().RankName(state.summary().ranks[slot].rank) + "  " +
                               FormatValue(now.largest, track.unit);
      const bool is_own = slot == row.row.rank;
      ImGui::PushStyleColor(ImGuiCol_Text, is_own ? context.theme->text : context.theme->dim_text);
      ImGui::TextUnformatted(text.c_str());
      ImGui::PopStyleColor();
      ++shown;
    }
  }
  ImGui::EndTooltip();
}

void EventTooltip::Draw(DrawContext& context, const Hit& hit) {
  const ImGuiIO& io = ImGui::GetIO();
  std::optional<Subject> subject;
  if (hit.mark != nullptr) subject = {hit.event, *hit.mark, hit.row->row.label, io.MousePos};
  if (!io.KeyCtrl || io.MouseWheel != 0) held_.reset();  // Ctrl and the wheel zoom
  if (io.KeyCtrl && !was_ctrl_) held_ = subject;
  was_ctrl_ = io.KeyCtrl;
  if (held_.has_value()) {
    const float aside = 14 * context.scale;
    ImGui::SetNextWindowPos({held_->pointer.x + aside, held_->pointer.y + aside});
    DrawText(context, *held_);
  } else if (subject.has_value()) {
    DrawText(context, *subject);
  }
}

void EventTooltip::DrawText(DrawContext& context, const Subject& subject) {
  const SpanMark& mark = subject.mark;
  const auto event = EventAt(context.state.ranks(), subject.event);
  if (!event.has_value() || !ImGui::BeginTooltip()) return;
  const RunSummary& summary = context.state.summary();
  ImGui::PushTextWrapPos(420 * context.scale);
  if (mark.count > 1) {
    ImGui::Text("%s events, %s busy; the longest:", FormatCount(mark.count).c_str(),
                Percent(static_cast<double>(mark.busy), 0).c_str());
  }
  ImGui::TextUnformatted(std::string(context.state.session().names().Text(event->name)).c_str());
  ImGui::PushStyleColor(ImGuiCol_Text, context.theme->dim_text);
  const std::string when = FormatNs(event->end_ns - event->begin_ns) +
                           (event->is_open ? " and not ended" : "") + " at " +
                           FormatNs(event->begin_ns - summary.begin_ns);
  ImGui::TextUnformatted(when.c_str());
  const std::string share = ShareOfStep(summary, *event);
  if (!share.empty() && event->source != Source::kStepWindow) ImGui::TextUnformatted(share.c_str());
  DrawComparison(context, subject.event, *event);
  if (event->source == Source::kCollective) DrawCollectiveFacts(context, subject.event, *event);
  DrawSlack(context, subject.event);
  const std::string place = summary.RankName(summary.ranks[subject.event.rank].rank) + ", " +
                            subject.row + ", " + std::string(CategoryName(event->category));
  ImGui::TextUnformatted(place.c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace tutti::viewer
