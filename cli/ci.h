// The verbs below `tutti ci`; one file each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "collector/campaign/campaign.h"
#include "common/status.h"

namespace tutti::cli {

void AddCiRun(CLI::App& ci, Invocation& invocation);
void AddCiGate(CLI::App& ci, Invocation& invocation);
void AddCiCalibrate(CLI::App& ci, Invocation& invocation);
void AddCiHistory(CLI::App& ci, Invocation& invocation);

// Options of those that record a campaign, as they were typed.
struct CampaignArguments {
  std::string output = "tutti-ci";
  int pairs = 6;
  int warm_up = 1;
  int nproc = 0;
  std::string workload;
  std::string build;
  std::string trace;
  std::string ranks;
  std::string buffer;
  std::string timeout;
  bool no_control = false;
  bool retry_failed = false;
  bool anew = false;
};

// `arguments` must outlive the application.
void AddCampaignOptions(CLI::App& verb, CampaignArguments& arguments);

// `words` stand behind "--".
Result<collector::campaign::CampaignOptions> CampaignOptionsOf(
    const CampaignArguments& arguments, const std::string& base, const std::string& fresh,
    const std::vector<std::string>& words);

}  // namespace tutti::cli
