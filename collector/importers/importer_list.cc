#include "collector/importers/importer.h"

namespace tutti::collector::importers {

const std::vector<const Importer*>& AllImporters() {
  static const std::vector<const Importer*> importers = {};
  return importers;
}

}  // namespace tutti::collector::importers
