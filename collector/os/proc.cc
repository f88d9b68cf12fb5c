#include "collector/os/proc.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "collector/os/files.h"

namespace tutti::collector::os {
namespace {

constexpr std::string_view kBlanks = " \t\n";

std::string_view NextWord(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

template <typename Number>
std::optional<Number> ToNumber(std::string_view word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

template <typename Number>
Number NumberOr0(std::string_view word) {
  return ToNumber<Number>(word).value_or(Number{});
}

std::string ProcPath(pid_t pid, const std::string& file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

std::optional<ProcessStat> ReadStatFile(const std::string& path) {
  const Result<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return std::nullopt;
  return ParseProcessStat(*text);
}

}  // namespace

std::optional<ProcessStat> ParseProcessStat(std::string_view text) {
  ProcessStat stat;
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  std::string_view head = text.substr(0, open);
  const auto pid = ToNumber<int32_t>(NextWord(head));
  if (!pid) return std::nullopt;
  stat.pid = *pid;

  // Fields 3 (state) to 24 (rss) of proc(5).
  std::array<std::string_view, 25> field;
  std::string_view rest = text.substr(close + 1);
  for (size_t number = 3; number < field.size(); ++number) field[number] = NextWord(rest);
  if (field[24].empty()) return std::nullopt;
  stat.state = field[3].front();
  stat.parent_pid = NumberOr0<int32_t>(field[4]);
  stat.minor_faults = NumberOr0<uint64_t>(field[10]);
  stat.major_faults = NumberOr0<uint64_t>(field[12]);
  stat.user_ticks = NumberOr0<uint64_t>(field[14]);
  stat.system_ticks = NumberOr0<uint64_t>(field[15]);
  stat.start_ticks = NumberOr0<uint64_t>(field[22]);
  stat.resident_pages = NumberOr0<uint64_t>(field[24]);
  return stat;
}

std::optional<ProcessStat> ReadProcessStat(pid_t pid) {
  return ReadStatFile(ProcPath(pid, "stat"));
}

std::optional<ProcessStat> ReadThreadStat(pid_t pid, pid_t tid) {
  return ReadStatFile(ProcPath(pid, "task/" + std::to_string(tid) + "/stat"));
}

std::vector<pid_t> ListThreads(pid_t pid) {
  std::vector<pid_t> threads;
  for (const std::string& name : ListDirectory(ProcPath(pid, "task"))) {
    if (const auto tid = ToNumber<pid_t>(name)) threads.push_back(*tid);
  }
  return threads;
}

std::optional<pid_t> InnermostThreadId(pid_t pid, pid_t tid) {
  const Result<std::string> status =
      ReadSmallFile(ProcPath(pid, "task/" + std::to_string(tid) + "/status"));
  if (!status.ok()) return std::nullopt;
  const size_t at = status->find("\nNSpid:");
  if (at == std::string::npos) return tid;  // a kernel without pid namespaces
  std::string_view line = std::string_view(*status).substr(at + 7);
  line = line.substr(0, line.find('\n'));
  std::string_view last;
  for (std::string_view word = NextWord(line); !word.empty(); word = NextWord(line)) last = word;
  return ToNumber<pid_t>(last);
}

bool IsAncestor(pid_t ancestor, uint64_t ancestor_start_ticks, pid_t pid) {
  // A chain of parents is finite, but ids may be reused while we walk it.
  constexpr int kMaxDepth = 1024;
  for (int depth = 0; depth < kMaxDepth && pid > 1; ++depth) {
    const std::optional<ProcessStat> stat = ReadProcessStat(pid);
    if (!stat) return false;
    if (depth > 0 && stat->pid == ancestor) return stat->start_ticks == ancestor_start_ticks;
    pid = stat->parent_pid;
  }
  return false;
}

std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    const size_t colon = at + name.size();
    if (!begins_line || colon >= text.size() || text[colon] != ':') continue;
    std::string_view rest = text.substr(colon + 1);
    return ToNumber<uint64_t>(NextWord(rest));
  }
  return std::nullopt;
}

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string BootId() {
  const Result<std::string> text = ReadSmallFile("/proc/sys/kernel/random/boot_id");
  if (!text.ok()) return "";
  std::string_view rest = *text;
  return std::string(NextWord(rest));
}

}  // namespace tutti::collector::os
