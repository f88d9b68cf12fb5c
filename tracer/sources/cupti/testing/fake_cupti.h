// A GPU's work as a program without a GPU: the libcupti of this folder records what is said here,
// as the real one records what a GPU does. Stamps are those of the clock that the tool registered
// (fake_cupti::Now); before a tool has, all calls do nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::fake_cupti {

// The CUDA driver's first use in this process: calls the tool that CUDA_INJECTION64_PATH names.
void InitializeDriver();

// Ticks of the tool's clock.
uint64_t Now();

// Whether |kind| is being recorded.
bool Records(int kind);

// Adds a record of CUpti_Activity… as the header has it, if its kind is being recorded.
void Add(const void* record, size_t bytes);

// What a kernel or a copy looks like; the rest of its fields is fixed.
struct Work {
  const char* name = "";
  uint32_t stream = 7;
  uint64_t begin = 0;  // ticks
  uint64_t end = 0;
  uint32_t correlation = 0;
  uint64_t graph_node = 0;
};

inline constexpr uint32_t kDevice = 0;
inline constexpr uint32_t kContext = 1;

// Device 0 with a context, and streams 7, 13 and 20 in it.
void AddDevice();
void AddApiCall(uint32_t callback_id, uint64_t begin, uint64_t end, uint32_t correlation);
void AddKernel(const Work& work);
void AddCopyToDevice(const Work& work, uint64_t bytes);
void AddFill(const Work& work, uint64_t bytes);
void AddStreamWait(uint32_t stream, uint64_t begin, uint64_t end, uint32_t correlation);
// With data of the heap in it, which the tool must free.
void AddCommandBufferFull(uint64_t begin, uint64_t end);

// At the forced flush, with which recording ends, writes "kind count ticks" for each kind of
// record to |path|: how many were recorded, and the sum of their lengths.
void WriteTruthTo(const std::string& path);

// How many buffers the tool has given, and how many it did not when asked.
uint64_t BuffersGiven();
uint64_t BuffersRefused();

// CUPTI's callback id of cudaLaunchKernel.
uint32_t LaunchCallback();

}  // namespace tutti::fake_cupti
