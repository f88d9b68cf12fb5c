// What GPUs can do at most, by their product name; from the vendors' data sheets.
// Pure functions; callable from any thread.
#pragma once

#include <optional>
#include <string_view>

namespace tutti::analyzer {

struct GpuPeak {
  double tensor_tflop_per_s = 0;  // dense, bf16 (fp16 where there is no bf16)
  double link_gb_per_s = 0;       // to other GPUs of the machine in one direction, 0: only PCIe
};

// Nothing for products that are not listed.
std::optional<GpuPeak> PeakOf(std::string_view gpu_name);

}  // namespace tutti::analyzer
