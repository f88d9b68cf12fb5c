// The analyzer's façade: derived tables over all ranks of a run, and reports of them.
//
//   TUTTI_ASSIGN_OR_RETURN(analyzer::Analysis analysis, analyzer::EnsureAnalyzed("runs/a", {}));
//   TUTTI_ASSIGN_OR_RETURN(std::string text, analyzer::RenderReport(analysis.path, {}));
//
// Functions may be called from any thread; two analyses of one run at a time are safe
// (the later one replaces the earlier one's file as a whole).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace tutti::analyzer {

class Team;

struct AnalyzeOptions {
  std::string output;                    // "" RUN/run.sqlite, or FILE.run.sqlite for a single file
  size_t trace_bytes = size_t{1} << 30;  // raw rows kept in memory at once, roughly
  // A file of rules that say which kernels communicate, compute or copy, before what their
  // names say (metrics/kernel_names.h describes it); "" none.
  std::string kernel_rules;
  // Name of the user's range that is a step, where no steps are marked; "" none.
  std::string step_range;
  // Called before each pass: its name, its place from 0, and how many there are.
  std::function<void(std::string_view pass, size_t index, size_t count)> progress;
  Team* team = nullptr;  // processes that share the work (team.h), outlives the call
};

struct Analysis {
  std::string path;     // the file with the derived tables
  bool is_new = false;  // it was made by this call
};

// Runs all passes over a run folder or one trace file and writes the derived tables: to
// a temporary name first, renamed when complete, mode 0600. Files that can't be read are
// left out and said so in data_issue; kNotFound or kBadData if none can be.
Result<Analysis> Analyze(const std::string& run_or_file, const AnalyzeOptions& options);

// The same if there is no analysis yet, or a trace changed since, or another version of
// the analyzer or other options made it. A file with derived tables is taken as it is.
Result<Analysis> EnsureAnalyzed(const std::string& run_or_file, const AnalyzeOptions& options);

enum class ReportFormat { kText, kJson, kMarkdown, kHtml };

struct ReportOptions {
  ReportFormat format = ReportFormat::kText;
  bool colour = false;  // ANSI colours in text
};

// A report out of the derived tables alone.
Result<std::string> RenderReport(const std::string& analysis_path, const ReportOptions& options);

// A gate as given by the user: KIND:SHARE.
struct Gate {
  std::string kind;  // of a finding, a part of the step, 'exposed_comm' (its three parts), or 'any'
  double share = 0;  // of the step, 0 to 1
};
// "input_wait:0.1", "any:5%". kUsage says what is wrong, for an unknown kind which there are.
Result<Gate> ParseGate(std::string_view text);

struct GateResult {
  Gate gate;
  double share = 0;      // what was found, 0 nothing
  bool tripped = false;  // share >= gate.share, or what stopped the job
  std::string what;      // in words
};
Result<std::vector<GateResult>> CheckGates(const std::string& analysis_path,
                                           const std::vector<Gate>& gates);

// What is missing from the analysis.
struct Losses {
  int64_t ranks_missing = 0;
  int64_t events_lost = 0;
  int64_t files_unreadable = 0;
};
Result<Losses> ReadLosses(const std::string& analysis_path);

}  // namespace tutti::analyzer
