#include "collector/importers/flight_recorder/flight_recorder_importer.h"
#include "collector/importers/importer.h"
#include "collector/importers/kineto/kineto_importer.h"
#include "collector/importers/nsys/nsys_importer.h"

namespace tutti::collector::importers {

const std::vector<const Importer*>& AllImporters() {
  static const KinetoImporter kineto;
  static const NsysImporter nsys;
  static const std::vector<const Importer*> importers = {&FlightRecorderImporter(), &nsys, &kineto};
  return importers;
}

}  // namespace tutti::collector::importers
