// What memory was held by at a moment: by what it is for, over ranks, and block by block.
#include <imgui.h>

#include <algorithm>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

std::string ShareText(int64_t part, int64_t whole) {
  if (whole <= 0) return "";
  return std::to_string((200 * part + whole) / (2 * whole)) + " %";
}

void DrawUses(const DrawContext& context, const HeldMemory& held) {
  if (!ImGui::BeginTable("uses", 3, kTableFlags)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("allocated in", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, 76 * context.scale);
  ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed, 58 * context.scale);
  ImGui::TableHeadersRow();
  for (const auto& [use, bytes] : held.by_use) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    Text(use);
    ImGui::TableNextColumn();
    RightText(FormatValue(static_cast<double>(bytes), "bytes"));
    ImGui::TableNextColumn();
    RightText(ShareText(bytes, held.allocated_bytes));
  }
  ImGui::EndTable();
}

// The same allocator of all ranks.
void DrawRanks(DrawContext& context, const State::MemoryPlace& place) {
  State& state = context.state;
  if (!ImGui::BeginTable("ranks", 3, kTableFlags)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("rank", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("then", ImGuiTableColumnFlags_WidthFixed, 76 * context.scale);
  ImGui::TableSetupColumn("peak", ImGuiTableColumnFlags_WidthFixed, 76 * context.scale);
  ImGui::TableHeadersRow();
  const bool is_host = state.ranks()[place.rank]->tracks[place.track].device < 0;
  for (uint32_t slot = 0; slot < state.ranks().size(); ++slot) {
    if (state.ranks()[slot] == nullptr) continue;
    const std::vector<Track>& tracks = state.ranks()[slot]->tracks;
    for (uint32_t i = 0; i < tracks.size(); ++i) {
      const Track& track = tracks[i];
      if (track.kind != TrackKind::kMemory || (track.device < 0) != is_host) continue;
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(static_cast<int>(slot * 64 + i));
      const std::string name = state.summary().RankName(state.summary().ranks[slot].rank);
      if (ImGui::Selectable(name.c_str(), slot == place.rank && i == place.track,
                            ImGuiSelectableFlags_SpanAllColumns)) {
        state.memory_place = {slot, i, place.time_ns};
      }
      ImGui::PopID();
      const Extent now = track.series.Holding(place.time_ns, place.time_ns + 1);
      ImGui::TableNextColumn();
      if (!now.is_empty) RightText(FormatValue(now.largest, "bytes"));
      ImGui::TableNextColumn();
      RightText(FormatValue(track.series.extent().largest, "bytes"));
    }
  }
  ImGui::EndTable();
}

}  // namespace

void MemoryPanel::Refresh(DrawContext& context) {
  State& state = context.state;
  const State::MemoryPlace place = *state.memory_place;
  if (made_.Take(&held_)) has_ = making_;
  if (has_ == place || made_.is_busy()) return;
  making_ = place;
  // The rank's own clock: what is read knows of no other.
  const int64_t time_ns = state.AlignedTime(place.rank, place.time_ns);
  const int64_t device = state.ranks()[place.rank]->tracks[place.track].device;
  made_.Start([&state, trace = state.AlignedTrace(place.rank), place, device, time_ns] {
    return std::optional(
        MemoryAt(state.summary(), place.rank, *trace, state.session().names(), device, time_ns));
  });
  if (made_.Take(&held_)) has_ = making_;
}

Csv MemoryPanel::AsCsv() const {
  Csv csv;
  csv.AddRow({"bytes", "use", "by", "allocated_ns", "released_ns"});
  const auto text = [](const std::optional<int64_t>& time) {
    return time.has_value() ? std::to_string(*time) : "";
  };
  for (const HeldBlock& block : (*held_)->blocks) {
    csv.AddRow({std::to_string(block.bytes), block.use, block.by, text(block.allocated_ns),
                text(block.released_ns)});
  }
  return csv;
}

void MemoryPanel::DrawBlocks(DrawContext& context, const HeldMemory& held) {
  State& state = context.state;
  if (!ImGui::BeginTable("blocks", 5, kTableFlags)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, 76 * context.scale);
  ImGui::TableSetupColumn("allocated in", ImGuiTableColumnFlags_WidthFixed, 130 * context.scale);
  ImGui::TableSetupColumn("by", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("allocated", ImGuiTableColumnFlags_WidthFixed, 84 * context.scale);
  ImGui::TableSetupColumn("held for", ImGuiTableColumnFlags_WidthFixed, 84 * context.scale);
  ImGui::TableHeadersRow();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(held.blocks.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const HeldBlock& block = held.blocks[static_cast<size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      const std::string bytes = FormatValue(static_cast<double>(block.bytes), "bytes");
      const bool is_clicked =
          ImGui::Selectable(bytes.c_str(), false, ImGuiSelectableFlags_SpanAllColumns);
      ImGui::PopID();
      // To the moment at which it was allocated.
      if (is_clicked && block.allocated_ns) {
        const int64_t half = state.viewport().span_ns() / 2;
        const int64_t time = state.ShownTime(state.memory_place->rank, *block.allocated_ns);
        state.Show(time - half, time + half);
      }
      ImGui::TableNextColumn();
      Text(block.use);
      ImGui::TableNextColumn();
      Text(block.by);
      ImGui::TableNextColumn();
      RightText(block.allocated_ns ? FormatNs(*block.allocated_ns - state.summary().begin_ns)
                                   : "before");
      ImGui::TableNextColumn();
      if (block.released_ns && block.allocated_ns) {
        RightText(FormatNs(*block.released_ns - *block.allocated_ns));
      } else {
        RightText(block.released_ns ? "" : "kept");
      }
    }
  }
  ImGui::EndTable();
}

void MemoryPanel::Draw(DrawContext& context) {
  State& state = context.state;
  const auto& place = state.memory_place;
  if (!place.has_value() || state.ranks()[place->rank] == nullptr) {
    DimWrapped(context,
               "Click a row of memory, or press U over it: what its memory is held by at that "
               "moment.");
    return;
  }
  Refresh(context);
  const Track& track = state.ranks()[place->rank]->tracks[place->track];
  std::string title = state.summary().RankName(state.summary().ranks[place->rank].rank) + ", " +
                      track.label + " at " + FormatNs(place->time_ns - state.summary().begin_ns);
  const bool is_read = has_ == place && held_.has_value();
  const bool is_ready = is_read && held_->ok();
  if (is_ready) {
    const HeldMemory& held = **held_;
    title += ":  " + FormatValue(static_cast<double>(held.allocated_bytes), "bytes") + " in " +
             FormatCount(static_cast<int64_t>(held.blocks.size())) + " blocks that were seen";
    if (held.reserved_bytes) {
      title += ", " + FormatValue(static_cast<double>(*held.reserved_bytes), "bytes") + " reserved";
    }
  }
  Text(title);
  if (!is_ready) {
    Dim(context, is_read ? held_->status().message() : "being read");
    return;
  }
  ImGui::SameLine();
  CsvButton([&] { return AsCsv(); });
  const float width = 300 * context.scale;
  if (ImGui::BeginChild("by use", {width, 0})) DrawUses(context, **held_);
  ImGui::EndChild();
  ImGui::SameLine();
  if (state.ranks().size() > 1) {
    if (ImGui::BeginChild("by rank", {width * 0.8F, 0})) DrawRanks(context, *place);
    ImGui::EndChild();
    ImGui::SameLine();
  }
  if (ImGui::BeginChild("by block", {0, 0})) DrawBlocks(context, **held_);
  ImGui::EndChild();
}

}  // namespace tutti::viewer
