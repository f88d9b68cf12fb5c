// How long a step would take if something were different.
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

constexpr ImGuiTableFlags kTable = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                   ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_SizingFixedFit;

std::string Percent(int64_t part, int64_t whole) {
  return FormatShare(whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
}

// "bandwidth=2.00", as a scenario has it.
std::string Word(const char* name, float factor) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s%.2f", name, static_cast<double>(factor));
  return text.data();
}

void Slider(const char* label, float* factor, float least, float most, ImGuiSliderFlags flags = 0) {
  ImGui::SliderFloat(label, factor, least, most, "x %.2f", flags | ImGuiSliderFlags_AlwaysClamp);
}

}  // namespace

std::vector<std::string> WhatIfPanel::Words() const {
  std::vector<std::string> words;
  const auto changes = [](float factor) { return std::abs(factor - 1) >= 0.005F; };
  if (changes(bandwidth_)) words.push_back(Word("bandwidth=", bandwidth_));
  if (changes(host_)) words.push_back(Word("host=", host_));
  if (changes(launch_)) words.push_back(Word("launch=", launch_));
  if (changes(operator_) && !operator_name_.empty()) {
    words.push_back(Word(("op=" + operator_name_ + ":").c_str(), operator_));
  }
  if (no_stragglers_) words.emplace_back("no-stragglers");
  if (no_input_wait_) words.emplace_back("no-input-wait");
  if (no_exposed_comm_) words.emplace_back("no-exposed-comm");
  if (no_copies_) words.emplace_back("no-copies");
  if (no_syncs_) words.emplace_back("no-syncs");
  return words;
}

void WhatIfPanel::DrawControls(DrawContext& context) {
  ImGui::PushItemWidth(170 * context.scale);
  Slider("bandwidth of collectives", &bandwidth_, 0.25F, 8, ImGuiSliderFlags_Logarithmic);
  Slider("host time between operators", &host_, 0, 2);
  Slider("time of launches", &launch_, 0, 2);
  if (const auto event = context.state.selected_event()) {
    operator_name_ = context.state.session().names().Text(event->name);
  }
  ImGui::BeginDisabled(operator_name_.empty());
  const std::string label =
      operator_name_.empty() ? "time of the selected event's name" : ShortName(operator_name_);
  Slider((label + "###operator").c_str(), &operator_, 0, 2);
  ImGui::EndDisabled();
  ImGui::PopItemWidth();
  const float second = 240 * context.scale;
  ImGui::Checkbox("no stragglers", &no_stragglers_);
  ImGui::SameLine(second);
  ImGui::Checkbox("no waits for input", &no_input_wait_);
  ImGui::Checkbox("no exposed communication", &no_exposed_comm_);
  ImGui::SameLine(second);
  ImGui::Checkbox("no copies", &no_copies_);
  ImGui::Checkbox("no synchronisation", &no_syncs_);
  ImGui::SameLine(second);
  if (ImGui::Button("As it was")) *this = WhatIfPanel();
}

void WhatIfPanel::DrawAnswer(DrawContext& context, const ReplayFacts& facts) {
  const auto answer = context.state.replay().answer();
  int64_t step_ns = facts.unchanged_ns;
  std::string error;
  if (!asked_.empty() && answer.has_value()) {
    if (answer->ok()) {
      step_ns = (*answer)->step_ns;
    } else {
      error = answer->status().message();
    }
  }
  const float width = std::max(60.0F, ImGui::GetContentRegionAvail().x - 8);
  const auto longest = static_cast<float>(std::max({facts.unchanged_ns, step_ns, int64_t{1}}));
  const auto bar = [&](const std::string& label, int64_t ns, ImU32 color) {
    Text(label);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = 12 * context.scale;
    ImGui::GetWindowDrawList()->AddRectFilled(
        at, {at.x + width * static_cast<float>(ns) / longest, at.y + height}, color, 2);
    ImGui::Dummy({width, height + 4});
  };
  bar("a step takes " + FormatNs(facts.unchanged_ns) + " (mean of " + FormatCount(facts.steps) +
          ", measured " + FormatNs(facts.measured_ns) + ")",
      facts.unchanged_ns, context.theme->dim_text);
  bar("it would take " + FormatNs(step_ns) + ", " +
          Percent(step_ns - facts.unchanged_ns, facts.unchanged_ns),
      step_ns, ColorOf(Category::kCompute));
  if (!error.empty()) ImGui::TextWrapped("%s", error.c_str());
}

void WhatIfPanel::DrawUsual(DrawContext& context, const ReplayFacts& facts) {
  const std::vector<Prediction> usual = context.state.replay().usual();
  if (!ImGui::BeginTable("usual", 3, kTable)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("what if", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("step");
  ImGui::TableSetupColumn("change");
  ImGui::TableHeadersRow();
  for (const Prediction& prediction : usual) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    Text(prediction.scenario);
    ImGui::TableNextColumn();
    Text(FormatNs(prediction.step_ns));
    ImGui::TableNextColumn();
    Text(Percent(-prediction.saved_ns, facts.unchanged_ns));
  }
  ImGui::EndTable();
}

void WhatIfPanel::Draw(DrawContext& context) {
  ReplayRunner& replay = context.state.replay();
  if (replay.phase() == ReplayRunner::Phase::kNone)
    return Text("No replay of this run is at hand.");
  replay.Open();
  const auto facts = replay.facts();
  if (replay.phase() == ReplayRunner::Phase::kFailed) {
    ImGui::TextWrapped("%s", replay.error().c_str());
    return;
  }
  if (facts == nullptr) return Text("Reading the steps of all ranks for a replay ...");
  const float column = ImGui::GetContentRegionAvail().x / 3;
  ImGui::BeginChild("controls", {column, 0});
  DrawControls(context);
  ImGui::EndChild();
  if (const std::vector<std::string> words = Words(); words != asked_) {
    asked_ = words;
    if (!words.empty()) replay.Ask(words);
  }
  ImGui::SameLine();
  ImGui::BeginChild("answer", {column, 0});
  DrawAnswer(context, *facts);
  bool shows_path = context.state.shows_path();
  if (ImGui::Checkbox("critical path on the timeline (C)", &shows_path)) {
    context.state.ShowPath(shows_path);
  }
  ImGui::EndChild();
  ImGui::SameLine();
  ImGui::BeginChild("usual");
  DrawUsual(context, *facts);
  ImGui::EndChild();
}

}  // namespace tutti::viewer
