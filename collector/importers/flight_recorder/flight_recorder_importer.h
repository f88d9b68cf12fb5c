// NCCL flight-recorder dumps, one file a rank -> communicator, collective_source, thread.
#pragma once

#include "collector/importers/importer.h"

namespace tutti::collector::importers {

const Importer& FlightRecorderImporter();

}  // namespace tutti::collector::importers
