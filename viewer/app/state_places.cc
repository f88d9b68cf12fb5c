// Where a state's user can go: steps, ranks, matches of the search, findings, places by name.
#include <algorithm>
#include <charconv>

#include "viewer/app/state.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

constexpr size_t kMostHitsALane = 20'000;

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void State::GoToStep(int64_t step, std::optional<int64_t> rank) {
  if (step < 0 || step >= static_cast<int64_t>(summary().steps.size())) return;
  const schema::RunStepRow& row = summary().steps[static_cast<size_t>(step)];
  TimeRange range{row.begin_ns, row.end_ns};
  // Of two runs the step of the longer one is shown.
  if (rank.has_value() && !summary().has_two_runs()) {
    if (const schema::StepWindowRow* window = summary().FindWindow(*rank, step)) {
      range = {window->begin_ns, window->end_ns};
    }
  }
  const std::optional<size_t> slot = rank.has_value() ? summary().SlotOf(*rank) : std::nullopt;
  if (slot.has_value()) range = {range.begin_ns + ShiftOf(*slot), range.end_ns + ShiftOf(*slot)};
  const int64_t margin = (range.end_ns - range.begin_ns) / 20;
  Show(range.begin_ns - margin, range.end_ns + margin);
  if (!slot.has_value() || ranks_[*slot] == nullptr) return;
  float y = 0;
  for (const Row& candidate : tree().rows) {
    if (candidate.kind == RowKind::kRank && candidate.rank == *slot) {
      if (!candidate.is_open) ToggleOpen(candidate.key);
      ScrollTo(y);
      return;
    }
    y += candidate.height;
  }
}

std::optional<int64_t> State::CurrentStep() const {
  std::optional<int64_t> best;
  int64_t most_ns = 0;
  for (const schema::RunStepRow& step : summary().steps) {
    const int64_t inside =
        std::min(step.end_ns, Goal().end_ns) - std::max(step.begin_ns, Goal().begin_ns);
    if (inside > most_ns) {
      most_ns = inside;
      best = step.step;
    }
  }
  return best;
}

void State::GoToNextStep(int direction) {
  const std::optional<int64_t> current = CurrentStep();
  if (!current.has_value()) return;
  const int64_t next = *current + direction;
  if (next < 0 || next >= static_cast<int64_t>(summary().steps.size())) return;
  // The same zoom and the same place in the step, unless more than a step is on screen.
  const auto& from = summary().steps[static_cast<size_t>(*current)];
  const auto& to = summary().steps[static_cast<size_t>(next)];
  if (Goal().span_ns() > 2 * (from.end_ns - from.begin_ns)) return GoToStep(next, {});
  const int64_t shift = to.begin_ns - from.begin_ns;
  Show(Goal().begin_ns + shift, Goal().end_ns + shift);
}

void State::GoToNextRank(int direction) {
  float y = 0;
  std::optional<float> above;
  for (const Row& row : tree().rows) {
    if (row.kind == RowKind::kRank) {
      if (direction > 0 && y > scroll_y_ + 1) return ScrollTo(y);
      if (y < scroll_y_ - 1) above = y;
    }
    y += row.height;
  }
  if (direction < 0) ScrollTo(above.value_or(0));
}

void State::ToggleMark(int64_t time_ns) {
  const auto near = static_cast<int64_t>(4 * viewport_.ns_per_px());
  const auto is_near = [&](const Mark& mark) { return std::abs(mark.time_ns - time_ns) <= near; };
  if (std::erase_if(marks, is_near) == 0) MarkAt(time_ns);
  edited_mark.reset();
}

size_t State::MarkAt(int64_t time_ns) {
  const auto near = static_cast<int64_t>(4 * viewport_.ns_per_px());
  const auto behind = std::find_if(
      marks.begin(), marks.end(), [&](const Mark& mark) { return mark.time_ns >= time_ns - near; });
  const auto at = static_cast<size_t>(behind - marks.begin());
  if (behind != marks.end() && behind->time_ns <= time_ns + near) return at;
  marks.insert(behind, {time_ns, ""});
  return at;
}

void State::KeepView(const std::string& name) {
  if (name.empty()) return;
  std::erase_if(views, [&](const NamedView& view) { return view.name == name; });
  views.push_back({name, Goal().begin_ns, Goal().end_ns, scroll_y_, choices_});
}

void State::ShowView(const NamedView& view) {
  const auto groups = std::move(choices_.groups);
  const auto notes = std::move(choices_.rank_notes);
  choices_ = view.rows;
  choices_.groups = groups;
  choices_.rank_notes = notes;
  InvalidateRows();
  Show(view.begin_ns, view.end_ns);
  ScrollTo(view.scroll_y);
}

void State::LookAtMemory(const Row* row, int64_t time_ns) {
  const auto is_memory = [&](uint32_t slot, uint32_t track) {
    return ranks_[slot]->tracks[track].kind == TrackKind::kMemory;
  };
  const bool is_row = row != nullptr && row->track != kNoTrack && ranks_[row->rank] != nullptr;
  if (is_row && is_memory(row->rank, row->track)) {
    memory_place = {row->rank, row->track, time_ns};
  } else if (memory_place.has_value()) {
    memory_place->time_ns = time_ns;
  }
  // A GPU's rather than the host's.
  for (uint32_t slot = 0; slot < ranks_.size() && !memory_place.has_value(); ++slot) {
    if (ranks_[slot] == nullptr) continue;
    for (auto track = static_cast<uint32_t>(ranks_[slot]->tracks.size()); track-- > 0;) {
      if (is_memory(slot, track)) {
        memory_place = {slot, track, time_ns};
        break;
      }
    }
  }
  Raise(Panel::kMemory);
}

void State::Search(const std::string& text) {
  SearchState next;
  next.text = text;
  if (!text.empty()) {
    const Result<NameFilter> filter = NameFilter::Parse(text);
    if (filter.ok()) {
      next.result = viewer::Search(ranks_, session_->names(), *filter, kMostHitsALane);
    } else {
      next.error = filter.status().message();
    }
    if (text != search_.text) Raise(Panel::kSearch);
  }
  search_ = std::move(next);
}

void State::SearchDurations(NameId name, int64_t least_ns, int64_t most_ns) {
  search_ = SearchState();
  search_.text = std::string(session_->names().Text(name)) + " of " + FormatNs(least_ns) + " to " +
                 FormatNs(most_ns);
  search_.durations = {name, least_ns, most_ns};
  search_.result = viewer::SearchDurations(ranks_, name, least_ns, most_ns, kMostHitsALane);
  Raise(Panel::kSearch);
}

void State::GoToHit(int direction) {
  const std::vector<EventRef>& hits = search_.result.hits;
  if (hits.empty()) return;
  if (!search_.current.has_value()) {
    // The first one on screen.
    const auto first = std::find_if(hits.begin(), hits.end(), [&](const EventRef& ref) {
      return EventAt(ranks_, ref)->begin_ns >= viewport_.begin_ns;
    });
    search_.current = first == hits.end() ? 0 : static_cast<size_t>(first - hits.begin());
  } else if (direction > 0) {
    search_.current = (*search_.current + 1) % hits.size();
  } else {
    search_.current = (*search_.current + hits.size() - 1) % hits.size();
  }
  GoTo(EventRef(hits[*search_.current]));
}

void State::GoToCollective(int64_t id, int64_t rank) {
  collective = id;
  const std::optional<size_t> slot = summary().SlotOf(rank);
  if (!slot.has_value()) return;
  for (const Collective& candidate : summary().collectives) {
    if (candidate.row.id != id) continue;
    for (const schema::CollectiveCallRow& call : candidate.calls) {
      if (call.rank != rank) continue;
      const auto ref = FindRow(ranks_, static_cast<uint32_t>(*slot), Source::kCollective,
                               static_cast<uint32_t>(call.source_id));
      if (ref.has_value()) GoTo(*ref);
    }
  }
}

void State::GoToFinding(size_t index, size_t evidence) {
  if (index >= summary().findings.size()) return;
  finding = index;
  const Finding& found = summary().findings[index];
  if (evidence >= found.evidence.size()) {
    if (!found.ranks.empty() && found.row.first_step.has_value()) {
      GoToStep(*found.row.first_step, found.ranks.front());
    }
    return;
  }
  const schema::FindingEvidenceRow& row = found.evidence[evidence];
  if (row.rank.has_value() && row.source == "step_breakdown" && row.row_id.has_value()) {
    return GoToStep(*row.row_id, row.rank);
  }
  const std::optional<size_t> slot = row.rank ? summary().SlotOf(*row.rank) : std::nullopt;
  if (row.begin_ns.has_value()) {
    const int64_t shift = slot.has_value() ? ShiftOf(*slot) : 0;
    const int64_t begin = *row.begin_ns + shift;
    const int64_t end = row.end_ns.has_value() ? *row.end_ns + shift : begin + 1;
    const int64_t margin = std::max<int64_t>((end - begin) / 4, 1'000);
    Show(begin - margin, end + margin);
    range_ = {begin, end};
  }
  if (row.source == "collective" && row.row_id.has_value()) collective = row.row_id;
  if (!slot.has_value()) return;
  for (const Row& candidate : tree().rows) {
    if (candidate.kind == RowKind::kRank && candidate.rank == *slot && !candidate.is_open) {
      return ToggleOpen(std::string(candidate.key));
    }
  }
}

Status State::GoToPlace(const std::string& text) {
  const Status usage = UsageError(text + ": not a place; RANK:STEP or RANK:STEP:ROW is one");
  const size_t first = text.find(':');
  if (first == std::string::npos) return usage;
  const size_t second = text.find(':', first + 1);
  const bool is_of_b = summary().has_two_runs() && text.starts_with("B");
  const bool has_letter = summary().has_two_runs() && (is_of_b || text.starts_with("A"));
  auto rank =
      ParseNumber(std::string_view(text).substr(has_letter ? 1 : 0, first - (has_letter ? 1 : 0)));
  if (rank.has_value() && is_of_b) *rank += kFirstRankOfB;
  const auto number = ParseNumber(std::string_view(text).substr(
      first + 1, second == std::string::npos ? std::string::npos : second - first - 1));
  if (!rank.has_value() || !number.has_value()) return usage;
  const std::optional<size_t> slot = summary().SlotOf(*rank);
  if (!slot.has_value()) return NotFoundError("no " + summary().RankName(*rank) + " in this run");
  const std::optional<int64_t> step = summary().StepNumbered(*number);
  if (!step.has_value())
    return NotFoundError("no step " + std::to_string(*number) + " in this run");
  GoToStep(*step, rank);
  if (second == std::string::npos) return OkStatus();
  const auto row = ParseNumber(std::string_view(text).substr(second + 1));
  if (!row.has_value()) return usage;
  for (const Source source : {Source::kKernel, Source::kCpuOp, Source::kRange}) {
    const auto ref =
        FindRow(ranks_, static_cast<uint32_t>(*slot), source, static_cast<uint32_t>(*row));
    if (ref.has_value()) {
      GoTo(*ref);
      return OkStatus();
    }
  }
  return NotFoundError(summary().RankName(*rank) + " has no event in row " + std::to_string(*row));
}

}  // namespace tutti::viewer
