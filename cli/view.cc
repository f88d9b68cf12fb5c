// tutti view: a run on a timeline, in a window or as a picture.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analyze.h"
#include "analyzer/replay/whatif.h"
#include "cli/analysis_options.h"
#include "cli/open_run.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "viewer/viewer.h"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

struct ViewArguments {
  viewer::ViewOptions options;
  std::string size = "1920x1080";
  AnalysisArguments analysis;
};

// Makes `folder` below the folder that the variable names, else below `home_folder` in the user's;
// "" where that can't be.
std::string UserFolder(const char* variable, const char* home_folder, const char* folder) {
  const char* base = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  const char* home = std::getenv("HOME");    // NOLINT(concurrency-mt-unsafe)
  fs::path path;
  if (base != nullptr && *base == '/') {
    path = base;
  } else if (home != nullptr && *home == '/') {
    path = fs::path(home) / home_folder;
  } else {
    return "";
  }
  for (const fs::path& part : fs::path(folder)) {
    ::mkdir(path.c_str(), 0700);
    path /= part;
  }
  const bool is_made = ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
  return is_made ? path.string() : "";
}

// Where the arrangement of panels is kept between sessions, "" where that can't be.
std::string LayoutFile() {
  const std::string folder = UserFolder("XDG_CONFIG_HOME", ".config", "tutti");
  return folder.empty() ? "" : folder + "/viewer.ini";
}

Status ParseSize(const std::string& text, viewer::ViewOptions* options) {
  int end = 0;
  const int found = std::sscanf(text.c_str(), "%5dx%5d%n",  // NOLINT(cert-err34-c): checked below
                                &options->width, &options->height, &end);
  const bool is_whole = found == 2 && static_cast<size_t>(end) == text.size();
  if (!is_whole || options->width < 320 || options->height < 200 || options->width > 16384 ||
      options->height > 16384) {
    return UsageError("--size " + text + ": WIDTHxHEIGHT, from 320x200 to 16384x16384");
  }
  return OkStatus();
}

// The analyzer's replay as the viewer asks it.
class ViewedReplay : public viewer::Replay {
 public:
  explicit ViewedReplay(std::unique_ptr<analyzer::WhatIfModel> model) : model_(std::move(model)) {}

  Result<viewer::Prediction> Ask(const std::vector<std::string>& words) const override {
    TUTTI_ASSIGN_OR_RETURN(const analyzer::WhatIfAnswer answer, model_->Ask(words));
    return viewer::Prediction{answer.scenario, answer.step_ns, answer.saved_ns};
  }
  std::vector<std::vector<std::string>> UsualQuestions() const override {
    return model_->UsualQuestions();
  }
  std::vector<viewer::PathPiece> CriticalPath() const override {
    std::vector<viewer::PathPiece> path;
    for (const analyzer::CriticalPiece& piece : model_->CriticalPieces()) {
      path.push_back(
          {piece.rank, piece.step, piece.part, piece.name, piece.begin_ns, piece.end_ns});
    }
    return path;
  }
  std::vector<viewer::EventSlack> Slacks() const override {
    std::vector<viewer::EventSlack> slacks;
    for (const analyzer::Slack& slack : model_->Slacks()) {
      slacks.push_back({slack.rank, slack.time_ns, slack.slack_ns});
    }
    return slacks;
  }
  int64_t measured_ns() const override { return model_->measured_ns(); }
  int64_t unchanged_ns() const override { return model_->unchanged_ns(); }
  int64_t steps() const override { return model_->steps(); }

 private:
  std::unique_ptr<analyzer::WhatIfModel> model_;
};

viewer::ReplayOpener OpenerOf(const std::string& run, const std::string& analysis,
                              const analyzer::WhatIfOptions& options) {
  return [=]() -> Result<std::unique_ptr<viewer::Replay>> {
    TUTTI_ASSIGN_OR_RETURN(auto model, analyzer::WhatIfModel::Open(run, analysis, options));
    return std::unique_ptr<viewer::Replay>(std::make_unique<ViewedReplay>(std::move(model)));
  };
}

// Sets `run` to where the run is and `analysis` to its derived tables.
Status Open(const AnalysisArguments& arguments, std::string* run, std::string* analysis) {
  TUTTI_ASSIGN_OR_RETURN(*run, OpenRun(*run));
  analyzer::AnalyzeOptions analyze = WithProgress();
  arguments.ApplyTo(analyze);
  TUTTI_ASSIGN_OR_RETURN(const analyzer::Analysis made, analyzer::EnsureAnalyzed(*run, analyze));
  *analysis = made.path;
  return OkStatus();
}

Status View(ViewArguments& arguments) {
  viewer::ViewOptions& options = arguments.options;
  TUTTI_RETURN_IF_ERROR(ParseSize(arguments.size, &options));
  const bool makes_files = !options.png.empty() || !options.dump.empty() || !options.script.empty();
  if (makes_files && !options.offscreen) {
    return UsageError("--png, --dump-scene and --script need --offscreen");
  }
  options.title = options.run;
  options.title_b = options.run_b;
  TUTTI_RETURN_IF_ERROR(Open(arguments.analysis, &options.run, &options.analysis));
  if (!options.run_b.empty()) {
    TUTTI_RETURN_IF_ERROR(Open(arguments.analysis, &options.run_b, &options.analysis_b));
  }
  // Without progress: it opens beside a window.
  analyzer::WhatIfOptions replay;
  arguments.analysis.ApplyTo(replay.analyze);
  options.open_replay = OpenerOf(options.run, options.analysis, replay);
  options.cache_folder = UserFolder("XDG_CACHE_HOME", ".cache", "tutti/view");
  if (!options.offscreen) options.layout_file = LayoutFile();
  return viewer::View(options);
}

void AddOptions(CLI::App& view, ViewArguments& arguments) {
  viewer::ViewOptions& options = arguments.options;
  view.add_option("run", options.run, "A run's folder, one trace, or files of other tools")
      ->required()
      ->option_text("RUN|FILE");
  view.add_option("run_b", options.run_b,
                  "A second one beside it, step by step: what differs, rank by rank")
      ->option_text("RUN_B");
  view.add_option("--goto", options.go_to,
                  "Where to begin: a rank and a step, also a row of kernel, cpu_op or range in the "
                  "rank's file")
      ->option_text("RANK:STEP[:ROW]");
  view.add_flag("--light", options.light, "Dark on light")->envname("TUTTI_LIGHT");
  view.add_option("--scale", options.scale,
                  "Size of everything; 0: what the screen asks for (default, 1 off the screen)")
      ->check(CLI::Range(0.0, 8.0))
      ->envname("TUTTI_SCALE")
      ->option_text("FACTOR");
  view.add_flag("--offscreen", options.offscreen, "Open no window, needs no display");
  view.add_option("--size", arguments.size, "Pixels of the window or picture")
      ->capture_default_str()
      ->option_text("WIDTHxHEIGHT");
  view.add_option("--png", options.png, "Write the picture there (--offscreen)")
      ->option_text("FILE");
  view.add_option("--dump-scene", options.dump,
                  "Write what the timeline shows as text, - for standard output (--offscreen)")
      ->option_text("FILE");
  view.add_option("--script", options.script,
                  "Do the actions in this file first, one a line (--offscreen); docs/viewer.md "
                  "lists them")
      ->option_text("FILE");
  AddAnalysisOptions(view, arguments.analysis);
}

}  // namespace

void AddView(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<ViewArguments>();
  arguments->options.scale = 0;
  CLI::App* view = app.add_subcommand(
      "view", "Look at a run on a timeline of all ranks (analyzes it first if needed)");
  AddOptions(*view, *arguments);
  view->callback([arguments, &invocation] {
    const Status status = View(*arguments);
    if (!status.ok()) invocation.Fail(status);
  });
}

}  // namespace tutti::cli
