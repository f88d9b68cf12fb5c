// Queries that read, over the whole run.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <charconv>
#include <chrono>

#include "schema/database.h"
#include "schema/run_view.h"
#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

constexpr ImGuiTableFlags kTable = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                   ImGuiTableFlags_ScrollX | ImGuiTableFlags_BordersInnerV |
                                   ImGuiTableFlags_Resizable;
constexpr size_t kMostSqlRows = 10'000;
constexpr auto kSqlBudget = std::chrono::seconds(5);

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

}  // namespace

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
  const int64_t length = std::max<int64_t>(0, value("end_ns").value_or(*begin + 1'000) - *begin);
  const int64_t from = state.summary().times_a(*begin + offset);
  const int64_t margin = std::max<int64_t>(length / 4, 500);
  state.Show(from - margin, from + length + margin);
  state.SelectRange(from, from + length);
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
  if (columns_.empty()) return;
  ImGui::SameLine();
  CsvButton([this] {
    Csv csv;
    csv.AddRow(columns_);
    for (const std::vector<std::string>& row : rows_) csv.AddRow(row);
    return csv;
  });
  if (columns_.size() > 60) return Text("More than 60 columns: ask for fewer, or copy them.");
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
