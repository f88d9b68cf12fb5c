// What the names of torch's own RecordFunction ranges mean: conventions of PyTorch's
// Python side (torch/profiler/profiler.py, torch/optim/optimizer.py,
// torch/utils/data/dataloader.py) that C++ programs may follow too.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::collector::convert {

enum class OpMeaning : uint8_t {
  kPlain,      // an operator or range without a meaning of its own
  kStep,       // "ProfilerStep#12"
  kOptimizer,  // "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"
  kDataWait,   // "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
};

struct OpName {
  OpMeaning meaning = OpMeaning::kPlain;
  int64_t step = 0;         // kStep: its number
  std::string_view loader;  // kDataWait: class of the iterator; points into the name
};

OpName ParseOpName(std::string_view name);

}  // namespace tutti::collector::convert
