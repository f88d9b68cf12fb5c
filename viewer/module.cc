// What libtutti_viewer.so does when `tutti view` has loaded it.
#include <imgui.h>

#include <exception>
#include <fstream>
#include <sstream>

#include "viewer/app/script.h"
#include "viewer/app/state.h"
#include "viewer/model/two_runs.h"
#include "viewer/platform/player.h"
#include "viewer/platform/window.h"
#include "viewer/viewer.h"

namespace tutti::viewer {
namespace {

Result<std::vector<ScriptLine>> ReadScript(const std::string& path) {
  if (path.empty()) return std::vector<ScriptLine>();
  std::ifstream file(path);
  if (!file) return NotFoundError(path + ": no script can be read there");
  std::stringstream text;
  text << file.rdbuf();
  return ParseScript(text.str());
}

Status MakePictures(State* state, const ViewOptions& options,
                    const std::vector<ScriptLine>& script) {
  state->WaitUntilLoaded();
  const float scale = options.scale > 0 ? static_cast<float>(options.scale) : 1;
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<Player> player,
                         Player::Create(state, options.width, options.height, scale));
  if (!options.go_to.empty()) TUTTI_RETURN_IF_ERROR(state->GoToPlace(options.go_to));
  player->Frames(2);
  TUTTI_RETURN_IF_ERROR(player->Play(script));
  if (!options.dump.empty()) TUTTI_RETURN_IF_ERROR(WriteTextTo(options.dump, player->Dump()));
  return options.png.empty() ? OkStatus() : WritePng(player->Picture(), options.png);
}

Result<RunSummary> ReadRuns(const ViewOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(RunSummary summary, ReadRunSummary(options.analysis, options.run));
  summary.title = options.title;
  if (options.run_b.empty()) return summary;
  TUTTI_ASSIGN_OR_RETURN(RunSummary other, ReadRunSummary(options.analysis_b, options.run_b));
  other.title = options.title_b;
  return MergeRuns(std::move(summary), std::move(other));
}

Status RunViewer(const ViewOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<ScriptLine> script, ReadScript(options.script));
  TUTTI_ASSIGN_OR_RETURN(RunSummary summary, ReadRuns(options));
  State state(std::make_unique<Session>(std::move(summary), 0, RankCache(options.cache_folder)),
              options.open_replay);
  if (state.summary().has_two_runs()) state.Raise(Panel::kCompare);
  state.is_dark = !options.light;
  const std::string title = options.title + options.title_b;
  const std::string rows = KeptViewPath(options.layout_file, title);
  const std::string notes = NotesPath(options.layout_file, title, options.run);
  state.Restore(ReadKept(rows, notes));
  if (options.offscreen) return MakePictures(&state, options, script);
  if (!options.go_to.empty()) {
    state.WaitUntilLoaded();
    TUTTI_RETURN_IF_ERROR(state.GoToPlace(options.go_to));
  }
  TUTTI_RETURN_IF_ERROR(RunWindow(&state, options));
  return WriteKept(state.Kept(), rows, notes);
}

}  // namespace
}  // namespace tutti::viewer

extern "C" __attribute__((visibility("default"))) void tutti_view(
    const tutti::viewer::ViewOptions* options, tutti::Status* status) {
  try {
    *status = tutti::viewer::RunViewer(*options);
  } catch (const std::exception& error) {  // no memory
    *status = tutti::IoError(error.what());
  }
}
