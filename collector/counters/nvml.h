// NVML's interface, as far as the collector uses it, written by hand and reached by dlopen: the
// command runs without a driver. Source: nvml.h of CUDA 12.4 to 13.x, whose numbers never change;
// all functions are declared so that NVML's int-sized enums and opaque pointers pass as they are.
// Functions that a driver lacks stay null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::collector::counters::nvml {

using Return = int;    // nvmlReturn_t
using Device = void*;  // nvmlDevice_t
inline constexpr Return kSuccess = 0;

struct Utilization {
  unsigned gpu;  // per cent
  unsigned memory;
};
struct Memory {
  uint64_t total;  // bytes
  uint64_t free;
  uint64_t used;
};
// nvmlFieldValue_t
struct FieldValue {
  unsigned id;
  unsigned scope;
  int64_t timestamp_us;
  int64_t latency_us;
  int type;  // of ValueType
  Return result;
  uint64_t value;  // a union; its first bytes are of |type|
};
static_assert(sizeof(FieldValue) == 40);
enum ValueType : int { kUnsignedInt = 1, kUnsignedLong = 2, kUnsignedLongLong = 3 };

inline constexpr unsigned kTotalEnergyField = 83;      // mJ
inline constexpr unsigned kNvlinkTransmitField = 138;  // KiB, data only
inline constexpr unsigned kNvlinkReceiveField = 139;   // KiB
inline constexpr unsigned kPcieTransmitField = 197;    // bytes, may wrap round
inline constexpr unsigned kPcieReceiveField = 198;     // bytes, may wrap round
inline constexpr unsigned kAllLinks = 0xffff'ffff;     // as scope: the sum over links
inline constexpr int kSmClock = 1;                     // NVML_CLOCK_SM
inline constexpr int kMemoryClock = 2;                 // NVML_CLOCK_MEM
inline constexpr int kGpuTemperature = 0;              // NVML_TEMPERATURE_GPU
inline constexpr int kCorrected = 0;                   // NVML_MEMORY_ERROR_TYPE_CORRECTED
inline constexpr int kUncorrected = 1;                 // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
inline constexpr int kSinceBoot = 0;                   // NVML_VOLATILE_ECC

struct Functions {
  Return (*init)();
  Return (*device_count)(unsigned*);
  Return (*device_by_index)(unsigned, Device*);
  Return (*uuid)(Device, char*, unsigned);
  Return (*utilization)(Device, Utilization*);
  Return (*memory)(Device, Memory*);
  Return (*clock)(Device, int, unsigned*);
  Return (*throttle_reasons)(Device, unsigned long long*);
  Return (*temperature)(Device, int, unsigned*);
  Return (*power)(Device, unsigned*);
  Return (*field_values)(Device, int, FieldValue*);
  Return (*ecc_errors)(Device, int, int, unsigned long long*);
};

// Loads |library| and starts NVML. False: there is none here, or it does not start. May take
// seconds, or never return where the driver hangs: on a thread that nothing waits for.
bool Load(const std::string& library, Functions* functions);

// The file that TUTTI_NVML_LIBRARY names, else what the loader finds.
std::string LibraryName();

}  // namespace tutti::collector::counters::nvml
