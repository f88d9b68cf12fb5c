#include "collector/campaign/campaign_log.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "collector/os/files.h"

namespace tutti::collector::campaign {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "campaign.json";
constexpr const char* kSchema = "tutti.campaign/1";
constexpr size_t kMostBytes = 64 << 20;

Json ToJson(const Plan& plan) {
  return {{"base", plan.base},
          {"base_identity", plan.base_identity},
          {"new", plan.fresh},
          {"new_identity", plan.fresh_identity},
          {"build", plan.build},
          {"command", plan.command},
          {"record_options", plan.record_options}};
}

Plan PlanOf(const Json& json) {
  Plan plan;
  json.at("base").get_to(plan.base);
  json.at("base_identity").get_to(plan.base_identity);
  json.at("new").get_to(plan.fresh);
  json.at("new_identity").get_to(plan.fresh_identity);
  json.at("build").get_to(plan.build);
  json.at("command").get_to(plan.command);
  json.at("record_options").get_to(plan.record_options);
  return plan;
}

Json ToJson(const LaunchEntry& entry) {
  return {{"side", entry.is_new ? "new" : "base"},
          {"pair", entry.pair},
          {"attempt", entry.attempt},
          {"run", entry.run},
          {"state", entry.state},
          {"remark", entry.remark},
          {"begin_ns", entry.begin_ns},
          {"wall_ns", entry.wall_ns},
          {"control_ns", entry.control_ns ? Json(*entry.control_ns) : Json(nullptr)}};
}

LaunchEntry EntryOf(const Json& json) {
  LaunchEntry entry;
  entry.is_new = json.at("side").get<std::string>() == "new";
  json.at("pair").get_to(entry.pair);
  json.at("attempt").get_to(entry.attempt);
  json.at("run").get_to(entry.run);
  json.at("state").get_to(entry.state);
  json.at("remark").get_to(entry.remark);
  json.at("begin_ns").get_to(entry.begin_ns);
  json.at("wall_ns").get_to(entry.wall_ns);
  if (!json.at("control_ns").is_null()) entry.control_ns = json.at("control_ns").get<int64_t>();
  return entry;
}

CampaignLog LogOf(const Json& json) {
  CampaignLog log;
  log.plan = PlanOf(json.at("plan"));
  json.at("pairs_asked").get_to(log.pairs_asked);
  for (const Json& entry : json.at("launches")) log.launches.push_back(EntryOf(entry));
  return log;
}

}  // namespace

std::string PlaceName(bool is_new, int pair) {
  return (is_new ? "new-" : "base-") + std::to_string(pair);
}

const LaunchEntry* CampaignLog::Last(bool is_new, int pair) const {
  const auto found = std::find_if(launches.rbegin(), launches.rend(), [&](const auto& entry) {
    return entry.is_new == is_new && entry.pair == pair;
  });
  return found == launches.rend() ? nullptr : &*found;
}

const LaunchEntry* CampaignLog::Done(bool is_new, int pair) const {
  const LaunchEntry* last = Last(is_new, pair);
  return last != nullptr && last->state == "done" ? last : nullptr;
}

Result<std::optional<CampaignLog>> ReadCampaignLog(const std::string& folder) {
  const std::string path = folder + "/" + kName;
  if (!os::Exists(path)) return std::optional<CampaignLog>();
  TUTTI_ASSIGN_OR_RETURN(const std::string text, os::ReadSmallFile(path, kMostBytes));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("schema", "") != kSchema) {
    return BadDataError(path + ": not a file of schema " + kSchema);
  }
  try {
    return std::optional<CampaignLog>(LogOf(json));
  } catch (const Json::exception&) {
    return BadDataError(path + ": not as schema " + std::string(kSchema) + " wants it");
  }
}

Status WriteCampaignLog(const std::string& folder, const CampaignLog& log) {
  Json launches = Json::array();
  for (const LaunchEntry& entry : log.launches) launches.push_back(ToJson(entry));
  const Json json = {{"schema", kSchema},
                     {"plan", ToJson(log.plan)},
                     {"pairs_asked", log.pairs_asked},
                     {"launches", launches}};
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory, os::OpenDirectory(folder));
  return os::WriteFileAtomically(directory.get(), kName,
                                 json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tutti::collector::campaign
