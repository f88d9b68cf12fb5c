// What the categories of complete events mean, in all spellings that Kineto and its kin have
// used (libkineto/src/ActivityType.cpp; capital letters in 2021).
// Pure functions; callable from any thread.
#pragma once

#include <string_view>

namespace tutti::collector::importers::kineto {

enum class Kind {
  kOther,  // kept as a range
  kOp,
  kAnnotation,
  kPythonCall,
  kRuntimeCall,
  kDriverCall,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kGpuRange,
  kOverhead,
  kProfilerSpan,  // the profiler's own window
  kBrowser,       // of Chrome's DevTools
};

Kind KindOf(std::string_view category);

}  // namespace tutti::collector::importers::kineto
