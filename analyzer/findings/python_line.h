// Where in a Python program something happened, where the trace has Python's calls (the PyTorch
// profiler's with_stack). Callable from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run_context.h"
#include "common/interval.h"
#include "schema/database.h"

namespace tutti::analyzer {

// Of the calls that were open, the outermost first: the innermost of the user's own files, else
// of any file; "train.py(88): step". "" if there is none. Files of PyTorch, of Python itself and
// of installed packages are not the user's.
std::string LineOfUser(const std::vector<std::string>& open_calls);

// The same over a stretch of time: each call with its thread, begin and end.
struct PythonCall {
  int64_t tid = 0;
  std::string text;
  Interval time;
};
// Where the innermost call of the user's is for the longest time of `range` on one thread, and how
// long that is. `calls` by thread, begin and depth.
struct LineTime {
  std::string line;
  int64_t ns = 0;
};
LineTime LongestLineOfUser(const std::vector<PythonCall>& calls, Interval range);

// The traces of a run as far as they are asked about. Not thread-safe.
class PythonLines {
 public:
  explicit PythonLines(const RunContext& context) : context_(context) {}

  // The line that made an api_call of a rank; "" where that is not known.
  std::string OfApiCall(const schema::RankRow& rank, int64_t api_call_id);
  // The line that handed in the longest collective that began in `range`, that waited longest for
  // its input there, or that most of `range` was spent at. Aligned time.
  std::string OfCollective(const schema::RankRow& rank, Interval range);
  std::string OfInputWait(const schema::RankRow& rank, Interval range);
  LineTime OfMostTime(const schema::RankRow& rank, Interval range);

 private:
  // nullptr: it has no Python calls, or can't be read.
  schema::Database* Trace(const schema::RankRow& rank);
  // Of the first moment that `thread_and_time` selects in the range; see LineAt.
  std::string OfFirstIn(const schema::RankRow& rank, Interval range,
                        std::string_view thread_and_time);
  std::string LineAt(schema::Database& trace, std::string_view thread_and_time, Interval range);

  const RunContext& context_;
  std::map<int64_t, std::optional<schema::Database>> traces_;  // by rank
};

}  // namespace tutti::analyzer
