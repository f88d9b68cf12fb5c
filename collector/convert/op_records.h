// Operators, autograd functions and ranges of torch -> cpu_op, and the conventions of
// op_name.h -> step, phase, data_wait beside them. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "collector/convert/context.h"
#include "collector/convert/op_name.h"
#include "common/wire/record.h"
#include "common/wire/segment.h"

namespace tutti::collector::convert {

class OpRecords {
 public:
  explicit OpRecords(Context& context) : context_(context) {}

  void OnCpuOp(ThreadTable::Index thread, const wire::CpuOpRecord& record);
  // Halves of asynchronous operators, in order of time as far as that is possible.
  void OnAsyncBegin(ThreadTable::Index thread, const wire::AsyncBeginRecord& record);
  void OnAsyncEnd(ThreadTable::Index thread, const wire::AsyncEndRecord& record);

  // A span that had not ended on its thread when the trace or the thread ended; an
  // asynchronous end that is still without its begin may belong to it.
  void OnOpenSpan(ThreadTable::Index thread, const wire::OpenSpan& span, uint32_t depth);

  // Rows for begins without an end; counts ends without a begin.
  void Finish();

 private:
  // What both kinds of record tell about an operator.
  struct Op {
    ThreadTable::Index thread;
    uint32_t name;
    uint32_t shapes;
    uint8_t scope;
    uint16_t depth;
    int64_t sequence_nr;
    uint64_t torch_tid;
    uint64_t forward_tid;
    int64_t begin_ns;
  };
  struct AsyncBegin {
    Op op;
    uint64_t ticks;
  };
  struct AsyncEnd {
    ThreadTable::Index thread;
    wire::AsyncEndRecord record;
  };

  void Write(const Op& op, std::optional<int64_t> end_ns,
             std::optional<ThreadTable::Index> end_thread);
  void WriteJoined(AsyncBegin begin, const AsyncEnd& end);
  void WriteMeaning(const Op& op, std::optional<int64_t> end_ns);
  const OpName& MeaningOf(uint32_t name);
  void NoteThread(const Op& op, int64_t end_ns);

  Context& context_;
  std::multimap<uint64_t, AsyncBegin> begins_;  // by identity, in order of arrival
  std::multimap<uint64_t, AsyncEnd> ends_;      // those that came before their begin
  struct CachedName {
    bool known = false;
    OpName name;
  };
  std::vector<CachedName> names_;  // by string index
};

}  // namespace tutti::collector::convert
