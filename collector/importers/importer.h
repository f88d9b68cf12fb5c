// What each format of other tools' files has: something that recognizes a file by its
// content and turns it into rows of a rank's trace. One subfolder per format; the list of
// formats is in importer_list.cc.
//
// A file is never trusted: what can be read of it is, what can't is counted in the trace
// (TraceSink::Count) with the place of the first, and only a file of which nothing can be
// used is an error. Importers keep no state; a call is made by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collector/importers/input_file.h"
#include "collector/importers/trace_sink.h"
#include "common/status.h"

namespace tutti::collector::importers {

// Gives out the traces that an importer writes. Traces stay valid until the import ends.
class ImportTarget {
 public:
  virtual ~ImportTarget() = default;

  // A new trace for `file`; who it is may be told later (TraceSink::identity). An importer
  // of a file with several ranks asks for one each.
  virtual Result<TraceSink*> NewTrace(const InputFile& file) = 0;

  // The trace of a rank to add to: that which another format's file made, else a new one.
  // For importers that run second (adds_to_traces). A second file of the same format for
  // the same rank gets a trace of its own.
  virtual Result<TraceSink*> TraceOf(int64_t rank, const InputFile& file) = 0;

  // Part of a file that could not be read, one plain line; for what no trace can tell.
  virtual void Tell(std::string /*message*/) {}

  // Whether a file of another format told of this rank. For importers that run second.
  virtual bool HasTraceOf(int64_t /*rank*/) const { return false; }

  // The trace to add to if there is just one, of another format, whatever its rank; else
  // nullptr. For importers that run second, of files that don't say whose they are.
  virtual Result<TraceSink*> OnlyTrace() { return nullptr; }
};

class Importer {
 public:
  virtual ~Importer() = default;

  // As in import_source.format: "kineto", "nsys", …
  virtual std::string_view format() const = 0;

  // By content, not by name: the name may be anything.
  virtual bool Recognizes(const InputFile& file) const = 0;

  // Whether its files tell about ranks whose events other files hold. Such files are
  // imported after all others.
  virtual bool adds_to_traces() const { return false; }

  // Writes what the file holds. Not ok: one plain line with the file's name, nothing of
  // this file is kept.
  virtual Status Import(const InputFile& file, ImportTarget& target) const = 0;
};

// All formats, in the order in which they are asked.
const std::vector<const Importer*>& AllImporters();

}  // namespace tutti::collector::importers
