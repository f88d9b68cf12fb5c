// The façade of comparisons, for the command line:
//
//   std::vector<Launch> base, fresh;      // ReadLaunch of each analyzed run, ReadStepTimes of
//                                         // files with mere step times
//   TUTTI_ASSIGN_OR_RETURN(Comparison comparison, Compare(std::move(base), std::move(fresh), {}));
//   std::string text = RenderText(…);
//
// Functions may be called from any thread.
#pragma once

#include "analyzer/compare/calibration.h"    // IWYU pragma: export
#include "analyzer/compare/comparison.h"     // IWYU pragma: export
#include "analyzer/compare/confirmation.h"   // IWYU pragma: export
#include "analyzer/compare/launch_reader.h"  // IWYU pragma: export
#include "analyzer/compare/output_file.h"    // IWYU pragma: export
#include "analyzer/compare/render.h"         // IWYU pragma: export
#include "analyzer/compare/step_times.h"     // IWYU pragma: export
