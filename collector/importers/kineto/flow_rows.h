// Arrows between events (phases s, t, f) -> flow. A start may have several ends, ends may
// come before their start in the file, and an arrow is known by category, name and id
// together. One thread.
//
// Memory: all points are kept, 24 bytes each in a table of at most four times their number; when
// there are too many they go to temporary files by key, which are joined one by one at the
// end.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "collector/importers/kineto/context.h"

namespace tutti::collector::importers::kineto {

class FlowRows {
 public:
  // Keeps at most `most_kept` points in memory.
  explicit FlowRows(Context& context, size_t most_kept = size_t{3} << 19);

  void OnFlow(const RawEvent& event, char phase);
  // Joins what went to the file and counts what has no partner.
  void Finish();

 private:
  enum Kind : uint8_t { kForwardBackward, kLaunch, kOther };
  struct Point {
    uint64_t key = 0;  // hash of category, name and id; 0: an empty slot
    int64_t time_ns = 0;
    uint32_t name_id = 0;
    uint32_t track : 24 = 0;  // their number is bounded
    Kind kind : 2 = kOther;
    bool is_start : 1 = false;
    bool has_partner : 1 = false;
  };
  static_assert(sizeof(Point) == 24);
  static constexpr uint32_t kTrackMask = (1U << 24) - 1;
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static constexpr size_t kParts = 64;
  static constexpr size_t kMostWaiting = 64;  // ends before their start, per arrow
  static constexpr size_t kFirstSlots = size_t{1} << 12;

  static Kind KindOf(std::string_view category, std::string_view name);
  static uint64_t KeyOf(const RawEvent& event, uint32_t name_id);
  void AddPoint(const Point& point);
  void AddStart(const Point& start);
  void AddEnd(const Point& end);
  void Insert(const Point& point);
  void Grow();
  template <typename Function>
  void ForEachOf(uint64_t key, Function&& function);
  void Write(const Point& start, const Point& end);
  bool Spill();
  bool AppendToPart(const Point& point);
  void JoinParts();
  void CountDangling();

  Context& context_;
  size_t most_kept_;
  // Open addressing, a power of two; several points may have one key. Nothing is taken out:
  // a start may always get one more end.
  std::vector<Point> slots_;
  size_t used_ = 0;
  std::array<std::unique_ptr<std::FILE, CloseFile>, kParts> parts_;
  bool has_spilled_ = false;
  int64_t dangling_ = 0;
};

}  // namespace tutti::collector::importers::kineto
