// What makes times coarse or noisy.
#include <string>

#include "collector/doctor/checks.h"
#include "collector/os/proc.h"

namespace tutti::collector::doctor {
namespace {

Checkup CheckClockSource(const Machine& machine) {
  Checkup checkup{"clock_source", Health::kGood, "", ""};
  const auto source =
      machine.Text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  checkup.found = source.value_or("not known");
  if (source == "tsc") return checkup;
  checkup.health = Health::kNote;
  checkup.advice =
      "each time stamp is a call of clock_gettime (25 ns) instead of one instruction (10 ns): boot "
      "with clocksource=tsc where the processor's TSC is invariant";
  return checkup;
}

Checkup CheckGovernor(const Machine& machine) {
  Checkup checkup{"cpu_governor", Health::kGood, "", ""};
  const auto governor = machine.Text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  checkup.found = governor.value_or("none: the host or firmware sets the frequency");
  if (!governor || governor == "performance") return checkup;
  checkup.health = Health::kNote;
  checkup.advice =
      "step times vary with the processor's frequency: cpupower frequency-set -g performance";
  return checkup;
}

Checkup CheckNumaBalancing(const Machine& machine) {
  Checkup checkup{"numa_balancing", Health::kGood, "off", ""};
  const bool many_nodes = machine.Has("/sys/devices/system/node/node1");
  if (machine.Number("/proc/sys/kernel/numa_balancing").value_or(0) == 0) return checkup;
  checkup.found = many_nodes ? "on" : "on, but there is one memory node";
  if (!many_nodes) return checkup;
  checkup.health = Health::kNote;
  checkup.advice =
      "pages move between nodes during steps: bind ranks to nodes (numactl) and "
      "sysctl kernel.numa_balancing=0";
  return checkup;
}

Checkup CheckSwapping(const Machine& machine) {
  constexpr int64_t kLittle = 10;  // what vendors of databases and of training systems advise
  Checkup checkup{"swappiness", Health::kGood, "no swap", ""};
  const std::string memory = machine.Text("/proc/meminfo").value_or("");
  if (os::NumberAfter(memory, "SwapTotal").value_or(0) == 0) return checkup;
  const int64_t swappiness = machine.Number("/proc/sys/vm/swappiness").value_or(0);
  checkup.found = "vm.swappiness = " + std::to_string(swappiness);
  if (swappiness <= kLittle) return checkup;
  checkup.health = Health::kNote;
  checkup.advice = "the kernel may swap out memory of ranks that wait: sysctl vm.swappiness=10";
  return checkup;
}

}  // namespace

std::vector<Checkup> CheckTimes(const Machine& machine) {
  return {CheckClockSource(machine), CheckGovernor(machine), CheckNumaBalancing(machine),
          CheckSwapping(machine)};
}

}  // namespace tutti::collector::doctor
