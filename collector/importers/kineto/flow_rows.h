// Arrows between events (phases s, t, f) -> flow. A start may have several ends, ends may
// come before their start in the file, and an arrow is known by category, name and id
// together. One thread.
//
// Memory: arrows that are not complete are kept, 48 bytes each; when there are too many
// they go to a temporary file in parts, which are joined one by one at the end.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <unordered_map>
#include <vector>

#include "collector/importers/kineto/context.h"

namespace tutti::collector::importers::kineto {

class FlowRows {
 public:
  // Keeps at most `most_kept` points in memory.
  explicit FlowRows(Context& context, size_t most_kept = size_t{2} << 20);

  void OnFlow(const RawEvent& event, char phase);
  // Joins what went to the file and counts what has no partner.
  void Finish();

 private:
  struct Point {
    uint64_t key = 0;  // hash of category, name and id
    int64_t time_ns = 0;
    int64_t name_id = 0;
    uint32_t track = 0;
    uint8_t kind = 0;  // of Kind
    bool is_start = false;
    bool has_partner = false;
  };
  enum Kind : uint8_t { kForwardBackward, kLaunch, kOther };
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static constexpr size_t kParts = 64;

  static Kind KindOf(std::string_view category, std::string_view name);
  void AddPoint(const Point& point);
  void AddStart(const Point& start);
  void AddEnd(const Point& end);
  void Write(const Point& start, const Point& end);
  bool Spill();
  bool AppendToPart(const Point& point);
  void JoinParts();
  void CountDangling();

  Context& context_;
  size_t most_kept_;
  std::unordered_map<uint64_t, Point> starts_;
  std::unordered_multimap<uint64_t, Point> ends_;  // before their start
  std::array<std::unique_ptr<std::FILE, CloseFile>, kParts> parts_;
  bool has_spilled_ = false;
  int64_t dangling_ = 0;
};

}  // namespace tutti::collector::importers::kineto
