#include "collector/importers/kineto/tracks.h"

#include <algorithm>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

const std::string kNoText;

constexpr size_t kMostTracks = 100'000;
constexpr Oddity kTooManyThreads = {
    Severity::kNotice, "too_many_threads",
    "the trace names more than 100,000 threads and streams; events of the others count as the "
    "last one's",
    ""};

size_t CacheSlot(std::string_view pid, std::string_view tid) {
  uint64_t hash = pid.size() * 131 + tid.size();
  for (const std::string_view token : {pid, tid}) {
    for (const char c : token.substr(0, 24)) hash = hash * 131 + static_cast<unsigned char>(c);
  }
  return (hash * 0x9e3779b97f4a7c15ULL) >> 58;
}

bool IsTokens(std::string_view tokens, std::string_view pid, std::string_view tid) {
  return tokens.size() == pid.size() + tid.size() + 1 && tokens.starts_with(pid) &&
         tokens.ends_with(tid) && tokens[pid.size()] == ',';
}

// "thread 3554 (pt_main_thread)" is Kineto's way to say "pt_main_thread".
std::string_view ThreadName(std::string_view name) {
  if (!name.starts_with("thread ") || !name.ends_with(')')) return name;
  const size_t open = name.find(" (");
  if (open == std::string_view::npos) return name;
  return name.substr(open + 2, name.size() - open - 3);
}

}  // namespace

std::optional<int64_t> StreamNumber(std::string_view token) {
  std::string_view text = WithoutQuotes(token);
  for (const std::string_view prefix : {"stream ", "Stream "}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  return ParseInteger(text);
}

int64_t Tracks::NumberOf(std::string_view token) {
  if (token.empty()) return 0;
  if (const auto number = ParseInteger(token); number && *number >= 0 && *number < kFirstWordId) {
    return *number;
  }
  const auto [word, is_new] =
      words_.try_emplace(DecodeString(token), kFirstWordId + static_cast<int64_t>(words_.size()));
  return word->second;
}

Track& Tracks::Find(std::string_view pid, std::string_view tid) {
  const std::pair key(NumberOf(pid), NumberOf(tid));
  const auto found = index_.find(key);
  if (found != index_.end()) return tracks_[found->second];
  if (tracks_.size() > kMostTracks) {
    sink_.Count(kTooManyThreads, "");
    return tracks_.back();
  }
  const auto entry = index_.emplace(key, tracks_.size()).first;
  Track& track = tracks_.emplace_back();
  track.index = entry->second;
  track.pid = key.first;
  track.tid = key.second;
  const std::string text = DecodeString(tid);
  track.is_stream =
      (text.starts_with("stream ") || text.starts_with("Stream ")) && StreamNumber(tid).has_value();
  if (key.second >= kFirstWordId) track.name = text;
  if (key.first >= kFirstWordId) process_names_.try_emplace(key.first, DecodeString(pid));
  return track;
}

Track& Tracks::Of(std::string_view pid, std::string_view tid) {
  Cached& cached = cache_[CacheSlot(pid, tid)];
  if (cached.track != nullptr && IsTokens(cached.tokens, pid, tid)) return *cached.track;
  cached.tokens.assign(pid).append(",").append(tid);
  cached.track = &Find(pid, tid);
  return *cached.track;
}

int64_t Tracks::RowTid(Track& track) {
  if (!track.row_tid) track.row_tid = sink_.Thread(track.pid, track.tid);
  return *track.row_tid;
}

const std::string& Tracks::ProcessName(int64_t pid) const {
  const auto name = process_names_.find(pid);
  return name == process_names_.end() ? kNoText : name->second;
}

const std::string& Tracks::Labels(int64_t pid) const {
  const auto labels = labels_.find(pid);
  return labels == labels_.end() ? kNoText : labels->second;
}

std::optional<int64_t> Tracks::MainProcess() const {
  std::map<int64_t, int64_t> events;
  std::optional<int64_t> main;
  for (const Track& track : tracks_) {
    if (track.host_events == 0 || track.is_stream || track.pid >= kFirstWordId) continue;
    events[track.pid] += track.host_events;
    if (!main || events[track.pid] > events[*main]) main = track.pid;
  }
  return main;
}

std::string Tracks::NameOf(const Track& track) const {
  std::string name(ThreadName(track.name));
  while (!name.empty() && name.back() == ' ') name.pop_back();
  // Processes that are mere headings ("Spans", "HCCL") tell more than their threads.
  const std::string& process = ProcessName(track.pid);
  const bool is_heading = track.pid >= kFirstWordId;
  if (!is_heading || process.empty()) return name;
  return name.empty() ? process : process + " " + name;
}

void Tracks::Finish() {
  const std::optional<int64_t> main = MainProcess();
  for (Track& track : tracks_) {
    if (!track.row_tid) continue;
    const int64_t tid = sink_.Thread(track.pid, track.tid, track.first_ns, track.last_ns);
    if (const std::string name = NameOf(track); !name.empty()) {
      sink_.SetThreadName(track.pid, track.tid, name);
    }
    if (main && track.pid != *main && track.pid < kFirstWordId && track.host_events != 0) {
      sink_.SetThreadRole(tid, "loader");
    } else if (track.has_gloo) {
      sink_.SetThreadRole(tid, "gloo");
    } else if (track.has_steps || track.tid == track.pid) {
      sink_.SetThreadRole(tid, "main");
    } else if (track.has_backward) {
      sink_.SetThreadRole(tid, "autograd");
    }
  }
}

}  // namespace tutti::collector::importers::kineto
