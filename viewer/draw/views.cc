// Panels over all ranks: heat map, collective alignment, events by name, SQL.
#include <imgui.h>
#include <imgui_stdlib.h>
#include <implot.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>

#include "schema/database.h"
#include "schema/run_view.h"
#include "viewer/draw/panels.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

constexpr ImGuiTableFlags kTable = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                   ImGuiTableFlags_ScrollX | ImGuiTableFlags_BordersInnerV |
                                   ImGuiTableFlags_Resizable;
constexpr size_t kMostSqlRows = 10'000;
constexpr auto kSqlBudget = std::chrono::seconds(5);

void Text(const std::string& text) { ImGui::TextUnformatted(text.c_str()); }

int64_t FigureOf(const schema::StepBreakdownRow& row, int figure) {
  return figure == 0 ? row.step_ns : PartsOf(row)[static_cast<size_t>(figure - 1)];
}

std::string CellText(const schema::NullableValue& value) {
  if (!value.has_value()) return "";
  if (const auto* whole = std::get_if<int64_t>(&*value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&*value)) return std::to_string(*real);
  if (const auto* text = std::get_if<std::string>(&*value)) return *text;
  return "(bytes)";
}

std::optional<int64_t> NumberOf(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Shares of a call in a common scale: bars from the first arrival to the last end.
void DrawCalls(DrawContext& context, const Collective& collective) {
  State& state = context.state;
  std::vector<const schema::CollectiveCallRow*> calls;
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  for (const schema::CollectiveCallRow& call : collective.calls) {
    calls.push_back(&call);
    if (call.arrival_ns) first = std::min(first, *call.arrival_ns);
    if (call.end_ns) last = std::max(last, *call.end_ns);
    if (call.arrival_ns) last = std::max(last, *call.arrival_ns + 1);
  }
  if (first == INT64_MAX) first = 0;
  if (last <= first) last = first + 1;
  // The latest first: it is whom the others wait for. Those that never came are later still.
  std::stable_sort(calls.begin(), calls.end(), [](const auto* a, const auto* b) {
    return a->arrival_ns.value_or(INT64_MAX) > b->arrival_ns.value_or(INT64_MAX);
  });
  const float label_width = 170 * context.scale;
  const float row_height = 18 * context.scale;
  ImGui::BeginChild("calls");
  const float width = std::max(50.0F, ImGui::GetContentRegionAvail().x - label_width - 8);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(calls.size()), row_height);
  std::optional<std::pair<uint32_t, int64_t>> wanted;
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const schema::CollectiveCallRow& call = *calls[static_cast<size_t>(i)];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ImGui::PushID(i);
      if (ImGui::InvisibleButton("call", {label_width + width, row_height - 1})) {
        const auto slot = state.summary().SlotOf(call.rank);
        if (slot) wanted = {static_cast<uint32_t>(*slot), call.source_id};
      }
      if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("rank %lld: arrives %s after the first, waits %s",
                          static_cast<long long>(call.rank),
                          call.arrival_ns ? FormatNs(*call.arrival_ns - first).c_str() : "never",
                          call.wait_ns ? FormatNs(*call.wait_ns).c_str() : "unknown");
        list->AddRectFilled(at, {at.x + label_width + width, at.y + row_height - 1},
                            context.theme->group);
      }
      ImGui::PopID();
      const std::string label =
          "rank " + std::to_string(call.rank) + "  " +
          (call.arrival_ns ? "+" + FormatNs(*call.arrival_ns - first) : std::string("never came"));
      list->AddText({at.x + 4, at.y}, call.arrival_ns ? context.theme->text : context.theme->alarm,
                    label.c_str());
      if (!call.arrival_ns) continue;
      const auto x_of = [&](int64_t t) {
        return at.x + label_width +
               static_cast<float>(static_cast<double>(t - first) /
                                  static_cast<double>(last - first)) *
                   width;
      };
      const int64_t end = call.end_ns.value_or(last);
      const int64_t ready =
          std::min(end, *call.arrival_ns + std::max<int64_t>(0, call.wait_ns.value_or(0)));
      const ImU32 color = ColorOf(Category::kCommunication);
      list->AddRectFilled({x_of(*call.arrival_ns), at.y + 2}, {x_of(ready), at.y + row_height - 3},
                          WithAlpha(color, 0.35F));
      list->AddRectFilled({x_of(ready), at.y + 2},
                          {std::max(x_of(end), x_of(ready) + 1), at.y + row_height - 3}, color);
    }
  }
  ImGui::EndChild();
  if (!wanted) return;
  const auto ref = FindRow(state.ranks(), wanted->first, Source::kCollective,
                           static_cast<uint32_t>(wanted->second));
  if (ref) state.GoTo(*ref);
}

}  // namespace

void HeatMap::Draw(DrawContext& context) {
  State& state = context.state;
  const RunSummary& summary = state.summary();
  if (summary.breakdowns.empty()) {
    Text("This run has no steps.");
    return;
  }
  ImGui::SetNextItemWidth(160 * context.scale);
  const char* shown = figure_ == 0 ? "step time" : kStepParts[static_cast<size_t>(figure_ - 1)];
  if (ImGui::BeginCombo("##figure", shown)) {
    for (int i = 0; i <= static_cast<int>(kStepParts.size()); ++i) {
      const char* name = i == 0 ? "step time" : kStepParts[static_cast<size_t>(i - 1)];
      if (ImGui::Selectable(name, i == figure_)) figure_ = i;
    }
    ImGui::EndCombo();
  }
  // Without the fiftieth part at either end, which may lie far out: a first step, a pause.
  std::vector<int64_t> sorted;
  for (const schema::StepBreakdownRow& row : summary.breakdowns)
    sorted.push_back(FigureOf(row, figure_));
  std::sort(sorted.begin(), sorted.end());
  const int64_t least = sorted[sorted.size() / 50];
  const int64_t most = sorted[sorted.size() - 1 - sorted.size() / 50];
  ImGui::SameLine();
  Text("rank by step, " + FormatNs(least) + " (dark) to " + FormatNs(most) +
       " (bright); a click goes there");
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float label_width = 60 * context.scale;
  const auto ranks = static_cast<float>(summary.ranks.size());
  const auto steps = static_cast<float>(std::max<size_t>(1, summary.steps.size()));
  const float cell_width = std::max(1.0F, (room.x - label_width) / steps);
  const float cell_height = std::clamp((room.y - 4) / ranks, 2.0F, 22 * context.scale);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("cells", {std::max(8.0F, room.x), std::max(8.0F, cell_height * ranks)});
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const schema::StepBreakdownRow& row : summary.breakdowns) {
    const auto slot = summary.SlotOf(row.rank);
    if (!slot) continue;
    const double share = most == least ? 0
                                       : static_cast<double>(FigureOf(row, figure_) - least) /
                                             static_cast<double>(most - least);
    const float x = at.x + label_width + cell_width * static_cast<float>(row.step);
    const float y = at.y + cell_height * static_cast<float>(*slot);
    const float gap = cell_width > 4 ? 1.0F : 0.0F;
    list->AddRectFilled({x, y}, {x + cell_width - gap, y + cell_height - (cell_height > 4 ? 1 : 0)},
                        HeatColor(static_cast<float>(share)));
  }
  if (cell_height >= 12) {
    for (size_t slot = 0; slot < summary.ranks.size(); ++slot) {
      const std::string label = "rank " + std::to_string(summary.ranks[slot].rank);
      list->AddText({at.x, at.y + cell_height * static_cast<float>(slot)}, context.theme->dim_text,
                    label.c_str());
    }
  }
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetMousePos();
  const auto step = static_cast<int64_t>((mouse.x - at.x - label_width) / cell_width);
  const auto slot = static_cast<size_t>(std::max(0.0F, (mouse.y - at.y) / cell_height));
  if (mouse.x < at.x + label_width || slot >= summary.ranks.size()) return;
  const int64_t rank = summary.ranks[slot].rank;
  const schema::StepBreakdownRow* row = summary.FindBreakdown(rank, step);
  if (row == nullptr) return;
  if (ImGui::BeginTooltip()) {
    Text("rank " + std::to_string(rank) + ", step " +
         std::to_string(summary.steps[static_cast<size_t>(step)].number) + ": " +
         FormatNs(row->step_ns));
    const auto parts = PartsOf(*row);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] > 0) Text(std::string(kStepParts[i]) + "  " + FormatNs(parts[i]));
    }
    ImGui::EndTooltip();
  }
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) state.GoToStep(step, rank);
}

void DrawCollective(DrawContext& context) {
  State& state = context.state;
  const RunSummary& summary = state.summary();
  if (summary.collectives.empty()) {
    Text("This run has no collectives.");
    return;
  }
  size_t place = 0;
  for (size_t i = 0; i < summary.collectives.size(); ++i) {
    if (state.collective == summary.collectives[i].row.id) place = i;
  }
  if (!state.collective) {  // the one with most skew tells most
    for (size_t i = 0; i < summary.collectives.size(); ++i) {
      if (summary.collectives[i].row.skew_ns.value_or(-1) >
          summary.collectives[place].row.skew_ns.value_or(-1)) {
        place = i;
      }
    }
  }
  if (ImGui::Button("<") && place > 0) state.collective = summary.collectives[--place].row.id;
  ImGui::SameLine();
  if (ImGui::Button(">") && place + 1 < summary.collectives.size()) {
    state.collective = summary.collectives[++place].row.id;
  }
  const schema::CollectiveRow& row = summary.collectives[place].row;
  ImGui::SameLine();
  std::string text = std::to_string(place + 1) + " of " +
                     FormatCount(static_cast<int64_t>(summary.collectives.size())) + ": " + row.op;
  if (row.bytes) text += "  " + FormatBytes(static_cast<double>(*row.bytes));
  if (row.sequence) text += "  sequence " + std::to_string(*row.sequence);
  if (row.step)
    text += "  step " + std::to_string(summary.steps[static_cast<size_t>(*row.step)].number);
  text += "  " + row.state;
  if (row.skew_ns) text += "  skew " + FormatNs(*row.skew_ns);
  if (row.transfer_ns) text += "  transfer " + FormatNs(*row.transfer_ns);
  text += "   pale: waits, full: transfers; the last to come first";
  Text(text);
  DrawCalls(context, summary.collectives[place]);
}

void EventsByName::Refresh(DrawContext& context) {
  State& state = context.state;
  if (loaded_ == state.session().loaded()) return;
  loaded_ = state.session().loaded();
  totals_ = SumRange(state.ranks(), INT64_MIN / 2, INT64_MAX / 2,
                     [](const EventRef&, const Track&) { return true; });
}

void EventsByName::DrawHistogram(DrawContext& context) {
  if (chosen_ >= totals_.names.size()) return;
  State& state = context.state;
  Event event;
  event.name = totals_.names[chosen_].name;
  // The source that most events of the name come from is not kept: the first that has any.
  const NameDurations* durations = nullptr;
  for (int source = 0; source <= static_cast<int>(Source::kDataWait); ++source) {
    event.source = static_cast<Source>(source);
    const NameDurations& candidate = state.DurationsOf(event);
    if (durations == nullptr || candidate.sorted_ns.size() > durations->sorted_ns.size()) {
      durations = &candidate;
    }
  }
  if (durations == nullptr || durations->sorted_ns.empty()) return;
  Text(ShortName(state.session().names().Text(event.name)));
  Text("p50 " + FormatNs(durations->Quantile(0.5)) + "  p90 " + FormatNs(durations->Quantile(0.9)) +
       "  p99 " + FormatNs(durations->Quantile(0.99)) + "  p99.9 " +
       FormatNs(durations->Quantile(0.999)));
  std::vector<double> micros;
  micros.reserve(durations->sorted_ns.size());
  for (const int64_t ns : durations->sorted_ns) micros.push_back(static_cast<double>(ns) / 1e3);
  if (!ImPlot::BeginPlot("##histogram", ImVec2(-1, -1), ImPlotFlags_NoLegend | ImPlotFlags_NoMenus))
    return;
  ImPlot::SetupAxes("µs", "events", ImPlotAxisFlags_AutoFit, ImPlotAxisFlags_AutoFit);
  ImPlot::PlotHistogram("durations", micros.data(), static_cast<int>(micros.size()), 60);
  ImPlot::EndPlot();
}

void EventsByName::Draw(DrawContext& context) {
  State& state = context.state;
  Refresh(context);
  ImGui::SetNextItemWidth(260 * context.scale);
  ImGui::InputTextWithHint("##names", "part of a name", &filter_);
  ImGui::SameLine();
  Text(FormatCount(totals_.count) + " events of " +
       FormatCount(static_cast<int64_t>(totals_.names.size())) + " names on all ranks");
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::BeginChild("names", {chosen_ < totals_.names.size() ? width * 0.6F : width, 0});
  if (ImGui::BeginTable("events", 5, kTable | ImGuiTableFlags_Sortable)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("count", ImGuiTableColumnFlags_PreferSortDescending);
    ImGui::TableSetupColumn(
        "total", ImGuiTableColumnFlags_PreferSortDescending | ImGuiTableColumnFlags_DefaultSort);
    ImGui::TableSetupColumn("mean", ImGuiTableColumnFlags_PreferSortDescending);
    ImGui::TableSetupColumn("longest", ImGuiTableColumnFlags_PreferSortDescending);
    ImGui::TableHeadersRow();
    ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
    if (specs != nullptr && specs->SpecsDirty && specs->SpecsCount > 0) {
      const ImGuiTableColumnSortSpecs& spec = specs->Specs[0];
      const auto value = [&](const NameTotal& total) -> double {
        switch (spec.ColumnIndex) {
          case 1:
            return static_cast<double>(total.count);
          case 3:
            return static_cast<double>(total.total_ns) / static_cast<double>(total.count);
          case 4:
            return static_cast<double>(total.longest_ns);
          default:
            return static_cast<double>(total.total_ns);
        }
      };
      const bool up = spec.SortDirection == ImGuiSortDirection_Ascending;
      std::stable_sort(totals_.names.begin(), totals_.names.end(),
                       [&](const auto& a, const auto& b) {
                         if (spec.ColumnIndex == 0) {
                           const auto left = state.session().names().Text(a.name);
                           const auto right = state.session().names().Text(b.name);
                           return up ? left < right : right < left;
                         }
                         return up ? value(a) < value(b) : value(a) > value(b);
                       });
      specs->SpecsDirty = false;
      chosen_ = SIZE_MAX;
    }
    std::vector<size_t> shown;
    for (size_t i = 0; i < totals_.names.size(); ++i) {
      const std::string_view name = state.session().names().Text(totals_.names[i].name);
      const auto same = [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
      };
      if (filter_.empty() || std::search(name.begin(), name.end(), filter_.begin(), filter_.end(),
                                         same) != name.end()) {
        shown.push_back(i);
      }
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(shown.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const size_t place = shown[static_cast<size_t>(i)];
        const NameTotal& total = totals_.names[place];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushID(i);
        const std::string name = ShortName(state.session().names().Text(total.name));
        if (ImGui::Selectable(name.c_str(), place == chosen_,
                              ImGuiSelectableFlags_SpanAllColumns)) {
          chosen_ = place;
        }
        ImGui::PopID();
        for (const std::string& text :
             {FormatCount(total.count), FormatNs(total.total_ns),
              FormatNs(total.total_ns / std::max<int64_t>(1, total.count)),
              FormatNs(total.longest_ns)}) {
          ImGui::TableNextColumn();
          Text(text);
        }
      }
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
  if (chosen_ >= totals_.names.size()) return;
  ImGui::SameLine();
  ImGui::BeginChild("histogram");
  DrawHistogram(context);
  ImGui::EndChild();
}

SqlConsole::SqlConsole()
    : query(
          "SELECT rank, step, begin_ns, end_ns, step_ns FROM step_window ORDER BY step_ns DESC "
          "LIMIT 50") {}
SqlConsole::~SqlConsole() = default;

void SqlConsole::Run(const RunSummary& summary) {
  columns_.clear();
  rows_.clear();
  auto view = schema::RunView::Open(summary.run);
  if (!view.ok()) {
    outcome_ = view.status().message();
    return;
  }
  view->database().SetDeadline(kSqlBudget);
  auto statement = view->database().Prepare(query);
  if (!statement.ok()) {
    outcome_ = statement.status().message();
    return;
  }
  for (int i = 0; i < statement->column_count(); ++i) columns_.push_back(statement->column_name(i));
  for (;;) {
    const auto found = statement->Step();
    if (!found.ok()) {
      outcome_ = found.status().message();
      return;
    }
    if (!*found || rows_.size() == kMostSqlRows) break;
    std::vector<std::string> row;
    for (int i = 0; i < statement->column_count(); ++i)
      row.push_back(CellText(statement->GetAny(i)));
    rows_.push_back(std::move(row));
  }
  outcome_ = FormatCount(static_cast<int64_t>(rows_.size())) + " rows" +
             (rows_.size() == kMostSqlRows ? ", cut there" : "");
}

void SqlConsole::GoToRow(State& state, const std::vector<std::string>& row) {
  const auto value = [&](const char* name) -> std::optional<int64_t> {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == name) return NumberOf(row[i]);
    }
    return std::nullopt;
  };
  const std::optional<int64_t> rank = value("rank");
  std::optional<int64_t> begin = value("begin_ns");
  for (const char* name : {"time_ns", "arrival_ns", "enqueue_ns"}) {
    if (!begin) begin = value(name);
  }
  if (!begin) {
    if (const auto step = value("step")) state.GoToStep(*step, rank);
    return;
  }
  int64_t offset = 0;  // raw tables, which have an attempt, tell the rank's own time
  const auto slot = rank ? state.summary().SlotOf(*rank) : std::nullopt;
  if (slot && value("attempt")) offset = state.summary().ranks[*slot].clock_offset_ns;
  const int64_t end = value("end_ns").value_or(*begin + 1'000);
  const int64_t margin = std::max<int64_t>((end - *begin) / 4, 500);
  state.Show(*begin + offset - margin, end + offset + margin);
  state.SelectRange(*begin + offset, end + offset);
}

void SqlConsole::Draw(DrawContext& context) {
  State& state = context.state;
  ImGui::PushFont(context.fonts.mono, 0);
  ImGui::InputTextMultiline("##query", &query, {-1, 54 * context.scale});
  const bool is_entered =
      ImGui::IsItemFocused() && ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_Enter);
  ImGui::PopFont();
  if (ImGui::Button("Run (Ctrl+Enter)") || is_entered) Run(state.summary());
  ImGui::SameLine();
  Text(outcome_.empty() ? "reads only; a click on a row with begin_ns or step goes there"
                        : outcome_);
  if (columns_.empty() || columns_.size() > 60) return;
  if (!ImGui::BeginTable("result", static_cast<int>(columns_.size()), kTable)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const std::string& column : columns_) ImGui::TableSetupColumn(column.c_str());
  ImGui::TableHeadersRow();
  ImGui::PushFont(context.fonts.mono, 0);
  std::optional<size_t> wanted;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows_.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const std::vector<std::string>& row = rows_[static_cast<size_t>(i)];
      ImGui::TableNextRow();
      ImGui::PushID(i);
      for (size_t column = 0; column < row.size(); ++column) {
        ImGui::TableNextColumn();
        if (column > 0) {
          Text(row[column]);
        } else if (ImGui::Selectable((row[0] + "##first").c_str(), false,
                                     ImGuiSelectableFlags_SpanAllColumns)) {
          wanted = static_cast<size_t>(i);
        }
      }
      ImGui::PopID();
    }
  }
  ImGui::PopFont();
  ImGui::EndTable();
  if (wanted) GoToRow(state, rows_[*wanted]);
}

}  // namespace tutti::viewer
