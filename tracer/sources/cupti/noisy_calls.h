// Calls of CUDA that programs make all the time and that do no work: asking for the device, for
// errors, for attributes. Recording them would cost more than they do.
#pragma once

#include "tracer/sources/cupti/abi.h"

namespace tutti::tracer::cupti {

// Has CUPTI leave them out, where it can. After the kinds of API calls are enabled.
void SilenceNoisyCalls(const Functions& functions) noexcept;

// The callback ids, which no release changes; for the test that compares them with the headers.
inline constexpr uint32_t kNoisyRuntimeCalls[] = {
    10,   // cudaGetLastError
    11,   // cudaPeekAtLastError
    15,   // cudaFuncGetAttributes
    16,   // cudaSetDevice
    17,   // cudaGetDevice
    138,  // cudaEventQuery
    200,  // cudaDeviceGetAttribute
    207,  // cudaOccupancyMaxActiveBlocksPerMultiprocessor
    251,  // cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
    317,  // cudaStreamIsCapturing
    409,  // cudaStreamGetCaptureInfo_v2
};
inline constexpr uint32_t kNoisyDriverCalls[] = {
    9,    // cuDeviceGetAttribute
    16,   // cuCtxGetDevice
    85,   // cuFuncGetAttribute
    120,  // cuEventQuery
    303,  // cuCtxSetCurrent
    304,  // cuCtxGetCurrent
    310,  // cuPointerGetAttribute
    323,  // cuCtxPushCurrent_v2
    324,  // cuCtxPopCurrent_v2
    374,  // cuOccupancyMaxActiveBlocksPerMultiprocessor
    392,  // cuDevicePrimaryCtxGetState
    450,  // cuPointerGetAttributes
    499,  // cuStreamIsCapturing
    629,  // cuStreamGetCaptureInfo_v2
    677,  // cuGetProcAddress_v2
    683,  // cuKernelGetFunction
    686,  // cuKernelGetAttribute
};

}  // namespace tutti::tracer::cupti
