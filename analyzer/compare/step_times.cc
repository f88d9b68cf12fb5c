#include "analyzer/compare/step_times.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace tutti::analyzer::compare {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMostBytes = 64 << 20;
constexpr double kLongestStepNs = 1e15;  // eleven days

const std::map<std::string, double> kUnits = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

// The largest power of ten that all times are multiples of: the digits that were written.
int64_t ResolutionOf(const std::vector<StepRecord>& steps) {
  for (int64_t resolution_ns = 1;; resolution_ns *= 10) {
    const bool all = std::ranges::all_of(
        steps, [&](const StepRecord& step) { return step.length_ns % (resolution_ns * 10) == 0; });
    if (!all || resolution_ns >= 100'000'000) return resolution_ns;
  }
}

Result<Launch> LaunchOf(const Json& times, double unit_ns, const std::string& name) {
  Launch launch;
  launch.name = name;
  for (const Json& time : times) {
    const double ns = time.is_number() ? time.get<double>() * unit_ns : -1;
    if (!(ns >= 0.5) || ns > kLongestStepNs) {
      return BadDataError(name + ": step " + std::to_string(launch.steps.size()) +
                          " is no step time: " + time.dump());
    }
    StepRecord step;
    step.step = static_cast<int64_t>(launch.steps.size());
    step.length_ns = std::llround(ns);
    step.period_ns = step.length_ns;
    launch.steps.push_back(step);
  }
  if (launch.steps.empty()) return BadDataError(name + ": no step times");
  launch.resolution_ns = ResolutionOf(launch.steps);
  return launch;
}

// "timer_resolution_ms": 0.1 of a pair; nothing if it doesn't tell.
std::optional<int64_t> ToldResolution(const Json& pair) {
  for (const auto& [unit, unit_ns] : kUnits) {
    const auto told = pair.find("timer_resolution_" + unit);
    if (told == pair.end() || !told->is_number()) continue;
    const double ns = told->get<double>() * unit_ns;
    if (ns >= 1 && ns <= kLongestStepNs) return std::llround(ns);
  }
  return {};
}

bool IsPair(const Json& value) {
  return value.is_object() && value.contains("before") && value["before"].is_array() &&
         value.contains("after") && value["after"].is_array();
}

// Null if the file is none of ours.
Json ReadObject(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return nullptr;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kMostBytes) return nullptr;
  std::ifstream file(path);
  if (file.peek() != '{') return nullptr;  // traces are looked at no further where they differ
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool is_ours = json.is_object() && json.contains("unit") && json["unit"].is_string();
  return is_ours && !json.contains("traceEvents") ? json : Json(nullptr);
}

}  // namespace

Result<std::optional<StepTimes>> ReadStepTimes(const std::string& path) {
  const Json json = ReadObject(path);
  if (json.is_null()) return std::optional<StepTimes>();
  const auto unit = kUnits.find(json["unit"].get<std::string>());
  if (unit == kUnits.end()) {
    return BadDataError(path + ": unit " + json["unit"].dump() + " is none of ns, us, ms, s");
  }
  StepTimes times;
  if (json.contains("steps") && json["steps"].is_array()) {
    TUTTI_ASSIGN_OR_RETURN(times.launch, LaunchOf(json["steps"], unit->second, path));
    return std::optional(std::move(times));
  }
  for (const auto& [name, value] : json.items()) {
    if (!IsPair(value)) continue;
    StepTimePair pair;
    pair.name = name;
    TUTTI_ASSIGN_OR_RETURN(pair.before, LaunchOf(value["before"], unit->second, name + " before"));
    TUTTI_ASSIGN_OR_RETURN(pair.after, LaunchOf(value["after"], unit->second, name + " after"));
    if (const auto resolution_ns = ToldResolution(value)) {
      pair.before.resolution_ns = pair.after.resolution_ns = *resolution_ns;
    }
    times.pairs.push_back(std::move(pair));
  }
  if (times.pairs.empty()) {
    return BadDataError(path + ": neither \"steps\" nor pairs of \"before\" and \"after\"");
  }
  return std::optional(std::move(times));
}

}  // namespace tutti::analyzer::compare
