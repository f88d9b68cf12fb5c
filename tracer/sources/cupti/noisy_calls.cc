#include "tracer/sources/cupti/noisy_calls.h"

namespace tutti::tracer::cupti {

void SilenceNoisyCalls(const Functions& functions) noexcept {
  if (functions.enable_runtime_api != nullptr) {
    for (const uint32_t call : kNoisyRuntimeCalls) functions.enable_runtime_api(call, 0);
  }
  if (functions.enable_driver_api != nullptr) {
    for (const uint32_t call : kNoisyDriverCalls) functions.enable_driver_api(call, 0);
  }
}

}  // namespace tutti::tracer::cupti
