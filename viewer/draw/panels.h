// The panels around the timeline; each draws the inside of its window.
#pragma once

#include <imgui.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/draw/background.h"
#include "viewer/draw/context.h"
#include "viewer/model/comparison.h"
#include "viewer/model/flame.h"
#include "viewer/model/grouping.h"
#include "viewer/model/memory_at.h"
#include "viewer/scene/csv.h"

namespace tutti::viewer {

void DrawFindings(DrawContext& context);    // what costs time; a click goes to the evidence
void DrawDetails(DrawContext& context);     // all that is known of the selected event
void DrawRange(DrawContext& context);       // what the selected range of time is spent on
void DrawSearch(DrawContext& context);      // matches, as a table
void DrawCollective(DrawContext& context);  // one collective over ranks, by lateness
void DrawHang(DrawContext& context);        // who is behind in which group
void DrawHelp(DrawContext& context);        // keys

// Rank × step, coloured by a figure; a click goes there.
class HeatMap {
 public:
  void Draw(DrawContext& context);

 private:
  int figure_ = 0;  // 0 step time, then the parts of a step
};

// All names with count, total, longest, or events grouped otherwise; a histogram of one name.
class EventsPanel {
 public:
  void Draw(DrawContext& context);

 private:
  struct Key {
    size_t loaded = SIZE_MAX;
    std::optional<TimeRange> range;
    GroupBy by = GroupBy::kName;
    friend bool operator==(const Key&, const Key&) = default;
  };
  void Refresh(DrawContext& context);
  void Sort();
  void DrawTable(DrawContext& context);
  void DrawHistogram(DrawContext& context);
  void HandleBrush(DrawContext& context);
  Csv AsCsv() const;

  GroupBy by_ = GroupBy::kName;
  bool only_range_ = false;
  std::string filter_;
  Key has_;                         // what totals_ are of
  Key making_;                      // what is being made
  std::vector<GroupTotal> totals_;  // as the table is sorted
  std::vector<size_t> shown_;       // places in totals_
  bool is_sorted_ = false;
  std::optional<NameId> chosen_;
  std::optional<double> brush_from_;  // µs, while the histogram is brushed
  Background<std::vector<GroupTotal>> made_;
};

// Where time goes below what calls what.
class FlamePanel {
 public:
  void Draw(DrawContext& context);

 private:
  struct Key {
    size_t loaded = SIZE_MAX;
    std::optional<TimeRange> range;
    int tracks = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  void Refresh(DrawContext& context);
  void DrawBox(DrawContext& context, const FlameBox& box, const ImVec2& at);

  int tracks_ = 0;  // 0 threads, 1 streams
  Key has_;         // what graph_ is of
  Key making_;
  FlameGraph graph_;
  uint32_t top_ = 0;  // node that fills the width
  std::optional<uint32_t> clicked_;
  Background<FlameGraph> made_;
};

// A rank's steps below one another.
class StepsPanel {
 public:
  void Draw(DrawContext& context);

 private:
  size_t slot_ = 0;
};

// Any query that reads; a row with a time, of a rank if it names one, is a place to go to.
class SqlConsole {
 public:
  SqlConsole();
  ~SqlConsole();
  void Draw(DrawContext& context);
  void Run(const RunSummary& summary);
  std::string query;

 private:
  void GoToRow(State& state, const std::vector<std::string>& row);

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::string outcome_;
};

// What memory was held by at a moment.
class MemoryPanel {
 public:
  void Draw(DrawContext& context);

 private:
  void Refresh(DrawContext& context);
  void DrawBlocks(DrawContext& context, const HeldMemory& held);
  Csv AsCsv() const;

  std::optional<State::MemoryPlace> has_;  // what held_ is of
  std::optional<State::MemoryPlace> making_;
  std::optional<Result<HeldMemory>> held_;
  Background<std::optional<Result<HeldMemory>>> made_;
};

// Marks and named views.
class NotesPanel {
 public:
  void Draw(DrawContext& context);

 private:
  void DrawMarks(DrawContext& context);
  void DrawViews(DrawContext& context);

  std::string name_;
};

// Predicts the step's length if something were different: sliders, and what is usually asked.
class WhatIfPanel {
 public:
  void Draw(DrawContext& context);

 private:
  void DrawControls(DrawContext& context);
  void DrawAnswer(DrawContext& context, const ReplayFacts& facts);
  void DrawUsual(DrawContext& context, const ReplayFacts& facts);
  std::vector<std::string> Words() const;

  float bandwidth_ = 1;
  float host_ = 1;
  float launch_ = 1;
  float operator_ = 1;
  std::string operator_name_;  // that operator_ is about, "" none
  bool no_stragglers_ = false;
  bool no_input_wait_ = false;
  bool no_exposed_comm_ = false;
  bool no_copies_ = false;
  bool no_syncs_ = false;
  std::vector<std::string> asked_;
};

// Run B against run A.
class ComparePanel {
 public:
  void Draw(DrawContext& context);

 private:
  void Refresh(DrawContext& context);
  void DrawParts(DrawContext& context);
  void DrawNames(DrawContext& context);

  size_t loaded_ = SIZE_MAX;
  std::optional<TimeRange> range_;
  std::vector<NameDelta> names_;
};

// Every command by its name; what is typed narrows them down.
class Palette {
 public:
  void Draw(DrawContext& context);

 private:
  std::string text_;
  bool was_open_ = false;
  int chosen_ = 0;
};

}  // namespace tutti::viewer
