// A libnvidia-ml of two GPUs: the first answers everything, with numbers that grow by each read,
// and throttles for heat; the second is of a driver that knows nothing but its UUID.
// TUTTI_FAKE_NVML=hang: the driver never answers.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "collector/counters/nvml.h"

using tutti::collector::counters::nvml::Device;
using tutti::collector::counters::nvml::FieldValue;
using tutti::collector::counters::nvml::Memory;
using tutti::collector::counters::nvml::Return;
using tutti::collector::counters::nvml::Utilization;

namespace {

constexpr Return kNotSupported = 3;  // NVML_ERROR_NOT_SUPPORTED
constexpr int kUnsignedLongLong = 3;

int gpus[2];  // what a Device points to
bool IsFirst(Device device) { return device == &gpus[0]; }
unsigned reads = 0;

template <typename T>
Return Tell(Device device, T* out, T value) {
  if (!IsFirst(device)) return kNotSupported;
  *out = value;
  return 0;
}

}  // namespace

extern "C" {

Return nvmlInit_v2() {
  const char* what = std::getenv("TUTTI_FAKE_NVML");
  while (what != nullptr && std::strcmp(what, "hang") == 0) pause();
  return 0;
}
Return nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  *device = &gpus[index];
  return 0;
}
Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned bytes) {
  std::strncpy(uuid,
               IsFirst(device) ? "GPU-abababab-abab-abab-abab-abababababab"
                               : "GPU-cdcdcdcd-cdcd-cdcd-cdcd-cdcdcdcdcdcd",
               bytes);
  return 0;
}
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* busy) {
  return Tell(device, busy, {91, 37});
}
Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return Tell(device, memory, {uint64_t{80} << 30, uint64_t{60} << 30, uint64_t{20} << 30});
}
Return nvmlDeviceGetClockInfo(Device device, int type, unsigned* mhz) {
  return Tell(device, mhz, type == 1 ? 1980U : 2619U);
}
Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  return Tell(device, reasons, 0x20ULL);
}
Return nvmlDeviceGetTemperature(Device device, int, unsigned* celsius) {
  return Tell(device, celsius, 87U);
}
Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return Tell(device, milliwatts, 512'000U);
}
Return nvmlDeviceGetTotalEccErrors(Device device, int type, int, unsigned long long* count) {
  return Tell(device, count, type == 0 ? 5ULL : 0ULL);
}
// PCIe's counters have 32 bits, and the first read is short of their end.
Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* fields) {
  if (!IsFirst(device)) return kNotSupported;
  ++reads;
  for (int n = 0; n < count; ++n) {
    const bool is_pcie = fields[n].id == 197 || fields[n].id == 198;
    fields[n].type = kUnsignedLongLong;
    fields[n].result = 0;
    fields[n].value = is_pcie ? static_cast<uint32_t>(0xffff'ff00U + (reads - 1) * 0x1000U)
                              : uint64_t{1000} * reads;
  }
  return 0;
}

}  // extern "C"
