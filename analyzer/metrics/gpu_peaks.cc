#include "analyzer/metrics/gpu_peaks.h"

#include <array>

namespace tutti::analyzer {
namespace {

struct Product {
  std::string_view part_of_name;
  GpuPeak peak;
};

// The first that fits: variants come before the product that they are of.
constexpr std::array kProducts = {
    Product{"B200", {2250, 900}},
    Product{"H200", {989, 450}},
    Product{"H100 PCIe", {756, 0}},
    Product{"H100 NVL", {835, 300}},
    Product{"H100", {989, 450}},
    Product{"H800", {989, 200}},
    Product{"H20", {148, 450}},
    Product{"A100-PCIE", {312, 0}},
    Product{"A100 80GB PCIe", {312, 0}},
    Product{"A100", {312, 300}},
    Product{"A800", {312, 200}},
    Product{"A40", {150, 0}},
    Product{"A10G", {70, 0}},
    Product{"A10", {125, 0}},
    Product{"L40S", {362, 0}},
    Product{"L40", {181, 0}},
    Product{"L4", {121, 0}},
    Product{"V100-PCIE", {112, 0}},
    Product{"V100", {125, 150}},
    Product{"T4", {65, 0}},
    Product{"RTX 4090", {165, 0}},
    Product{"RTX 3090", {71, 0}},
    Product{"MI325X", {1307, 448}},
    Product{"MI300X", {1307, 448}},
    Product{"MI250X", {383, 400}},
};

}  // namespace

std::optional<GpuPeak> PeakOf(std::string_view gpu_name) {
  for (const Product& product : kProducts) {
    if (gpu_name.find(product.part_of_name) != std::string_view::npos) return product.peak;
  }
  return std::nullopt;
}

}  // namespace tutti::analyzer
