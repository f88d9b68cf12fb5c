#include <algorithm>
#include <vector>

#include "analyzer/metrics/stack_frames.h"
#include "analyzer/report/format.h"
#include "analyzer/report/text_sections.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostHolders = 8;

using Rows = std::vector<std::vector<std::string>>;

// What holds the peak: the line of the program that allocated it.
std::string HoldersOf(const ReportData& data, const schema::MemoryPeakRow& peak) {
  Rows rows = {{"", "held at the peak", "share", "blocks", "allocated in"}};
  size_t all = 0;
  for (const schema::MemoryHolderRow& row : data.memory_holders) {
    if (row.rank != peak.rank || row.device_type != peak.device_type ||
        row.device_id != peak.device_id || ++all > kMostHolders) {
      continue;
    }
    const std::string frame = ShortFrame(FrameToShow(row.stack));
    rows.push_back({"", Bytes(row.bytes),
                    PercentOf(static_cast<double>(row.bytes), static_cast<double>(peak.peak_bytes)),
                    row.blocks > 0 ? WithCommas(row.blocks) : "-",
                    row.stack.empty() ? "no stack: before the trace begins"
                                      : Cut(ToPrintableText(frame), 56)});
  }
  if (rows.size() == 1) return "";
  std::string text = Table(rows, 5);
  if (all > kMostHolders) {
    text += "  and " + std::to_string(all - kMostHolders) + " more in memory_holder\n";
  }
  return text;
}

std::string StatesOf(const ReportData& data) {
  std::string text;
  for (const schema::MemoryStateRow& row : data.memory_states) {
    const auto reserved = static_cast<double>(row.reserved_bytes);
    std::string line =
        "rank " + std::to_string(row.rank) + ", GPU " + std::to_string(row.device_id) +
        " at the snapshot: " + Bytes(row.reserved_bytes) + " reserved in " +
        Counted(row.segments, "segment", "segments") + ", " + Bytes(row.allocated_bytes) +
        " allocated; unused " + Bytes(row.free_segment_bytes) + " in empty segments and " +
        Bytes(row.inactive_split_bytes) + " in " +
        Counted(row.inactive_split_blocks, "part", "parts") + " of segments in use (" +
        PercentOf(static_cast<double>(row.inactive_split_bytes), reserved) +
        " fragmentation), largest " + Bytes(row.largest_free_bytes);
    text += Wrap(line, kColumns, 2, 4) + "\n";
  }
  return text;
}

}  // namespace

std::string Memory(const ReportData& data, const Painter& paint) {
  const auto peak =
      std::max_element(data.memory.begin(), data.memory.end(),
                       [](const auto& a, const auto& b) { return a.peak_bytes < b.peak_bytes; });
  if (peak == data.memory.end()) {
    const std::string states = StatesOf(data);
    return states.empty() ? "" : "\n" + paint.Bold("Memory") + "\n" + states;
  }
  std::string line = "peak " + Bytes(peak->peak_bytes) + " of " +
                     ToPrintableText(peak->device_type) + " memory on rank " +
                     std::to_string(peak->rank);
  if (peak->peak_step && data.HasSteps()) line += " in step " + std::to_string(*peak->peak_step);
  line += ", " + Bytes(peak->end_bytes) + " at the end; " + WithCommas(peak->allocations) +
          " allocations of " + Bytes(peak->allocated_bytes) + " in all";
  return "\n" + paint.Bold("Memory") + "\n" + Wrap(line, kColumns, 2, 4) + "\n" +
         HoldersOf(data, *peak) + StatesOf(data);
}

}  // namespace tutti::analyzer
