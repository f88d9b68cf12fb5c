// Nsight Systems' SQLite exports, of every schema version: one trace per process that ran
// work on a GPU. A report in Nsight's own format is answered with how to export it.
#pragma once

#include "collector/importers/importer.h"

namespace tutti::collector::importers {

class NsysImporter : public Importer {
 public:
  std::string_view format() const override { return "nsys"; }
  bool Recognizes(const InputFile& file) const override;
  Status Import(const InputFile& file, ImportTarget& target) const override;
};

}  // namespace tutti::collector::importers
