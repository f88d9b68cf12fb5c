#include "collector/importers/straggler_study/timeline.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace tutti::collector::importers::straggler_study {
namespace {

using pickle::Value;
using Track = std::pair<int64_t, int64_t>;  // pid, tid

struct Thread {
  Worker worker;
  std::string_view stream;
};

// The number behind `key`, as in "PP rank 3, TP …".
std::optional<int64_t> NumberBehind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + key.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  return number;
}

std::optional<Thread> ParseThread(std::string_view name, int64_t dp) {
  const auto pp = NumberBehind(name, "PP rank ");
  const auto tp = NumberBehind(name, "TP rank ");
  const size_t comma = name.rfind(", ");
  if (!pp || !tp || comma == std::string_view::npos) return std::nullopt;
  return Thread{{dp, *pp, *tp}, name.substr(comma + 2)};
}

std::optional<Track> TrackOf(Value event) {
  const auto pid = event.Get("pid").Int();
  const auto tid = event.Get("tid").Int();
  if (!pid || !tid) return std::nullopt;
  return Track(*pid, *tid);
}

std::map<Track, Thread> ThreadsOf(Value root) {
  std::map<Track, Thread> threads;
  for (const Value event : root.Items()) {
    if (event.Get("ph").Text() != "M" || event.Get("name").Text() != "thread_name") continue;
    const auto track = TrackOf(event);
    const auto name = event.Get("args").Get("name").Text();
    const auto thread = track && name ? ParseThread(*name, track->first) : std::nullopt;
    if (thread) threads.emplace(*track, *thread);
  }
  return threads;
}

// Microseconds with decimals to whole nanoseconds.
std::optional<int64_t> Nanoseconds(Value value) {
  constexpr double kMostUs = 9e15;  // 285 years
  const std::optional<double> us = value.Number();
  if (!us || !(std::abs(*us) < kMostUs)) return std::nullopt;
  return std::llround(*us * 1000);
}

// -1 says that there is none.
std::optional<int64_t> IndexOf(Value value) {
  const std::optional<int64_t> index = value.Int();
  if (!index || *index < 0) return std::nullopt;
  return index;
}

std::optional<Span> ParseSpan(Value event) {
  const auto name = event.Get("name").Text();
  const auto begin_ns = Nanoseconds(event.Get("ts"));
  const auto duration_ns = Nanoseconds(event.Get("dur"));
  const Value args = event.Get("args");
  const auto step = args.Get("step").Int();
  if (!name || !begin_ns || !duration_ns || *duration_ns < 0 || !step) return std::nullopt;
  Span span;
  span.name = *name;
  span.begin_ns = *begin_ns;
  // Rounded where it ends, not how long it is: what touches goes on touching.
  span.end_ns = std::llround((*event.Get("ts").Number() + *event.Get("dur").Number()) * 1000);
  span.step = *step;
  span.microbatch = IndexOf(args.Get("mb_id"));
  span.model_chunk = IndexOf(args.Get("model_chunk"));
  return span;
}

}  // namespace

bool IsTimelineHead(std::string_view head) {
  for (const char* key : {"\"mb_id\"", "\"model_chunk\"", "\"seq_id\"", "\"step\""}) {
    if (head.find(key) == std::string_view::npos) return false;
  }
  return true;
}

Timeline ParseTimeline(Value root) {
  Timeline timeline;
  const std::map<Track, Thread> threads = ThreadsOf(root);
  std::map<std::tuple<int64_t, int64_t, int64_t>, size_t> places;  // pp, dp, tp
  for (const auto& [track, thread] : threads) {
    places.emplace(std::tuple(thread.worker.pp, thread.worker.dp, thread.worker.tp), 0);
  }
  for (auto& [key, place] : places) {
    place = timeline.workers.size();
    timeline.workers.push_back({std::get<1>(key), std::get<0>(key), std::get<2>(key)});
  }
  for (const Value event : root.Items()) {
    if (event.Get("ph").Text() == "M") continue;
    std::optional<Span> span = ParseSpan(event);
    const auto track = TrackOf(event);
    const auto thread = track ? threads.find(*track) : threads.end();
    if (!span || thread == threads.end()) {
      ++timeline.unreadable;
      continue;
    }
    const Worker& worker = thread->second.worker;
    span->worker = places.at({worker.pp, worker.dp, worker.tp});
    span->stream = thread->second.stream;
    timeline.spans.push_back(*span);
  }
  std::stable_sort(timeline.spans.begin(), timeline.spans.end(), [](const Span& a, const Span& b) {
    return std::tie(a.worker, a.begin_ns) < std::tie(b.worker, b.begin_ns);
  });
  return timeline;
}

}  // namespace tutti::collector::importers::straggler_study
