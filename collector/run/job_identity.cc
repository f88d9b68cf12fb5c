#include "collector/run/job_identity.h"

#include <string_view>

namespace tutti::collector::run {
namespace {

std::string ValueOf(GetVariable get, const char* name) {
  const char* value = get(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

JobIdentity ReadJobIdentity(GetVariable get) {
  const std::string slurm_job = ValueOf(get, "SLURM_JOB_ID");
  const std::string slurm_step = ValueOf(get, "SLURM_STEP_ID");
  if (!slurm_job.empty() && !slurm_step.empty()) {
    return {"slurm:" + slurm_job + "." + slurm_step, true};
  }
  for (const char* name : {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE", "FLUX_JOB_ID"}) {
    if (const std::string value = ValueOf(get, name); !value.empty()) return {value, true};
  }
  const std::string elastic = ValueOf(get, "TORCHELASTIC_RUN_ID");
  if (!elastic.empty() && elastic != "none") return {"torchelastic:" + elastic, true};
  const std::string address = ValueOf(get, "MASTER_ADDR");
  const std::string port = ValueOf(get, "MASTER_PORT");
  if (!address.empty() && !port.empty()) return {"master:" + address + ":" + port, false};
  return {};
}

}  // namespace tutti::collector::run
