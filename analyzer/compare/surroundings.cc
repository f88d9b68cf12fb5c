// What a run ran on, out of the files in its folder: manifests tell versions and hardware,
// rank files the GPUs (and versions where no manifest does), control.json how long fixed work took
// beside it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/compare/launch_reader.h"
#include "schema/database.h"

namespace tutti::analyzer::compare {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uintmax_t kMostJsonBytes = 16 << 20;

// An object, or null if the file is not there, too large or no JSON.
Json ReadJson(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error || bytes > kMostJsonBytes || !fs::is_regular_file(path, error)) return nullptr;
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json(nullptr);
}

std::string TextIn(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string Joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::vector<fs::path> FilesIn(const fs::path& folder, std::string_view suffix) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == suffix) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

void ReadManifests(const fs::path& run, Launch& launch) {
  std::set<std::string> versions;
  std::set<std::string> hardware;
  for (const fs::path& path : FilesIn(run / "manifest.d", ".json")) {
    const Json manifest = ReadJson(path);
    if (manifest.is_null()) continue;
    if (const auto ranks = manifest.find("ranks"); ranks != manifest.end() && ranks->is_array()) {
      for (const Json& rank : *ranks) {
        if (rank.is_object()) versions.insert(TextIn(rank, "torch_version"));
      }
    }
    if (const auto machine = manifest.find("hardware"); machine != manifest.end()) {
      if (machine->is_object()) hardware.insert(TextIn(*machine, "cpu"));
    }
  }
  versions.erase("");
  hardware.erase("");
  launch.facts.torch_version = Joined(versions);
  launch.facts.hardware = Joined(hardware);
}

// The distinct texts of a query over one rank's file; none if it can't be read.
void CollectTexts(schema::Database& database, const char* sql, std::set<std::string>& texts) {
  auto rows = database.Prepare(sql);
  if (!rows.ok()) return;
  for (auto found = rows->Step(); found.ok() && *found; found = rows->Step()) {
    if (const auto text = rows->Get<std::string>(0); text.ok()) texts.insert(*text);
  }
}

// Imported runs have no manifest that tells versions: their rank files may.
void ReadRankFiles(const fs::path& run, Launch& launch) {
  const bool wants_gpus = launch.facts.device_kind.find("gpu") != std::string::npos;
  const bool wants_torch = launch.facts.torch_version.empty();
  std::set<std::string> gpus;
  std::set<std::string> versions;
  for (const fs::path& path : FilesIn(run, ".sqlite")) {
    if (!path.filename().string().starts_with("rank-")) continue;
    auto database = schema::Database::OpenReadOnly(path.string(), {.quick_check = false});
    if (!database.ok()) continue;
    // A trace that doesn't tell the product has "GPU 0" there.
    if (wants_gpus) {
      CollectTexts(*database, "SELECT name FROM device WHERE name <> 'GPU ' || id", gpus);
    }
    if (wants_torch) {
      CollectTexts(*database, "SELECT torch_version FROM process WHERE torch_version IS NOT NULL",
                   versions);
    }
  }
  gpus.erase("");
  versions.erase("");
  launch.facts.gpus = Joined(gpus);
  if (wants_torch) launch.facts.torch_version = Joined(versions);
}

// {"schema": "tutti.control/1", "ns": [ … ]}: the median counts.
void ReadControl(const fs::path& run, Launch& launch) {
  const Json control = ReadJson(run / "control.json");
  if (control.is_null() || TextIn(control, "schema") != "tutti.control/1") return;
  const auto times = control.find("ns");
  if (times == control.end() || !times->is_array()) return;
  std::vector<double> ns;
  for (const Json& time : *times) {
    if (time.is_number() && time.get<double>() > 0) ns.push_back(time.get<double>());
  }
  if (ns.empty()) return;
  const auto middle = ns.begin() + static_cast<std::ptrdiff_t>((ns.size() - 1) / 2);
  std::nth_element(ns.begin(), middle, ns.end());
  launch.control_ns = *middle;
}

}  // namespace

void ReadSurroundings(const std::string& run_folder, Launch& launch) {
  ReadManifests(run_folder, launch);
  ReadRankFiles(run_folder, launch);
  ReadControl(run_folder, launch);
}

}  // namespace tutti::analyzer::compare
