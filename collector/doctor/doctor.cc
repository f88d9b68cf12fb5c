#include "collector/doctor.h"

#include <unistd.h>

#include <iterator>
#include <utility>

#include "collector/doctor/checks.h"

namespace tutti::collector {
namespace {

void Add(std::vector<Checkup>& all, std::vector<Checkup> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Result<std::vector<Checkup>> CheckMachine(const DoctorOptions& options) {
  const doctor::Machine machine = doctor::Machine::Current();
  std::vector<Checkup> all = doctor::CheckTracer();
  Add(all, doctor::CheckGpu(machine, ::geteuid() == 0));
  Add(all, doctor::CheckLimits(machine, doctor::CurrentLimits()));
  Add(all, doctor::CheckTimes(machine));
  if (options.data) {
    TUTTI_ASSIGN_OR_RETURN(Checkup speed, doctor::CheckDataSpeed(*options.data));
    all.push_back(std::move(speed));
  }
  if (options.run) {
    TUTTI_ASSIGN_OR_RETURN(std::vector<Checkup> ranks, doctor::CheckRanks(*options.run));
    Add(all, std::move(ranks));
  }
  return all;
}

}  // namespace tutti::collector
