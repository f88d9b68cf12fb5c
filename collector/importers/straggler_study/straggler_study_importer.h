// Timelines of ByteDance's straggler study, one file for all workers -> a trace for each.
#pragma once

#include "collector/importers/importer.h"

namespace tutti::collector::importers {

const Importer& StragglerStudyImporter();

}  // namespace tutti::collector::importers
