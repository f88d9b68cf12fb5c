#include "collector/campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "collector/campaign/campaign_log.h"
#include "collector/campaign/child_process.h"
#include "collector/campaign/control.h"
#include "collector/campaign/side.h"
#include "collector/os/files.h"
#include "collector/os/interruption.h"
#include "common/text.h"

namespace tutti::collector::campaign {
namespace {

constexpr size_t kControlRepetitions = 30;
constexpr size_t kMostControlRanks = 8;

void Say(const std::string& text) {
  std::fprintf(stderr, "tutti: %s\n", ToPrintableText(text).c_str());
}

std::string Seconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", static_cast<double>(ns) * 1e-9);
  return text;
}

std::string Milliseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f ms", static_cast<double>(ns) * 1e-6);
  return text;
}

int64_t RealtimeNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string Ordinal(int number) {
  return std::to_string(number) + (number == 2 ? "nd" : number == 3 ? "rd" : "th");
}

// One campaign while it runs.
class Runner {
 public:
  explicit Runner(const CampaignOptions& options) : options_(options) {}

  Result<Campaign> Run();

 private:
  int all_pairs() const { return options_.pairs + options_.further_pairs; }
  const Side& side(bool is_new) const { return is_new ? fresh_ : base_; }
  std::string In(const std::string& name) const { return options_.folder + "/" + name; }

  Status Open();
  Status BeginAnew();
  Status Prepare(Side& side, const std::string& name);
  Status Build(const Side& side, const std::string& name);
  Status WarmUp();
  Status CheckFailures();
  Status RunPair(int pair);
  Status RunLaunch(bool is_new, int pair);
  Status FinishLaunch(LaunchEntry entry, const ChildOutcome& outcome, const std::string& log);
  Status SetAside(const LaunchEntry& entry);
  Result<std::vector<std::string>> ArgvOf(bool is_new, const std::string& run,
                                          std::string* directory) const;
  Result<ControlTimes> TimeControl() const;
  std::string Progress() const;
  Campaign Finished() const;

  const CampaignOptions& options_;
  Side base_;
  Side fresh_;
  CampaignLog log_;
  int done_before_ = 0;       // launches that an earlier call has made
  int made_ = 0;              // by this call
  int64_t made_wall_ns_ = 0;  // of these, with their controls
};

// Reads or makes the folder; refuses one that holds something else.
Status Runner::Open() {
  Plan plan{options_.base,  base_.identity,   options_.fresh,         fresh_.identity,
            options_.build, options_.command, options_.record_options};
  TUTTI_ASSIGN_OR_RETURN(auto found, ReadCampaignLog(options_.folder));
  if (found && options_.force) {
    TUTTI_RETURN_IF_ERROR(BeginAnew());
    found.reset();
  }
  if (!found && os::Exists(options_.folder) && !os::ListDirectory(options_.folder).empty()) {
    return UsageError(options_.folder + " holds files that no campaign has made: give another -o");
  }
  if (found && found->plan != plan) {
    return UsageError(options_.folder +
                      " holds another campaign: another base, new, build, command or options (or "
                      "a program that was built anew); give another -o, or --anew to begin again");
  }
  if (found) log_ = *std::move(found);
  log_.plan = std::move(plan);
  if (log_.pairs_asked.empty() || log_.pairs_asked.back() != options_.pairs) {
    log_.pairs_asked.push_back(options_.pairs);
  }
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(In("logs"), 0777));
  return WriteCampaignLog(options_.folder, log_);
}

// Removes what campaigns make, and nothing else.
Status Runner::BeginAnew() {
  for (const std::string& name : os::ListDirectory(options_.folder)) {
    const bool ours = name.starts_with("base-") || name.starts_with("new-") || name == "logs" ||
                      name == "source" || name == "set-aside" || name == "warm-up" ||
                      name == "campaign.json";
    if (ours) os::RemoveTree(In(name));
    std::error_code error;
    if (ours) std::filesystem::remove(In(name), error);
  }
  return OkStatus();
}

Status Runner::Build(const Side& side, const std::string& name) {
  const bool has_source = side.kind == SideKind::kFolder || side.kind == SideKind::kRevision;
  if (options_.build.empty() || !has_source) return OkStatus();
  Say("building " + name + ": " + options_.build);
  const std::string log = In("logs/build-" + name + ".log");
  TUTTI_ASSIGN_OR_RETURN(
      const ChildOutcome outcome,
      RunChild({.argv = {"/bin/sh", "-c", options_.build}, .directory = side.path, .log = log}));
  if (outcome.interrupted) return UnavailableError("interrupted while building " + name);
  if (outcome.ok()) return OkStatus();
  return BadDataError("building " + name + " failed: " + outcome.InWords() + ", see " + log);
}

Status Runner::Prepare(Side& side, const std::string& name) {
  TUTTI_RETURN_IF_ERROR(CheckOut(side, In("source/" + name), In("logs/source-" + name + ".log")));
  return Build(side, name);
}

Result<std::vector<std::string>> Runner::ArgvOf(bool is_new, const std::string& run,
                                                std::string* directory) const {
  TUTTI_ASSIGN_OR_RETURN(const Invocation invocation, CommandOf(side(is_new), options_.command));
  *directory = invocation.directory;
  std::error_code error;
  std::vector<std::string> argv = {options_.program, "record", "-o",
                                   std::filesystem::absolute(run, error).string()};
  argv.insert(argv.end(), options_.record_options.begin(), options_.record_options.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), invocation.argv.begin(), invocation.argv.end());
  return argv;
}

// What the first launch meets (cold caches, files to be read) and no other.
Status Runner::WarmUp() {
  for (int turn = 0; turn < 2 * options_.warm_up; ++turn) {
    const bool is_new = turn % 2 == 1;
    const std::string name = is_new ? "new" : "base";
    Say("warm-up launch of " + name + ", not counted");
    const std::string run = In("warm-up");
    const std::string log = In("logs/warm-up-" + name + ".log");
    ChildRequest request{.argv = {}, .log = log, .timeout_ns = options_.timeout_ns};
    TUTTI_ASSIGN_OR_RETURN(request.argv, ArgvOf(is_new, run, &request.directory));
    TUTTI_ASSIGN_OR_RETURN(const ChildOutcome outcome, RunChild(request));
    os::RemoveTree(run);
    if (outcome.interrupted) return UnavailableError("interrupted");
    if (!outcome.ok()) {
      return BadDataError("the warm-up launch of " + name + " failed: " + outcome.InWords() +
                          ", see " + log);
    }
  }
  return OkStatus();
}

Status Runner::CheckFailures() {
  for (int pair = 1; pair <= all_pairs(); ++pair) {
    for (const bool is_new : {false, true}) {
      const LaunchEntry* last = log_.Last(is_new, pair);
      if (last == nullptr || last->state != "failed" || options_.retry_failed) continue;
      return BadDataError(PlaceName(is_new, pair) + " failed before (" + last->remark +
                          "): nothing is tried again silently; --retry-failed tries again and "
                          "says so, --anew begins again");
    }
  }
  return OkStatus();
}

Status Runner::SetAside(const LaunchEntry& entry) {
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(In("set-aside"), 0777));
  const std::string name = PlaceName(entry.is_new, entry.pair);
  const std::string kept = In("set-aside/" + name + "." + std::to_string(entry.attempt));
  os::RemoveTree(kept);
  std::error_code error;
  std::filesystem::rename(In(name), kept, error);
  if (error && os::Exists(In(name))) return IoError(In(name) + ": " + error.message());
  return OkStatus();
}

Result<ControlTimes> Runner::TimeControl() const {
  const auto ranks = static_cast<size_t>(std::max(options_.nproc, 2));
  return MeasureControl(std::min(ranks, kMostControlRanks), kControlRepetitions);
}

std::string Runner::Progress() const {
  const int all = 2 * all_pairs();
  std::string text = std::to_string(done_before_ + made_) + " of " + std::to_string(all);
  const int left = all - done_before_ - made_;
  if (left > 0 && made_ > 0) text += ", about " + Seconds(made_wall_ns_ / made_ * left) + " left";
  return text;
}

Status Runner::FinishLaunch(LaunchEntry entry, const ChildOutcome& outcome,
                            const std::string& log) {
  const std::string name = PlaceName(entry.is_new, entry.pair);
  entry.wall_ns = outcome.wall_ns;
  const bool recorded = os::Exists(In(name) + "/manifest.d");
  entry.state = outcome.interrupted ? "interrupted" : outcome.ok() && recorded ? "done" : "failed";
  if (!outcome.ok()) entry.remark = outcome.InWords();
  if (outcome.ok() && !recorded)
    entry.remark = "nothing was recorded: no training process was seen";
  if (entry.state == "done") {
    entry.run = name;
  } else {
    TUTTI_RETURN_IF_ERROR(SetAside(entry));
  }
  log_.launches.push_back(entry);
  TUTTI_RETURN_IF_ERROR(WriteCampaignLog(options_.folder, log_));
  if (entry.state == "interrupted") return UnavailableError("interrupted in " + name);
  if (entry.state == "failed") {
    return BadDataError("launch " + name + " failed: " + entry.remark + "; see " + log);
  }
  return OkStatus();
}

Status Runner::RunLaunch(bool is_new, int pair) {
  const LaunchEntry* last = log_.Last(is_new, pair);
  LaunchEntry entry{.is_new = is_new, .pair = pair};
  if (last != nullptr) entry.attempt = last->attempt + 1;
  const std::string name = PlaceName(is_new, pair);
  const std::string log = In("logs/" + name + ".log");
  const auto begin = std::chrono::steady_clock::now();
  ControlTimes control;
  if (options_.control) {
    TUTTI_ASSIGN_OR_RETURN(control, TimeControl());
    auto sorted = control.ns;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::ranges::nth_element(sorted, middle);
    entry.control_ns = *middle;
  }
  entry.begin_ns = RealtimeNs();
  ChildRequest request{.argv = {}, .log = log, .timeout_ns = options_.timeout_ns};
  TUTTI_ASSIGN_OR_RETURN(request.argv, ArgvOf(is_new, In(name), &request.directory));
  TUTTI_ASSIGN_OR_RETURN(const ChildOutcome outcome, RunChild(request));
  TUTTI_RETURN_IF_ERROR(FinishLaunch(entry, outcome, log));
  if (options_.control) {
    TUTTI_ASSIGN_OR_RETURN(const auto run, os::OpenDirectory(In(name)));
    TUTTI_RETURN_IF_ERROR(os::WriteFileAtomically(run.get(), "control.json", ControlJson(control)));
  }
  ++made_;
  made_wall_ns_ +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
          .count();
  Say(name + " took " + Seconds(outcome.wall_ns) +
      (entry.control_ns ? ", control " + Milliseconds(*entry.control_ns) : "") + "; " + Progress());
  return OkStatus();
}

// Base first in odd pairs, new first in even ones.
Status Runner::RunPair(int pair) {
  const LaunchEntry* base = log_.Done(false, pair);
  const LaunchEntry* fresh = log_.Done(true, pair);
  if (base != nullptr && fresh != nullptr) return OkStatus();
  for (const LaunchEntry* half : {base, fresh}) {
    if (half == nullptr) continue;
    Say("pair " + std::to_string(pair) + " was interrupted: both of its launches are made again");
    TUTTI_RETURN_IF_ERROR(SetAside(*half));
    LaunchEntry gone = *half;
    gone.run.clear();
    gone.state = "set aside";
    gone.remark = "the other launch of its pair is missing";
    log_.launches.push_back(gone);
    break;
  }
  for (const bool second : {false, true}) {
    const bool is_new = (pair % 2 == 0) != second;
    const LaunchEntry* last = log_.Last(is_new, pair);
    if (last != nullptr && last->state == "failed") {
      Say(PlaceName(is_new, pair) + " failed before (" + last->remark + "): the " +
          Ordinal(last->attempt + 1) + " attempt");
    }
    TUTTI_RETURN_IF_ERROR(RunLaunch(is_new, pair));
  }
  return OkStatus();
}

Campaign Runner::Finished() const {
  Campaign campaign;
  for (int pair = 1; pair <= all_pairs(); ++pair) {
    campaign.base.push_back(In(PlaceName(false, pair)));
    campaign.fresh.push_back(In(PlaceName(true, pair)));
  }
  const auto failures = std::ranges::count_if(
      log_.launches, [](const LaunchEntry& entry) { return entry.state == "failed"; });
  if (failures > 0) {
    campaign.notes.push_back("launches that failed and were tried again: " +
                             std::to_string(failures) + "; campaign.json tells which");
  }
  if (log_.pairs_asked.size() > 1 &&
      log_.pairs_asked.back() > *std::ranges::min_element(log_.pairs_asked)) {
    campaign.notes.push_back(
        "pairs were added to a campaign of " +
        std::to_string(*std::ranges::min_element(log_.pairs_asked)) +
        ": if they were added because of a verdict, false alarms are more than alpha says");
  }
  return campaign;
}

Result<Campaign> Runner::Run() {
  TUTTI_ASSIGN_OR_RETURN(base_, ResolveSide(options_.base));
  TUTTI_ASSIGN_OR_RETURN(fresh_, ResolveSide(options_.fresh));
  for (const Side* one : {&base_, &fresh_}) {
    TUTTI_RETURN_IF_ERROR(CommandOf(*one, options_.command).status());
  }
  TUTTI_RETURN_IF_ERROR(Open());
  TUTTI_RETURN_IF_ERROR(CheckFailures());
  for (int pair = 1; pair <= all_pairs(); ++pair) {
    if (log_.Done(false, pair) == nullptr || log_.Done(true, pair) == nullptr) continue;
    done_before_ += 2;
  }
  if (done_before_ == 2 * all_pairs()) {
    Say(options_.folder + " holds all " + std::to_string(all_pairs()) +
        " pairs already: nothing is recorded (--anew begins again)");
    return Finished();
  }
  if (done_before_ > 0) Say("resuming: " + Progress() + " launches are recorded already");
  const bool same = base_.kind == SideKind::kRevision && fresh_.commit == base_.commit;
  TUTTI_RETURN_IF_ERROR(Prepare(base_, "base"));
  if (same && fresh_.kind == SideKind::kRevision) {
    fresh_.path = base_.path;
  } else {
    TUTTI_RETURN_IF_ERROR(Prepare(fresh_, "new"));
  }
  TUTTI_RETURN_IF_ERROR(WarmUp());
  for (int pair = 1; pair <= all_pairs(); ++pair) TUTTI_RETURN_IF_ERROR(RunPair(pair));
  return Finished();
}

}  // namespace

Result<Campaign> RunCampaign(const CampaignOptions& options) {
  const os::Interruption interruption;
  auto campaign = Runner(options).Run();
  if (!campaign.ok() && os::Interruption::Signal() != 0) {
    return UnavailableError(campaign.status().message() +
                            "; the same command goes on with the campaign in " + options.folder);
  }
  return campaign;
}

}  // namespace tutti::collector::campaign
