#include "collector/importers/execution_trace/execution_trace_importer.h"
#include "collector/importers/flight_recorder/flight_recorder_importer.h"
#include "collector/importers/importer.h"
#include "collector/importers/kineto/kineto_importer.h"
#include "collector/importers/memory_snapshot/memory_snapshot_importer.h"
#include "collector/importers/nsys/nsys_importer.h"
#include "collector/importers/straggler_study/straggler_study_importer.h"

namespace tutti::collector::importers {

const std::vector<const Importer*>& AllImporters() {
  static const KinetoImporter kineto;
  static const NsysImporter nsys;
  // What is told by few words first: a timeline or an execution trace is JSON as well.
  static const std::vector<const Importer*> importers = {&FlightRecorderImporter(),
                                                         &MemorySnapshotImporter(),
                                                         &StragglerStudyImporter(),
                                                         &ExecutionTraceImporter(),
                                                         &nsys,
                                                         &kineto};
  return importers;
}

}  // namespace tutti::collector::importers
