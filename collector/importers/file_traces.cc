#include "collector/importers/file_traces.h"

#include <memory>
#include <utility>

namespace tutti::collector::importers {

Result<TraceSink*> FileTraces::NewTrace(const InputFile& file) {
  const std::string path = pool_.directory() + "/file-" + std::to_string(number_) + "-trace-" +
                           std::to_string(new_.size()) + ".sqlite";
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<TraceSink> sink, TraceSink::Create(path));
  PooledTrace trace;
  trace.sink = std::move(sink);
  trace.file_name = FileName(file);
  trace.formats.insert(format_);
  new_.push_back(std::move(trace));
  return new_.back().sink.get();
}

Result<TraceSink*> FileTraces::AddTo(PooledTrace& trace) {
  trace.formats.insert(format_);
  added_to_.push_back(trace.sink.get());
  TUTTI_RETURN_IF_ERROR(trace.sink->Resume());
  return trace.sink.get();
}

Result<TraceSink*> FileTraces::OnlyTrace() {
  PooledTrace* const trace = pool_.Only(format_);
  if (trace == nullptr) return nullptr;
  return AddTo(*trace);
}

Result<TraceSink*> FileTraces::TraceOf(int64_t rank, const InputFile& file) {
  if (PooledTrace* const trace = pool_.Find(rank, format_)) {
    return AddTo(*trace);
  }
  TUTTI_ASSIGN_OR_RETURN(TraceSink* const sink, NewTrace(file));
  sink->identity.rank = rank;
  return sink;
}

Status FileTraces::Close(bool keep) {
  Status status;
  const auto suspend = [&status](TraceSink& sink) {
    const Status written = sink.Suspend();
    if (status.ok()) status = written;
  };
  for (TraceSink* const sink : added_to_) suspend(*sink);
  if (!keep) new_.clear();
  for (const PooledTrace& trace : new_) suspend(*trace.sink);
  return status;
}

}  // namespace tutti::collector::importers
