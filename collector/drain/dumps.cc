#include "collector/drain/dumps.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "collector/os/files.h"
#include "collector/run/recording_lock.h"
#include "collector/run/run_directory.h"

namespace tutti::collector::drain {
namespace {

constexpr std::string_view kAskPrefix = "dump.";
constexpr char kLiveFile[] = "live";
constexpr int kMostNumber = 1'000'000;
// After a slow step: until the other ranks' part of it has been drained, too.
constexpr int64_t kShortestSettleNs = 500'000'000;
constexpr int64_t kLongestSettleNs = 5'000'000'000;

int HighestNumber(const std::string& dumps_path) {
  int highest = 0;
  for (const std::string& name : os::ListDirectory(dumps_path)) {
    int number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc()) highest = std::max(highest, number);
  }
  return highest;
}

std::string Numbered(int number, const std::string& slug) {
  std::string digits = std::to_string(number);
  digits.insert(0, 4 - std::min<size_t>(digits.size(), 4), '0');
  return digits + "-" + slug;
}

// A name that stays below RUN/dumps.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name.size() < 128 && name.front() != '.' &&
         std::ranges::all_of(name, [](unsigned char letter) {
           return std::isalnum(letter) || letter == '-' || letter == '_' || letter == '.';
         });
}

std::string SlugOf(const live::Alarm& alarm) {
  std::string slug = alarm.kind == live::Alarm::Kind::kHang
                         ? "hang-rank-" + alarm.rank
                         : "slow-step-" + std::to_string(alarm.step);
  std::ranges::replace(slug, ' ', '-');
  return slug;
}

}  // namespace

Result<std::string> MakeDumpDirectory(const std::string& run_path, const std::string& slug) {
  const std::string dumps_path = run_path + "/" + run::kDumpsName;
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(dumps_path));
  for (int number = HighestNumber(dumps_path) + 1; number < kMostNumber; ++number) {
    const std::string path = dumps_path + "/" + Numbered(number, slug);
    if (::mkdir(path.c_str(), 0700) == 0) return path;
    if (errno != EEXIST) return os::ErrnoStatus(path, errno);
  }
  return IoError(dumps_path + ": no free number");
}

Status AskForDump(const std::string& spool_path, const std::string& name,
                  const std::string& reason) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory, os::OpenDirectory(spool_path));
  return os::WriteFileAtomically(directory.get(), std::string(kAskPrefix) + name, reason);
}

bool IsAskedForDump(const std::string& spool_path, const std::string& name) {
  return os::Exists(spool_path + "/" + std::string(kAskPrefix) + name);
}

bool KeepsWindow(const std::string& spool_path) { return os::Exists(spool_path + "/" + kLiveFile); }

Dumps::Dumps(const DrainerSettings& settings) : settings_(settings) {
  const auto directory = os::OpenDirectory(settings.spool_path);
  // Where this fails nobody can ask, which is told to those who try.
  if (directory.ok()) (void)os::WriteFileAtomically(directory->get(), kLiveFile, "").ok();
}

void Dumps::OnAlarm(const live::Alarm& alarm, int64_t steps, int64_t raw_ns) {
  if (wanted_) return;  // one dump for both
  const auto last = steps_at_last_.find(alarm.process);
  const bool is_same_window = last != steps_at_last_.end() &&
                              alarm.kind == live::Alarm::Kind::kSlowStep &&
                              steps - last->second < settings_.live->window.steps;
  if (running() || is_same_window || own_ >= settings_.live->most_dumps) {
    ++counts_.skipped;
    return;
  }
  wanted_ = Wanted{SlugOf(alarm), alarm.text, "",
                   raw_ns + std::clamp(2 * alarm.median_ns, kShortestSettleNs, kLongestSettleNs)};
}

void Dumps::Look(int64_t raw_ns) {
  if (running() || asked_) return;
  for (const std::string& file : os::ListDirectory(settings_.spool_path)) {
    if (!file.starts_with(kAskPrefix)) continue;
    const std::string path = settings_.spool_path + "/" + file;
    const std::string name = file.substr(kAskPrefix.size());
    const auto reason = os::ReadSmallFile(path);
    ::unlink(path.c_str());
    if (!reason.ok() || !IsPlainName(name)) continue;
    asked_ = Wanted{"", *reason, name, raw_ns};
    return;
  }
}

bool Dumps::IsDue(int64_t raw_ns) const {
  if (running()) return false;
  return asked_ || (wanted_ && raw_ns >= wanted_->due_ns);
}

std::string Dumps::Begin(const std::vector<DumpedSpool>& spools, int64_t first_step,
                         const std::map<uint32_t, int64_t>& steps) {
  // What was noticed here is in the dump that somebody else has asked for.
  current_ = asked_ ? *std::exchange(asked_, std::nullopt) : *wanted_;
  if (current_.name.empty()) ++own_;
  wanted_.reset();
  steps_at_last_ = steps;
  std::string path;
  const Status status = TryBegin(spools, first_step, &path);
  if (!status.ok()) {
    ++counts_.skipped;
    return "the newest steps could not be written: " + status.message();
  }
  return "writing the newest steps to " + path;
}

Status Dumps::TryBegin(const std::vector<DumpedSpool>& spools, int64_t first_step,
                       std::string* path) {
  if (current_.name.empty()) {
    TUTTI_ASSIGN_OR_RETURN(*path, MakeDumpDirectory(settings_.run_path, current_.slug));
  } else {
    *path = settings_.run_path + "/" + run::kDumpsName + "/" + current_.name;
  }
  TUTTI_ASSIGN_OR_RETURN(dump_, Dump::Begin(settings_, *path, current_.reason, spools, first_step));
  if (current_.name.empty()) AskOthers(*path);
  return OkStatus();
}

void Dumps::AskOthers(const std::string& path) const {
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const std::string& other : os::ListDirectory(settings_.run_path + "/.spool")) {
    const std::string spool_path = settings_.run_path + "/.spool/" + other;
    if (spool_path == settings_.spool_path || !KeepsWindow(spool_path)) continue;
    // One that ends at this moment is not part of the dump.
    if (run::IsRecording(spool_path)) (void)AskForDump(spool_path, name, current_.reason).ok();
  }
}

std::optional<std::string> Dumps::Poll() {
  if (!running()) return std::nullopt;
  const auto outcome = dump_->Poll();
  if (!outcome) return std::nullopt;
  dump_.reset();
  if (!outcome->status.ok()) {
    ++counts_.skipped;
    return "the newest steps could not be written: " + outcome->status.message();
  }
  ++counts_.written;
  return "the newest steps of " + std::to_string(outcome->ranks) +
         (outcome->ranks == 1 ? " rank" : " ranks") + " are written; next: tutti report " +
         outcome->path;
}

}  // namespace tutti::collector::drain
