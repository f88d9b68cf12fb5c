#include "tracer/sources/torch/operators.h"

#include <cstddef>
#include <iterator>
#include <new>
#include <string_view>

#include "tracer/core/entry.h"
#include "tracer/core/quick_span.h"
#include "tracer/core/session.h"
#include "tracer/sources/torch/collectives.h"
#include "tracer/sources/torch/record.h"
#include "tracer/sources/torch/source.h"
#include "tracer/sources/torch/tensors.h"

namespace tutti::tracer::torch {
namespace {

// What a start callback hands to its end callback, in the place of an at::ObserverContext:
// a polymorphic object that PyTorch deletes through its virtual destructor. There is one per
// way to begin and none is ever allocated or freed. No context, which costs PyTorch the least, is
// the usual way: a span was opened.
class Context {
 public:
  enum class Kind : uint8_t { kNotRecorded, kAsync, kWork, kPointToPoint };

  constexpr explicit Context(Kind kind) noexcept : kind_(kind) {}
  constexpr virtual ~Context() = default;
  static void operator delete(void*) noexcept {}

  Kind kind() const noexcept { return kind_; }

 private:
  const Kind kind_;
};

// The contexts, one per kind. Never destroyed, so that events after main() are safe: raw storage,
// as a variable of the class itself would have the library register its destructor with the
// process. Filled by RegisterCallbacks before any callback can run.
alignas(Context) constinit std::byte contexts[4][sizeof(Context)] = {};

template <Context::Kind kind>
Context* ContextOf() noexcept {
  return std::launder(reinterpret_cast<Context*>(contexts[static_cast<size_t>(kind)]));
}

void MakeContexts() noexcept {
  for (size_t kind = 0; kind < std::size(contexts); ++kind) {
    ::new (contexts[kind]) Context(static_cast<Context::Kind>(kind));
  }
}

// Whether what a candidate does shows that it trains: a backward pass or a collective.
bool IsTraining(Record record) noexcept {
  return record.ScopeNumber() == kScopeBackwardFunction || record.Name().starts_with(kC10dPrefix) ||
         record.Name() == "record_param_comms";
}

// For a process that is no rank (yet). True if this made it one.
[[gnu::noinline]] bool PromoteIfTraining(Record record) noexcept {
  return IsCandidate() && IsTraining(record) &&
         Promote(record.ScopeNumber() == kScopeBackwardFunction ? "backward"
                                                                : record.Name().data());
}

// Whether the operator is one that a collective begins with.
bool IsCollective(Record record) noexcept { return record.Name().starts_with(kC10dPrefix); }

// A collective's name is never found by its address: QuickBeginSpan, which finds names so, would
// take the operator and leave out what else BeginSpan does for it.
uint32_t InternName(Entry& entry, Record record) noexcept {
  return record.HasSchema() && !IsCollective(record) ? entry.Intern(record.Name())
                                                     : entry.InternText(record.Name());
}

uint32_t InternShapes(Entry& entry, Record record) noexcept {
  if (!entry.Captures(wire::kCaptureShapes) || record.InputCount() == 0) {
    return wire::kNoString;
  }
  char buffer[kShapesBytes];
  return entry.InternText(WriteShapes(TheSource().tensors, record, buffer));
}

// All but the time it begins.
[[gnu::always_inline]] inline void FillSpan(wire::OpenSpan& span, Record record, uint32_t name,
                                            uint32_t shapes) noexcept {
  span.identity = record.identity();
  span.name = name;
  span.kind = static_cast<uint8_t>(wire::RecordKind::kCpuOp);
  span.scope = record.ScopeNumber();
  span.flags = 0;
  span.aux = 0;
  span.domain = 0;
  span.category = shapes;
  span.aux2 = 0;
}

Context* BeginSpan(Entry& entry, Record record) noexcept {
  if (IsCollective(record)) [[unlikely]] {
    OnCollectiveOperator(record.Name(), record.identity());
  }
  const uint32_t name = InternName(entry, record);
  const uint32_t shapes = InternShapes(entry, record);
  entry.BeginSpanInPlace([&](wire::OpenSpan& span) {
    FillSpan(span, record, name, shapes);
    span.begin_ticks = entry.Now();  // last: what was done until here is not the operator's
  });
  return nullptr;
}

// One that says by itself that it may end elsewhere: never on this thread's stack.
Context* BeginAsync(Entry& entry, Record record) noexcept {
  const uint32_t name = InternName(entry, record);
  const uint32_t shapes = InternShapes(entry, record);
  entry.Emit(wire::AsyncBeginRecord{.header = HeaderOf(wire::RecordKind::kAsyncBegin, name),
                                    .ticks = entry.Now(),
                                    .identity = record.identity(),
                                    .sequence_nr = record.SequenceNr(),
                                    .torch_tid = record.ThreadId(),
                                    .forward_tid = record.ForwardThreadId(),
                                    .shapes = shapes,
                                    .depth = 0,
                                    .scope = record.ScopeNumber(),
                                    .reserved0 = 0,
                                    .reserved1 = 0});
  return ContextOf<Context::Kind::kAsync>();
}

[[gnu::always_inline]] inline void FillOperator(wire::CpuOpRecord& op, Record record,
                                                const wire::OpenSpan& span, uint16_t depth,
                                                uint64_t end_ticks) noexcept {
  op.header = HeaderOf(wire::RecordKind::kCpuOp, span.name);
  op.begin_ticks = span.begin_ticks;
  op.end_ticks = end_ticks;
  op.sequence_nr = record.SequenceNr();
  op.torch_tid = record.ThreadId();
  op.forward_tid = record.ForwardThreadId();
  op.shapes = span.category;
  op.depth = depth;
  op.scope = span.scope;
  op.reserved0 = 0;
  op.reserved1 = 0;
}

void EmitAsyncEnd(Entry& entry, Record record, uint64_t end_ticks) noexcept {
  entry.Emit(wire::AsyncEndRecord{.header = HeaderOf(wire::RecordKind::kAsyncEnd, 0),
                                  .ticks = end_ticks,
                                  .identity = record.identity(),
                                  .sequence_nr = record.SequenceNr(),
                                  .torch_tid = record.ThreadId(),
                                  .forward_tid = record.ForwardThreadId(),
                                  .reserved = {}});
}

// The callbacks below run inside PyTorch, on whatever thread its operator runs.

// |begin| makes the context of what starts here; the first sign of training makes the process
// a rank, which records that sign already.
template <Context* (*begin)(Entry&, Record) noexcept>
void* OnStart(void** context, const void* record_function) noexcept {
  const Record record(record_function);
  *context = ContextOf<Context::Kind::kNotRecorded>();
  {
    Entry entry(wire::kCaptureTorch);
    if (entry) [[likely]] {
      *context = begin(entry, record);
      return context;
    }
  }
  if (!Active() && PromoteIfTraining(record)) {
    Entry entry(wire::kCaptureTorch);
    if (entry) *context = begin(entry, record);
  }
  return context;
}

void OnSpanEnd(const void* record_function) noexcept {
  Entry entry(kCaptureAlways);
  if (!entry) {
    return;
  }
  const uint64_t now = entry.Now();
  const Record record(record_function);
  const EndedSpan ended = entry.EndSpan(record.identity());
  if (ended.outcome == EndedSpan::Outcome::kFound) {
    entry.EmitInPlace<wire::CpuOpRecord>(
        [&](wire::CpuOpRecord& op) { FillOperator(op, record, *ended.span, ended.depth, now); });
  } else if (ended.outcome == EndedSpan::Outcome::kElsewhere) {
    EmitAsyncEnd(entry, record, now);
  }
}

// The two of an operator: what is usual by itself, everything else above.
void* OnOperatorStart(void** context, const void* record_function) noexcept {
  const Record record(record_function);
  if (!record.HasSchema()) [[unlikely]] {
    return OnStart<BeginSpan>(context, record_function);
  }
  const bool is_begun = QuickBeginSpan(
      wire::kCaptureTorch | wire::kCaptureShapes, wire::kCaptureTorch, record.SchemaName(),
      [&](wire::OpenSpan& span, uint32_t name) { FillSpan(span, record, name, wire::kNoString); });
  if (!is_begun) [[unlikely]] {
    return OnStart<BeginSpan>(context, record_function);
  }
  *context = nullptr;
  return context;
}

void OnOperatorEnd(const void* record_function, void* context) noexcept {
  if (context != nullptr) [[unlikely]] {
    return;
  }
  const Record record(record_function);
  const auto fill = [&](wire::CpuOpRecord& op, const wire::OpenSpan& span, uint16_t depth,
                        uint64_t now) { FillOperator(op, record, span, depth, now); };
  if (!QuickEndSpan<wire::CpuOpRecord>(record.identity(), fill)) [[unlikely]] {
    OnSpanEnd(record_function);
  }
}

Context* BeginRange(Entry& entry, Record record) noexcept {
  if (record.Name().starts_with(kGlooPrefix)) {
    switch (OnCollectiveStart(entry, record)) {
      case CollectiveRole::kWork:
        return ContextOf<Context::Kind::kWork>();
      case CollectiveRole::kPointToPoint:
        return ContextOf<Context::Kind::kPointToPoint>();
      case CollectiveRole::kNone:
        break;
    }
  }
  return record.IsAsync() ? BeginAsync(entry, record) : BeginSpan(entry, record);
}

void OnRangeEnd(const void* record_function, void* context) noexcept {
  if (context == nullptr) {
    return OnSpanEnd(record_function);
  }
  const Context::Kind kind = static_cast<Context*>(context)->kind();
  if (kind == Context::Kind::kNotRecorded) {
    return;
  }
  Entry entry(kCaptureAlways);
  if (!entry) {
    return;
  }
  const Record record(record_function);
  if (kind == Context::Kind::kAsync) {
    EmitAsyncEnd(entry, record, entry.Now());
  } else {
    OnCollectiveEnd(
        entry, record,
        kind == Context::Kind::kWork ? CollectiveRole::kWork : CollectiveRole::kPointToPoint);
  }
}

// Asks for inputs, which the other callbacks of its scopes find then. PyTorch makes them when
// any callback wants them.
void* OnInputsWanted(void** context, const void*) noexcept {
  *context = nullptr;
  return context;
}

// Execution of operators. The other scopes mark kernels for selective builds.
constexpr Scope kOperatorScopes[] = {
    kScopeFunction,        kScopeBackwardFunction, kScopeTorchscriptFunction, kScopeCustomClass,
    kScopeLiteInterpreter, kScopeStaticRuntimeOp,  kScopeStaticRuntimeModel};

}  // namespace

void RegisterCallbacks(const Library& library) noexcept {
  MakeContexts();
  GlobalCallback operators = {&OnOperatorStart, &OnOperatorEnd, 1.0, {}, false, false, false};
  for (const Scope scope : kOperatorScopes) {
    operators.scopes[scope] = true;
  }
  library.add_global_callback(operators);

  // Inputs are made for scopes that ask for them, and ranges seldom have any.
  GlobalCallback ranges = {&OnStart<BeginRange>, &OnRangeEnd, 1.0, {}, true, false, false};
  ranges.scopes[kScopeUser] = true;
  library.add_global_callback(ranges);
}

void AskForInputs(const Library& library) noexcept {
  GlobalCallback inputs = {&OnInputsWanted, nullptr, 1.0, {}, true, false, false};
  for (const Scope scope : kOperatorScopes) {
    inputs.scopes[scope] = true;
  }
  library.add_global_callback(inputs);
}

}  // namespace tutti::tracer::torch
