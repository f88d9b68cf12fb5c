// One rank's trace as a Chrome trace with the categories and arguments of PyTorch's
// profiler (Kineto), so that what reads those reads this: Perfetto, chrome://tracing,
// TensorBoard, HTA, and `tutti import`, which gives the same rows back for everything that
// the format has a place for. What it has none for is counted.
//
//   table                 as
//   cpu_op, python_call   X of cpu_op, python_function
//   api_call              X of cuda_runtime, cuda_driver
//   kernel, memcpy,       X of kernel, gpu_memcpy, gpu_memset, cuda_sync on pid = GPU,
//   memset, sync          tid = stream
//   range, gpu_range      X of user_annotation (other NVTX domains: category = domain),
//                         gpu_user_annotation; marks i, start/end ranges b and e
//   step                  X of user_annotation, "ProfilerStep#N", unless a range is that
//   overhead, flow        X of overhead, s and f
//   memory_event          i "[memory]"
//   counter_sample        C
//   communicator          distributedInfo.pg_config
//   device, thread        deviceProperties, M
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/output_file.h"
#include "common/status.h"
#include "schema/database.h"

namespace tutti::exporter::chrome {

struct ChromeSummary {
  int64_t events = 0;
  std::vector<std::string> messages;  // what had no place, one plain line each
};

Result<ChromeSummary> WriteChromeTrace(schema::Database& trace, OutputFile& output);

}  // namespace tutti::exporter::chrome
