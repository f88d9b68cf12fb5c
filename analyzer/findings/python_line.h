// Where in a Python program something happened, where the trace has Python's calls (the PyTorch
// profiler's with_stack). Callable from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run_context.h"

namespace tutti::analyzer {

// Of the calls that were open, the outermost first: the innermost of the user's own files, else
// of any file; "train.py(88): step". "" if there is none. Files of PyTorch, of Python itself and
// of installed packages are not the user's.
std::string LineOfUser(const std::vector<std::string>& open_calls);

// The line that made an api_call of a rank; "" where that is not known.
std::string PythonLineOf(const RunContext& context, const schema::RankRow& rank,
                         int64_t api_call_id);

}  // namespace tutti::analyzer
