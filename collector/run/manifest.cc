#include "collector/run/manifest.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/run/git_revision.h"
#include "collector/run/hardware.h"
#include "collector/run/redact.h"
#include "collector/version.h"
#include "common/wire/wire.h"

namespace tutti::collector::run {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "tutti.manifest/1";
constexpr size_t kMaxManifestBytes = 64 << 20;
constexpr int kMaxTruthDepth = 32;

std::string DirectoryOf(const std::string& run_path) { return run_path + "/manifest.d"; }

std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status Write(const std::string& run_path, const std::string& name, const Json& json) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory,
                         os::OpenDirectory(DirectoryOf(run_path)));
  return os::WriteFileAtomically(directory.get(), name, Dump(json));
}

Result<Json> Read(const std::string& run_path, const std::string& name) {
  const std::string path = DirectoryOf(run_path) + "/" + name;
  TUTTI_ASSIGN_OR_RETURN(const std::string text, os::ReadSmallFile(path, kMaxManifestBytes));
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return BadDataError(path + ": not a manifest");
  return json;
}

Status Update(const std::string& run_path, const std::string& name,
              const std::function<void(Json&)>& change) {
  TUTTI_ASSIGN_OR_RETURN(Json json, Read(run_path, name));
  change(json);
  return Write(run_path, name, json);
}

int64_t RealtimeNs() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The workload's own JSON, or its text where it is none (or nests deeper than any sane
// description does).
Json TruthOf(const std::string& text) {
  const auto depth_limit = [](int depth, Json::parse_event_t, Json&) {
    return depth <= kMaxTruthDepth;
  };
  Json json = Json::parse(text, depth_limit, false);
  if (json.is_discarded()) return text;
  return json;
}

Json RankJson(const ManifestRank& rank) {
  Json json;
  json["file"] = rank.file;
  json["rank"] = rank.rank;
  json["attempt"] = rank.attempt;
  json["pid"] = rank.pid;
  json["rank_source"] = rank.rank_source;
  json["world_size"] = rank.world_size ? Json(*rank.world_size) : Json(nullptr);
  json["exit_status"] = rank.exit_status >= 0 ? Json(rank.exit_status) : Json(nullptr);
  json["events"] = rank.events;
  json["events_lost"] = rank.events_lost;
  if (!rank.torch_version.empty()) json["torch_version"] = rank.torch_version;
  return json;
}

std::string TextIn(const Json& json, const char* key) {
  const auto value = json.find(key);
  return value != json.end() && value->is_string() ? value->get<std::string>() : std::string();
}

int64_t NumberIn(const Json& json, const char* key) {
  const auto value = json.find(key);
  return value != json.end() && value->is_number_integer() ? value->get<int64_t>() : 0;
}

}  // namespace

std::string ManifestName() {
  std::string host = os::HostName().substr(0, 64);
  std::replace_if(
      host.begin(), host.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '.' && c != '_'; }, '_');
  return host + "." + std::to_string(::getpid()) + ".json";
}

Status StartManifest(const std::string& run_path, const std::string& name,
                     const ManifestStart& start) {
  Json json;
  json["schema"] = kSchema;
  json["tutti_version"] = kVersion;
  json["wire_version"] = wire::kVersion;
  json["state"] = "recording";
  json["recording_id"] = start.recording_id;
  json["job_id"] = start.job_id;
  json["argv"] = RedactArguments(start.argv);
  json["directory"] = start.directory;
  json["git"] = GitRevisionJson(start.directory);
  json["sources"] = start.sources;
  json["nproc"] = start.nproc > 0 ? Json(start.nproc) : Json(nullptr);
  json["hardware"] = HardwareJson();
  json["host"] = os::HostName();
  json["boot_id"] = os::BootId();
  json["recorder_pid"] = ::getpid();
  json["begin_realtime_ns"] = RealtimeNs();
  json["anchor"] = {{"realtime_ns", start.anchor.realtime_ns},
                    {"monotonic_raw_ns", start.anchor.monotonic_raw_ns}};
  json["ranks_expected"] = nullptr;
  json["ranks_found"] = 0;
  json["ranks"] = Json::array();
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(DirectoryOf(run_path)));
  return Write(run_path, name, json);
}

Status StartDumpManifest(const std::string& run_path, const std::string& name,
                         const std::string& dump_path, const std::string& reason) {
  TUTTI_ASSIGN_OR_RETURN(Json json, Read(run_path, name));
  json["state"] = "recording";
  json["dump"] = {{"reason", reason}, {"realtime_ns", RealtimeNs()}};
  json["ranks_expected"] = nullptr;
  json["ranks_found"] = 0;
  json["ranks"] = Json::array();
  json.erase("truth");
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(DirectoryOf(dump_path)));
  return Write(dump_path, name, json);
}

Status AddRankToManifest(const std::string& run_path, const std::string& name,
                         const ManifestRank& rank) {
  return Update(run_path, name, [&rank](Json& json) {
    json["ranks"].push_back(RankJson(rank));
    json["ranks_found"] = json["ranks"].size();
    if (rank.world_size) {
      json["ranks_expected"] =
          std::max<int64_t>(NumberIn(json, "ranks_expected"), *rank.world_size);
    }
    for (const std::string& text : rank.truth) {
      Json entry = TruthOf(text);
      json["truth"].push_back({{"rank", rank.rank}, {"attempt", rank.attempt}, {"fact", entry}});
    }
  });
}

Status CloseManifest(const std::string& run_path, const std::string& name, bool incomplete) {
  return Update(run_path, name, [incomplete](Json& json) {
    json["state"] = incomplete ? "incomplete" : "finished";
    json["end_realtime_ns"] = RealtimeNs();
  });
}

Result<ManifestSummary> ReadManifest(const std::string& run_path, const std::string& name) {
  TUTTI_ASSIGN_OR_RETURN(const Json json, Read(run_path, name));
  ManifestSummary summary;
  summary.finished = TextIn(json, "state") != "recording";
  summary.recording_id = TextIn(json, "recording_id");
  summary.job_id = TextIn(json, "job_id");
  summary.boot_id = TextIn(json, "boot_id");
  if (const auto anchor = json.find("anchor"); anchor != json.end() && anchor->is_object()) {
    summary.anchor = {NumberIn(*anchor, "realtime_ns"), NumberIn(*anchor, "monotonic_raw_ns")};
  }
  return summary;
}

std::vector<std::string> ListManifests(const std::string& run_path) {
  std::vector<std::string> names = os::ListDirectory(DirectoryOf(run_path));
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with('.') || !name.ends_with(".json");
  });
  return names;
}

}  // namespace tutti::collector::run
