// What-if questions about an analyzed run: a replay of its dependency graph with something
// changed. The graph is built once; each question then costs milliseconds, so that a slider
// can ask while it is moved.
//
//   TUTTI_ASSIGN_OR_RETURN(auto model, analyzer::WhatIfModel::Open("runs/a", analysis.path, {}));
//   TUTTI_ASSIGN_OR_RETURN(const auto answer, model->Ask({"no-stragglers", "bandwidth=2"}));
//
// Ask and CriticalPath may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/analyze.h"
#include "common/status.h"

namespace tutti::analyzer {

struct WhatIfAnswer {
  std::string scenario;  // as asked
  int64_t step_ns = 0;   // predicted, mean over the replayed steps that count
  int64_t saved_ns = 0;  // unchanged minus that; negative: it would be slower
  double share = 0;      // saved_ns / unchanged
};

// A part of the critical path; all of them add up to the unchanged step.
struct CriticalPart {
  int64_t rank = 0;
  std::string part;  // as in the table critical_path
  int64_t ns = 0;    // per step
};

// A stretch of the critical path. Pieces don't overlap; those of a step add up to it.
struct CriticalPiece {
  int64_t rank = 0;
  int64_t step = 0;      // run_step.step
  std::string part;      // as in the table critical_path
  std::string name;      // what ran, "" nothing
  int64_t begin_ns = 0;  // aligned time
  int64_t end_ns = 0;
};

// How much later something could have begun or ended without any step being longer.
struct Slack {
  int64_t rank = 0;
  int64_t time_ns = 0;  // when it did; aligned
  int64_t slack_ns = 0;
};

struct WhatIfOptions {
  AnalyzeOptions analyze;  // as the run was analyzed
  bool all_steps = false;  // warm-up and other steps that don't count as well
};

class WhatIfModel {
 public:
  // `run_or_file` as analyzed into `analysis`. kBadData where the run
  // has no step, kNotFound where the traces are not there.
  static Result<std::unique_ptr<WhatIfModel>> Open(const std::string& run_or_file,
                                                   const std::string& analysis,
                                                   const WhatIfOptions& options);
  virtual ~WhatIfModel() = default;

  // `words` as in replay/scenario.h, all of them at once. kUsage says what is wrong with them.
  virtual Result<WhatIfAnswer> Ask(const std::vector<std::string>& words) const = 0;
  // What is worth asking of this run.
  virtual std::vector<std::vector<std::string>> UsualQuestions() const = 0;
  // Longest first.
  virtual std::vector<CriticalPart> CriticalPath() const = 0;
  // In order of time, of all replayed steps.
  virtual std::vector<CriticalPiece> CriticalPieces() const = 0;
  // By rank, then time; of several at one moment the least.
  virtual std::vector<Slack> Slacks() const = 0;

  virtual int64_t measured_ns() const = 0;   // mean step of those replayed, as recorded
  virtual int64_t unchanged_ns() const = 0;  // the same replayed without any change
  virtual int64_t steps() const = 0;         // replayed ones that count
  virtual int64_t first_step() const = 0;    // run_step.step
  virtual int64_t last_step() const = 0;
};

enum class WhatIfFormat { kText, kJson };

// Answers to `questions`, or to the usual ones if there are none, largest saving first.
Result<std::string> RenderWhatIf(const WhatIfModel& model,
                                 const std::vector<std::vector<std::string>>& questions,
                                 WhatIfFormat format);

}  // namespace tutti::analyzer
