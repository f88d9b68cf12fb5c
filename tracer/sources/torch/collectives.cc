#include "tracer/sources/torch/collectives.h"

#include <cstring>

#include "tracer/core/note.h"
#include "tracer/core/session.h"
#include "tracer/sources/torch/decimal.h"
#include "tracer/sources/torch/groups.h"
#include "tracer/sources/torch/op_names.h"
#include "tracer/sources/torch/pointer_table.h"
#include "tracer/sources/torch/source.h"

namespace tutti::tracer::torch {
namespace {

constexpr uint32_t kMaxWorks = 4096;  // handed over and not begun, or sends and receives open
constexpr size_t kRanksBytes = wire::kMaxStringBytes + 16;
constexpr int64_t kUnknown = -1;

// What is known of an operation from its enqueue on.
struct Work {
  uint64_t handle;  // 0 unknown
  int64_t sequence;
  uint32_t communicator;
  int32_t group_size;
  int32_t root;
  int32_t peer;
  uint8_t op_type;
  TensorTotal payload;  // where the call told it; tensors 0: it is the inputs
};

// An operation that has begun, and what its RecordFunction told.
struct RunningWork {
  bool is_open;
  uint8_t op_type;
  uint32_t name;
  uint32_t dtype;
  int64_t bytes;
  uint64_t begin_ticks;
  const void* record;  // its RecordFunction, nullptr none seen yet
  Work work;
};

// The arguments of the last call with a root or a peer on this thread.
struct LastCall {
  const void* gloo;
  int32_t root;
  int32_t peer;
  TensorTotal outputs;  // of a scatter
};

struct Collectives {
  static inline constinit GroupTable groups{};
  static inline constinit PointerTable<Work, kMaxWorks> queued{};
  static inline constinit PointerTable<RunningWork, kMaxWorks> transfers{};
  static inline constinit std::atomic<uint64_t> handles{0};
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local RunningWork running{};
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local LastCall last_call{};
  // Identity of the last c10d operator on this thread that was a reduce_scatter.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local uint64_t reduce_scatter{};
};

uint64_t NextHandle() noexcept {
  return Collectives::handles.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint8_t OpTypeOf(const void* work) noexcept {
  const auto op_type = IsAttached() ? TheSource().library.work_op_type : nullptr;
  return op_type == nullptr ? kOpTypeUnknown : op_type(work);
}

// "0,1,2,…" of a std::vector<uint64_t>; longer than kRanksBytes it ends in "…".
std::string_view WriteRanks(const void* vector, char (&buffer)[kRanksBytes]) noexcept {
  const auto* rank = LoadField<const uint64_t*>(vector, std_vector::kBegin);
  const auto* end = LoadField<const uint64_t*>(vector, std_vector::kEnd);
  constexpr char kCut[] = "…";
  char* at = buffer;
  for (; rank != end; ++rank) {
    if (buffer + sizeof(buffer) - at < 32) {
      std::memcpy(at, kCut, sizeof(kCut) - 1);
      at += sizeof(kCut) - 1;
      break;
    }
    if (at != buffer) {
      *at++ = ',';
    }
    at = WriteDecimal(at, static_cast<int64_t>(*rank));
  }
  return {buffer, static_cast<size_t>(at - buffer)};
}

uint32_t InternStdString(Entry& entry, const void* object, size_t offset) noexcept {
  return entry.InternText({LoadField<const char*>(object, offset + std_string::kData),
                           LoadField<uint64_t>(object, offset + std_string::kLength)});
}

void EmitGroup(Entry& entry, const Group& group) noexcept {
  entry.Emit(wire::CommunicatorRecord{.header = HeaderOf(wire::RecordKind::kCommunicator, 0),
                                      .ticks = entry.Now(),
                                      .communicator = group.communicator,
                                      .rank = group.rank,
                                      .size = group.size,
                                      .description = 0,
                                      .global_ranks = 0,
                                      .backend = group.backend,
                                      .reserved0 = {},
                                      .identity = group.communicator,
                                      .reserved1 = {}});
}

// Records what a group's object tells once it is set up: its names and its members.
void DescribeGroup(Entry& entry, const void* gloo, const Group& group) noexcept {
  if (!IsAttached() || !TheSource().backend_is_known) {
    return EmitGroup(entry, group);
  }
  char buffer[kRanksBytes];
  const std::string_view ranks = WriteRanks(TheSource().library.gloo_group_ranks(gloo), buffer);
  entry.Emit(wire::CommunicatorRecord{
      .header =
          HeaderOf(wire::RecordKind::kCommunicator, InternStdString(entry, gloo, backend::kUid)),
      .ticks = entry.Now(),
      .communicator = group.communicator,
      .rank = LoadField<int32_t>(gloo, backend::kRank),
      .size = LoadField<int32_t>(gloo, backend::kSize),
      .description = InternStdString(entry, gloo, backend::kDescription),
      .global_ranks = entry.InternText(ranks),
      .backend = group.backend,
      .reserved0 = {},
      .identity = group.communicator,
      .reserved1 = {}});
}

Work MakeWork(const void* gloo, const Group* group, uint8_t op_type) noexcept {
  Work work = {NextHandle(), kUnknown, 0, 0, -1, -1, op_type, {}};
  if (group != nullptr) {
    work.communicator = group->communicator;
    const bool ask = IsAttached() && TheSource().backend_is_known;
    work.group_size = ask ? LoadField<int32_t>(gloo, backend::kSize) : group->size;
  }
  const LastCall& call = Collectives::last_call;
  if (call.gloo == gloo) {
    work.root = IsRooted(op_type) ? call.root : -1;
    work.peer = IsPointToPoint(op_type) ? call.peer : -1;
    work.payload = op_type == kOpTypeScatter ? call.outputs : TensorTotal{};
  }
  return work;
}

void EmitEnqueue(Entry& entry, const Work& work, uint32_t name, uint64_t ticks) noexcept {
  entry.Emit(
      wire::CollectiveEnqueueRecord{.header = HeaderOf(wire::RecordKind::kCollectiveEnqueue, name),
                                    .ticks = ticks,
                                    .work = work.handle,
                                    .sequence = work.sequence,
                                    .communicator = work.communicator,
                                    .reserved0 = 0,
                                    .reserved1 = {}});
}

void EmitCollective(Entry& entry, const RunningWork& running, uint64_t end_ticks) noexcept {
  entry.Emit(wire::CollectiveRecord{.header = HeaderOf(wire::RecordKind::kCollective, running.name),
                                    .begin_ticks = running.begin_ticks,
                                    .end_ticks = end_ticks,
                                    .work = running.work.handle,
                                    .bytes = running.bytes,
                                    .sequence = running.work.sequence,
                                    .communicator = running.work.communicator,
                                    .dtype = running.dtype,
                                    .peer = running.work.peer,
                                    .root = running.work.root});
}

// The span of the work that runs on this thread; one at a time, so its place names it.
uint64_t RunningIdentity() noexcept { return reinterpret_cast<uintptr_t>(&Collectives::running); }

uint32_t InternOp(Entry& entry, uint8_t op_type) noexcept {
  const char* name = OpName(op_type);
  return name == nullptr ? wire::kNoString : entry.Intern(name, std::strlen(name));
}

// Takes over what the RecordFunction of |running| says about its tensors.
void ReadInputs(Entry& entry, const Record& record, RunningWork* running) noexcept {
  const bool is_told = running->work.payload.tensors > 0;
  const TensorTotal total =
      is_told ? running->work.payload : SumInputs(TheSource().tensors, record);
  running->record = record.address();
  running->dtype = entry.Intern(total.dtype, std::strlen(total.dtype));
  running->bytes = total.bytes;
  if (CountsPerPeer(running->op_type) && !is_told) {
    const int32_t size = running->work.group_size;
    running->bytes = size > 0 && total.tensors > 0 && total.bytes >= 0 ? total.bytes / size : -1;
  }
  if (running->name == wire::kNoString) {
    std::string_view name = record.Name();
    name.remove_prefix(kGlooPrefix.size());
    running->name = entry.InternText(name);
  }
}

void FinishRunning(Entry& entry) noexcept {
  RunningWork& running = Collectives::running;
  const uint64_t now = entry.Now();
  running.is_open = false;
  if (entry.EndSpan(RunningIdentity()).outcome != EndedSpan::Outcome::kDropped) {
    EmitCollective(entry, running, now);
  }
}

// Whether this thread is inside c10d's reduce_scatter: the operator's span is still open.
bool IsInReduceScatter(Entry& entry) noexcept {
  return Collectives::reduce_scatter != 0 && entry.FindSpan(Collectives::reduce_scatter) != nullptr;
}

// At the first call of a group: not earlier, as its object gets its names after its construction.
void DescribeOnce(Entry& entry, const void* gloo, Group* group) noexcept {
  if (group != nullptr && !group->described.exchange(true, std::memory_order_relaxed)) {
    DescribeGroup(entry, gloo, *group);
  }
}

// "gloo:send" begins: the RecordFunction was made inside send(), which told the peer.
CollectiveRole StartTransfer(Entry& entry, const Record& record) noexcept {
  const uint64_t begin = entry.Now();
  const LastCall& call = Collectives::last_call;
  const bool is_send = record.Name() == "gloo:send";
  RunningWork transfer = {};
  transfer.op_type = is_send ? kOpTypeSend : kOpTypeReceive;
  transfer.begin_ticks = begin;
  Group* const group = Collectives::groups.Find(call.gloo);
  DescribeOnce(entry, call.gloo, group);
  transfer.work = MakeWork(call.gloo, group, transfer.op_type);
  transfer.name = InternOp(entry, transfer.op_type);
  ReadInputs(entry, record, &transfer);
  if (!Collectives::transfers.Put(record.address(), transfer)) {
    return CollectiveRole::kNone;
  }
  EmitEnqueue(entry, transfer.work, transfer.name, begin);
  return CollectiveRole::kPointToPoint;
}

}  // namespace

void OnGroupConstruct(const void* gloo, int32_t rank, int32_t size) noexcept {
  Attach();
  const Group* group = Collectives::groups.Add(gloo, wire::Backend::kGloo, rank, size);
  if (!Promote("c10d::ProcessGroupGloo") || group == nullptr) {
    return;
  }
  Entry entry(wire::kCaptureTorch);
  if (entry) {
    EmitGroup(entry, *group);
  }
}

void OnEnqueue(const void* gloo, const void* work_object) noexcept {
  Group* group = Collectives::groups.FindOrAdd(gloo, wire::Backend::kGloo);
  Promote("c10d::ProcessGroupGloo");
  Entry entry(wire::kCaptureTorch);
  const bool is_disguised = entry && IsInReduceScatter(entry);
  Work work = MakeWork(gloo, group, is_disguised ? kOpTypeReduceScatter : OpTypeOf(work_object));
  if (group != nullptr) {
    work.sequence = group->collectives.fetch_add(1, std::memory_order_relaxed);
  }
  const bool is_remembered = Collectives::queued.Put(work_object, work);
  if (!entry) {
    return;
  }
  if (!is_remembered) {
    return EmitNote(entry, {wire::NoteSeverity::kDataLoss, "torch", "torch_queue_full",
                            "a collective has no enqueue time and no group: thousands of them "
                            "were waiting for Gloo's threads",
                            ""});
  }
  DescribeOnce(entry, gloo, group);
  EmitEnqueue(entry, work, InternOp(entry, work.op_type), entry.Now());
}

void OnRootedCall(const void* gloo, int64_t root) noexcept {
  Collectives::last_call = {gloo, static_cast<int32_t>(root), -1, {}};
}

void OnScatterCall(const void* gloo, int64_t root, const void* outputs) noexcept {
  const TensorTotal total = IsAttached() ? SumTensors(TheSource().tensors, outputs) : TensorTotal{};
  Collectives::last_call = {gloo, static_cast<int32_t>(root), -1, total};
}

void OnCollectiveOperator(std::string_view name, uint64_t identity) noexcept {
  // That of a list of parts is one all_reduce a part, and stays that.
  if (name.find("reduce_scatter") != std::string_view::npos && name != "c10d::reduce_scatter_") {
    Collectives::reduce_scatter = identity;
  }
}

void OnPeerCall(const void* gloo, int32_t peer) noexcept {
  Collectives::last_call = {gloo, -1, peer, {}};
}

void OnWorkBegin(const void* work_object) noexcept {
  RunningWork& running = Collectives::running;
  running = {};
  running.bytes = kUnknown;
  if (!Collectives::queued.Take(work_object, &running.work)) {
    running.work = {0, kUnknown, 0, 0, -1, -1, OpTypeOf(work_object), {}};
  }
  running.op_type = running.work.op_type;
  Entry entry(wire::kCaptureTorch);
  if (!entry) {
    return;
  }
  running.is_open = true;
  running.name = InternOp(entry, running.op_type);
  running.begin_ticks = entry.Now();
  entry.BeginSpan({.begin_ticks = running.begin_ticks,
                   .identity = RunningIdentity(),
                   .name = running.name,
                   .kind = static_cast<uint8_t>(wire::RecordKind::kCollective),
                   .scope = 0,
                   .flags = 0,
                   .aux = running.work.handle,
                   .domain = running.work.communicator,
                   .category = 0,
                   .aux2 = static_cast<uint64_t>(running.bytes)});
}

void OnWorkEnd() noexcept {
  if (!Collectives::running.is_open) {
    return;
  }
  Entry entry(kCaptureAlways);
  if (entry) {
    FinishRunning(entry);
  }
}

CollectiveRole OnCollectiveStart(Entry& entry, const Record& record) noexcept {
  RunningWork& running = Collectives::running;
  if (running.is_open && running.record == nullptr) {
    ReadInputs(entry, record, &running);
    if (wire::OpenSpan* span = entry.FindSpan(RunningIdentity())) {
      span->name = running.name;
      span->aux2 = static_cast<uint64_t>(running.bytes);
    }
    return CollectiveRole::kWork;
  }
  const std::string_view name = record.Name();
  if (name.starts_with("gloo:send") || name.starts_with("gloo:recv")) {
    return StartTransfer(entry, record);
  }
  return CollectiveRole::kNone;
}

void OnCollectiveEnd(Entry& entry, const Record& record, CollectiveRole role) noexcept {
  if (role == CollectiveRole::kWork) {
    const RunningWork& running = Collectives::running;
    if (running.is_open && running.record == record.address()) {
      FinishRunning(entry);
    }
    return;
  }
  RunningWork transfer;
  const uint64_t now = entry.Now();
  if (Collectives::transfers.Take(record.address(), &transfer)) {
    EmitCollective(entry, transfer, now);
  }
}

}  // namespace tutti::tracer::torch
