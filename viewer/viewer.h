// The viewer's façade: a run on a timeline, in a window or in pictures.
//
// The viewer is a library of its own, libtutti_viewer.so, that is loaded when it is wanted, so
// that the command line needs no OpenGL: `tutti record` runs on machines without.
#pragma once

#include <string>

#include "common/status.h"
#include "viewer/replay.h"

namespace tutti::viewer {

struct ViewOptions {
  std::string run;       // a run's folder, or one trace
  std::string analysis;  // its derived tables
  std::string title;     // what the user called it
  std::string run_b;     // the same of a second run beside it, "" none
  std::string analysis_b;
  std::string title_b;
  std::string go_to;   // "RANK:STEP" or "RANK:STEP:ROW" to begin at, "" the whole run
  bool light = false;  // colours
  double scale = 1;    // of all sizes; 0: as the screen wants it

  // Without a window: draws `width` × `height` pixels and ends.
  bool offscreen = false;
  int width = 1920;
  int height = 1080;
  std::string png;     // the picture goes here, "" none
  std::string dump;    // the scene as text goes here, "-" standard output, "" none
  std::string script;  // actions to do before (app/script.h), "" none

  ReplayOpener open_replay;  // of the run, empty: there is none

  std::string cache_folder;  // keeps packed events between sessions, "" nothing does
  std::string layout_file;   // keeps the arrangement of panels, "" nothing does
};

// Returns when the window was closed, or the pictures are made. kUnavailable if this build has no
// viewer, or the machine no display; kUsage for scripts and places that mean nothing.
Status View(const ViewOptions& options);

// What libtutti_viewer.so has under the name "tutti_view".
using ViewFunction = void (*)(const ViewOptions* options, Status* status);

}  // namespace tutti::viewer
