// What an event is about, by which it is coloured and its time is added up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::viewer {

enum class Category : uint8_t {
  kCompute,
  kCommunication,
  kCopy,
  kHost,       // operators and ranges on threads that do not compute, Python calls
  kLoader,     // waiting for or loading input
  kOptimizer,  // kernels and phases of the optimizer
  kRuntime,    // CUDA calls
  kWait,       // a synchronisation, profiling overhead
  kStep,       // steps, phases and other marks of the program
};
inline constexpr size_t kCategories = 9;

// Nanoseconds by category.
using CategoryNs = std::array<int64_t, kCategories>;

std::string_view CategoryName(Category category);

// The category for what analyzer's op_stats calls a kernel's ("gemm", "comm_all_reduce", …).
Category CategoryOfKernel(std::string_view analyzed);

}  // namespace tutti::viewer
