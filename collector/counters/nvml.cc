#include "collector/counters/nvml.h"

#include <dlfcn.h>

#include <cstdlib>

namespace tutti::collector::counters::nvml {
namespace {

template <typename Function>
void Find(void* library, const char* symbol, Function* function) {
  *function = reinterpret_cast<Function>(::dlsym(library, symbol));
}

}  // namespace

std::string LibraryName() {
  const char* own = std::getenv("TUTTI_NVML_LIBRARY");  // NOLINT(concurrency-mt-unsafe)
  return own != nullptr && *own != '\0' ? own : "libnvidia-ml.so.1";
}

bool Load(const std::string& library, Functions* functions) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (handle == nullptr) return false;
  Find(handle, "nvmlInit_v2", &functions->init);
  Find(handle, "nvmlDeviceGetCount_v2", &functions->device_count);
  Find(handle, "nvmlDeviceGetHandleByIndex_v2", &functions->device_by_index);
  Find(handle, "nvmlDeviceGetUUID", &functions->uuid);
  Find(handle, "nvmlDeviceGetUtilizationRates", &functions->utilization);
  Find(handle, "nvmlDeviceGetMemoryInfo", &functions->memory);
  Find(handle, "nvmlDeviceGetClockInfo", &functions->clock);
  Find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", &functions->throttle_reasons);
  Find(handle, "nvmlDeviceGetTemperature", &functions->temperature);
  Find(handle, "nvmlDeviceGetPowerUsage", &functions->power);
  Find(handle, "nvmlDeviceGetFieldValues", &functions->field_values);
  Find(handle, "nvmlDeviceGetTotalEccErrors", &functions->ecc_errors);
  return functions->init != nullptr && functions->device_count != nullptr &&
         functions->device_by_index != nullptr && functions->uuid != nullptr &&
         functions->init() == kSuccess;
}

}  // namespace tutti::collector::counters::nvml
