#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "collector/doctor/checks.h"
#include "schema/rows.h"
#include "schema/testing/scratch.h"
#include "schema/writer.h"

namespace tutti::collector::doctor {
namespace {

using schema::testing::Scratch;
using ::testing::HasSubstr;

// A machine made of files.
class DoctorTest : public ::testing::Test {
 protected:
  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path full = scratch_.Path("root" + path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  Machine TheMachine(std::map<std::string, std::string> environment = {}) const {
    return {scratch_.Path("root"), std::move(environment)};
  }
  static Checkup Named(const std::vector<Checkup>& checkups, const std::string& name) {
    for (const Checkup& checkup : checkups) {
      if (checkup.name == name) return checkup;
    }
    ADD_FAILURE() << "no checkup " << name;
    return {};
  }

  Scratch scratch_;
};

TEST_F(DoctorTest, ThisMachineIsExaminedAndEveryNoteSaysWhatToDo) {
  const Result<std::vector<Checkup>> all = CheckMachine({});
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_GE(all->size(), 13u);
  for (const Checkup& checkup : *all) {
    EXPECT_NE(checkup.found, "") << checkup.name;
    EXPECT_EQ(checkup.health != Health::kGood, !checkup.advice.empty()) << checkup.name;
  }
  EXPECT_EQ(Named(*all, "sealed_memory").health, Health::kGood);
  EXPECT_EQ(Named(*all, "wipe_on_fork").health, Health::kGood);
}

TEST_F(DoctorTest, AQuietMachineIsGood) {
  Put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  Put("/proc/meminfo", "MemTotal: 1 kB\nSwapTotal:       0 kB\n");
  Put("/proc/sys/vm/swappiness", "60\n");
  Put("/proc/sys/net/core/somaxconn", "4096\n");
  for (const auto& checkups :
       {CheckTimes(TheMachine()), CheckLimits(TheMachine(), {8, int64_t{8} << 30, 65536}),
        CheckGpu(TheMachine(), false)}) {
    for (const Checkup& checkup : checkups) {
      EXPECT_EQ(checkup.health, Health::kGood) << checkup.name << ": " << checkup.found;
    }
  }
}

TEST_F(DoctorTest, TellsWhatMakesTimesNoisy) {
  Put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  Put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  Put("/sys/devices/system/node/node1/cpulist", "8-15\n");
  Put("/proc/sys/kernel/numa_balancing", "1\n");
  Put("/proc/meminfo", "SwapTotal:  2097148 kB\n");
  Put("/proc/sys/vm/swappiness", "60\n");
  const std::vector<Checkup> checkups = CheckTimes(TheMachine());
  ASSERT_EQ(checkups.size(), 4u);
  for (const Checkup& checkup : checkups) EXPECT_EQ(checkup.health, Health::kNote) << checkup.name;
  EXPECT_EQ(Named(checkups, "clock_source").found, "hpet");
  EXPECT_THAT(Named(checkups, "swappiness").advice, HasSubstr("sysctl vm.swappiness=10"));
}

TEST_F(DoctorTest, ReadsTheQuotaOfTheControlGroupThatItIsIn) {
  Put("/proc/self/cgroup", "1:name=systemd:/old\n0::/pods/a\n");
  Put("/sys/fs/cgroup/cpu.max", "max 100000\n");
  Put("/sys/fs/cgroup/pods/a/cpu.max", "250000 100000\n");
  const Limits limits{8, int64_t{8} << 30, 65536};
  const Checkup quota = Named(CheckLimits(TheMachine(), limits), "cpu_quota");
  EXPECT_EQ(quota.health, Health::kNote);
  EXPECT_EQ(quota.found, "8 processors, quota of 250 %");
  Put("/sys/fs/cgroup/pods/a/cpu.max", "800000 100000\n");
  EXPECT_EQ(Named(CheckLimits(TheMachine(), limits), "cpu_quota").health, Health::kGood);
  Put("/sys/fs/cgroup/pods/a/cpu.max", "max 100000\n");
  EXPECT_EQ(Named(CheckLimits(TheMachine(), limits), "cpu_quota").found, "8 processors, no quota");
}

TEST_F(DoctorTest, TellsWhatTrainingRunsOutOf) {
  Put("/proc/sys/net/core/somaxconn", "128\n");
  const std::vector<Checkup> checkups = CheckLimits(TheMachine(), {2, int64_t{64} << 20, 1024});
  EXPECT_EQ(Named(checkups, "shared_memory").health, Health::kProblem);
  EXPECT_EQ(Named(checkups, "shared_memory").found, "64 MiB free in /dev/shm");
  EXPECT_EQ(Named(checkups, "open_files").health, Health::kNote);
  EXPECT_EQ(Named(checkups, "connection_queue").health, Health::kNote);
}

TEST_F(DoctorTest, TellsWhoMayProfileAGpu) {
  Put("/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan 23\nGCC version: 12\n");
  Put("/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: NVIDIA H200\n");
  Put("/proc/driver/nvidia/params", "ResmanDebugLevel: 1\nRmProfilingAdminOnly: 1\n");
  EXPECT_EQ(Named(CheckGpu(TheMachine(), false), "gpu_driver").found, "NVIDIA 570.86.15, 1 GPU");
  const Checkup permission = Named(CheckGpu(TheMachine(), false), "gpu_permission");
  EXPECT_EQ(permission.health, Health::kNote);
  EXPECT_THAT(permission.advice, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(Named(CheckGpu(TheMachine(), true), "gpu_permission").health, Health::kGood);
}

TEST_F(DoctorTest, TellsOtherProfilersThatRunOrAreInjected) {
  Put("/proc/4711/comm", "nv-hostengine\n");
  Put("/proc/4712/comm", "nsys-ui\n");
  Put("/proc/self/comm", "nsys\n");
  const std::vector<Checkup> checkups =
      CheckGpu(TheMachine({{"CUDA_INJECTION64_PATH", "/opt/nsys/lib.so"}}), false);
  EXPECT_EQ(Named(checkups, "other_profilers").found, "DCGM (process 4711)");
  EXPECT_EQ(Named(checkups, "injected_tools").found, "CUDA_INJECTION64_PATH=/opt/nsys/lib.so");
  EXPECT_EQ(Named(checkups, "injected_tools").health, Health::kNote);
}

TEST_F(DoctorTest, ReadsDataOfAFolder) {
  Put("/data/a/part-0", std::string(3 << 20, 'x'));
  Put("/data/part-1", std::string(2 << 20, 'x'));
  const Result<Checkup> speed = CheckDataSpeed(scratch_.Path("root/data"));
  ASSERT_TRUE(speed.ok()) << speed.status().message();
  EXPECT_THAT(speed->found, HasSubstr("over 5 MiB read in order"));
  EXPECT_EQ(CheckDataSpeed(scratch_.Path("nothing")).status().code(), StatusCode::kNotFound);
  std::filesystem::create_directories(scratch_.Path("empty"));
  EXPECT_THAT(CheckDataSpeed(scratch_.Path("empty")).status().message(), HasSubstr("no data"));
}

TEST_F(DoctorTest, TellsRanksOfOtherVersions) {
  const auto write = [&](int64_t rank, const std::string& version) {
    auto writer = *schema::TraceWriter::Create(scratch_.Path("run/rank-0000") +
                                               std::to_string(rank) + ".sqlite");
    schema::ProcessRow process;
    process.pid = 100 + rank;
    process.host = "n" + std::to_string(rank);
    process.rank = rank;
    process.torch_version = version;
    ASSERT_TRUE(writer->Append(process).ok() && writer->Finalize().ok());
  };
  std::filesystem::create_directories(scratch_.Path("run"));
  write(0, "2.11.0");
  write(1, "2.11.0");
  const auto alike = CheckRanks(scratch_.Path("run"));
  ASSERT_TRUE(alike.ok()) << alike.status().message();
  EXPECT_EQ(Named(*alike, "torch_version").found, "2.11.0");
  EXPECT_EQ(Named(*alike, "gpu").found, "not recorded");
  write(2, "2.8.0");
  const Checkup version = Named(*CheckRanks(scratch_.Path("run")), "torch_version");
  EXPECT_EQ(version.health, Health::kProblem);
  EXPECT_EQ(version.found, "2.11.0: rank 0, 1; 2.8.0: rank 2");
}

}  // namespace
}  // namespace tutti::collector::doctor
