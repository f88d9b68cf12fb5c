#include "collector/importers/kineto/category.h"

namespace tutti::collector::importers::kineto {
namespace {

struct Category {
  std::string_view name;
  Kind kind;
};

constexpr Category kCategories[] = {
    {"cpu_op", Kind::kOp},
    {"Operator", Kind::kOp},
    {"operator", Kind::kOp},
    {"hpu_op", Kind::kOp},
    {"user_annotation", Kind::kAnnotation},
    {"python_function", Kind::kPythonCall},
    {"cuda_runtime", Kind::kRuntimeCall},
    {"Runtime", Kind::kRuntimeCall},
    {"hip_runtime", Kind::kRuntimeCall},
    {"xpu_runtime", Kind::kRuntimeCall},
    {"mtia_runtime", Kind::kRuntimeCall},
    {"glow_runtime", Kind::kRuntimeCall},
    {"privateuse1_runtime", Kind::kRuntimeCall},
    {"cuda_driver", Kind::kDriverCall},
    {"Driver", Kind::kDriverCall},
    {"hip_driver", Kind::kDriverCall},
    {"xpu_driver", Kind::kDriverCall},
    {"privateuse1_driver", Kind::kDriverCall},
    {"kernel", Kind::kKernel},
    {"Kernel", Kind::kKernel},
    {"concurrent_kernel", Kind::kKernel},
    {"mtia_ccp_events", Kind::kKernel},
    {"collective_comm", Kind::kKernel},
    {"gpu_memcpy", Kind::kMemcpy},
    {"Memcpy", Kind::kMemcpy},
    {"gpu_memset", Kind::kMemset},
    {"Memset", Kind::kMemset},
    {"cuda_sync", Kind::kSync},
    {"gpu_user_annotation", Kind::kGpuRange},
    {"cuda_profiler_range", Kind::kGpuRange},
    {"overhead", Kind::kOverhead},
    {"Overhead", Kind::kOverhead},
    {"Trace", Kind::kProfilerSpan},
};

}  // namespace

Kind KindOf(std::string_view category) {
  for (const Category& known : kCategories) {
    if (category == known.name) return known.kind;
  }
  const bool is_browser = category.find("devtools") != std::string_view::npos ||
                          category.starts_with("blink") || category == "toplevel" ||
                          category.starts_with("v8");
  return is_browser ? Kind::kBrowser : Kind::kOther;
}

}  // namespace tutti::collector::importers::kineto
