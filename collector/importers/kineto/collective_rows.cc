#include "collector/importers/kineto/collective_rows.h"

#include <algorithm>
#include <utility>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

struct OpWord {
  std::string_view word;  // without '_', lower case
  std::string_view op;
};

// Longer words before those that they contain.
constexpr OpWord kOpWords[] = {
    {"reducescatter", "reduce_scatter"},
    {"allreduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"alltoall", "all_to_all"},
    {"broadcast", "broadcast"},
    {"barrier", "barrier"},
    {"scatter", "scatter"},
    {"gather", "gather"},
    {"reduce", "reduce"},
    {"recv", "recv"},
    {"receive", "recv"},
    {"send", "send"},
};

struct PrintedDtype {
  std::string_view printed;  // without "c10::", lower case
  Dtype dtype;
};

constexpr PrintedDtype kDtypes[] = {
    {"byte", {"uint8", 1}},
    {"unsigned char", {"uint8", 1}},
    {"char", {"int8", 1}},
    {"signed char", {"int8", 1}},
    {"short", {"int16", 2}},
    {"int", {"int32", 4}},
    {"long", {"int64", 8}},
    {"long int", {"int64", 8}},
    {"half", {"float16", 2}},
    {"float", {"float32", 4}},
    {"double", {"float64", 8}},
    {"complexhalf", {"complex32", 4}},
    {"complexfloat", {"complex64", 8}},
    {"complexdouble", {"complex128", 16}},
    {"bool", {"bool", 1}},
    {"bfloat16", {"bfloat16", 2}},
    {"float8_e5m2", {"float8_e5m2", 1}},
    {"float8_e4m3fn", {"float8_e4m3fn", 1}},
    {"float8_e5m2fnuz", {"float8_e5m2fnuz", 1}},
    {"float8_e4m3fnuz", {"float8_e4m3fnuz", 1}},
    {"uint16", {"uint16", 2}},
    {"uint32", {"uint32", 4}},
    {"uint64", {"uint64", 8}},
};

std::string LowerWithout(std::string_view text, char left_out) {
  std::string lower;
  for (const char c : text) {
    if (c != left_out) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

std::optional<int64_t> IntegerOf(const RawEvent& event, Arg arg) {
  return event.Has(arg) ? ParseInteger(event.Get(arg)) : std::nullopt;
}

// Elements that count as nccl-tests counts them: what one rank gives, or gets from a
// reduce_scatter and a scatter; of an all_to_all what goes to one peer.
std::optional<int64_t> ElementsOf(const RawEvent& event, std::string_view op) {
  const std::optional<int64_t> in = IntegerOf(event, Arg::kInElements);
  const std::optional<int64_t> out = IntegerOf(event, Arg::kOutElements);
  if (op == "reduce_scatter" || op == "scatter" || op == "recv") return out ? out : in;
  if (op != "all_to_all") return in ? in : out;
  const std::optional<int64_t> size = IntegerOf(event, Arg::kGroupSize);
  if (!in || !size || *size < 1) return std::nullopt;
  return *in / *size;
}

// "[[321271], []]": elements of the first input.
std::optional<int64_t> FirstInputElements(std::string_view dims) {
  if (!dims.starts_with("[[")) return std::nullopt;
  const size_t end = dims.find(']');
  int64_t elements = 1;
  std::string_view list = dims.substr(2, end - 2);
  if (list.find('[') != std::string_view::npos) return std::nullopt;  // a list of tensors
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(SkipSpace(list, 0));
    const auto dim = ParseInteger(item.substr(0, item.find(',')));
    if (!dim || *dim < 0 || __builtin_mul_overflow(elements, *dim, &elements)) return std::nullopt;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return elements;
}

std::optional<int64_t> BytesOf(std::optional<int64_t> elements, const Dtype& dtype) {
  int64_t bytes = 0;
  if (!elements || *elements < 0 || dtype.bytes == 0 ||
      __builtin_mul_overflow(*elements, dtype.bytes, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::optional<int64_t> PeerOf(const RawEvent& event, std::string_view op) {
  const std::optional<int64_t> peer =
      IntegerOf(event, op == "recv" ? Arg::kSourceRank : Arg::kDestinationRank);
  const bool is_point_to_point = op == "send" || op == "recv";
  return is_point_to_point && peer && *peer >= 0 ? peer : std::nullopt;
}

}  // namespace

std::string_view CollectiveOp(std::string_view name) {
  const std::string key = LowerWithout(name, '_');
  for (const OpWord& word : kOpWords) {
    if (key.find(word.word) != std::string::npos) return word.op;
  }
  return {};
}

Dtype DtypeOf(std::string_view printed) {
  std::string key = LowerWithout(printed, '\0');
  if (key.starts_with("c10::")) key.erase(0, 5);
  for (const PrintedDtype& known : kDtypes) {
    if (key == known.printed || key == known.dtype.name) return known.dtype;
  }
  return {};
}

schema::CollectiveSourceRow CollectiveRows::RowOf(const RawEvent& event, std::string_view op) {
  schema::CollectiveSourceRow row;
  const std::string printed = DecodeString(event.Get(Arg::kDtype));
  const Dtype dtype = DtypeOf(printed);
  row.communicator_id = groups_.Of(event);
  row.sequence = IntegerOf(event, Arg::kSequence);
  if (row.sequence && *row.sequence < 0) row.sequence.reset();
  row.op_id = context_.sink.Intern(op);
  row.dtype_id = context_.sink.Intern(dtype.bytes != 0 ? dtype.name : std::string_view(printed));
  row.bytes = BytesOf(ElementsOf(event, op), dtype);
  if (op == "barrier") row.bytes = 0;
  row.peer = PeerOf(event, op);
  row.root = IntegerOf(event, Arg::kRootRank);
  if (row.root && *row.root < 0) row.root.reset();
  return row;
}

void CollectiveRows::OnHostCall(const RawEvent& event) {
  const std::string_view op = CollectiveOp(WithoutQuotes(event.Get(Arg::kCollectiveName)));
  if (op.empty()) {  // "wait", "init": nothing moves, but the group is named
    groups_.Of(event);
    return;
  }
  const std::optional<int64_t> begin_ns = ParseMicroseconds(event.time);
  int64_t time_ns = 0;
  if (!begin_ns || __builtin_add_overflow(context_.base_ns, *begin_ns, &time_ns)) return;
  schema::CollectiveSourceRow row = RowOf(event, op);
  Track& track = context_.tracks.Of(event.pid, event.tid);
  row.origin = "c10d";
  row.enqueue_ns = time_ns;
  row.begin_ns = time_ns;
  int64_t end_ns = 0;
  const std::optional<int64_t> duration_ns = ParseMicroseconds(event.duration);
  if (duration_ns && *duration_ns >= 0 && *duration_ns <= kLongestNs &&
      !__builtin_add_overflow(time_ns, *duration_ns, &end_ns)) {
    row.end_ns = end_ns;
  }
  row.tid = context_.tracks.RowTid(track);
  row.enqueue_tid = row.tid;
  ++host_calls_;
  context_.sink.Add(std::move(row));
}

void CollectiveRows::OnKernel(const RawEvent& event, const schema::KernelRow& kernel) {
  const std::string_view op = CollectiveOp(WithoutQuotes(event.Get(Arg::kCollectiveName)));
  if (op.empty()) return;
  schema::CollectiveSourceRow row = RowOf(event, op);
  row.origin = "kernel";
  row.begin_ns = kernel.begin_ns;
  row.end_ns = kernel.end_ns;
  row.device_id = kernel.device_id;
  row.stream_id = kernel.stream_id;
  row.correlation_id = kernel.correlation_id;
  ++kernels_;
  context_.sink.Add(std::move(row));
}

void CollectiveRows::OnGlooRange(const RawEvent& event) {
  constexpr std::string_view kPrefix = "gloo:";
  const std::string_view name = WithoutQuotes(event.name).substr(kPrefix.size());
  const std::optional<int64_t> begin_ns = ParseMicroseconds(event.time);
  const std::optional<int64_t> duration_ns = ParseMicroseconds(event.duration);
  int64_t time_ns = 0;
  if (!begin_ns || __builtin_add_overflow(context_.base_ns, *begin_ns, &time_ns)) return;
  Track& track = context_.tracks.Of(event.pid, event.tid);
  track.has_gloo = true;
  const std::string types = DecodeString(event.Get(Arg::kInputTypes));
  const size_t quote = types.find('"');
  const std::string first = quote == std::string::npos
                                ? ""
                                : types.substr(quote + 1, types.find('"', quote + 1) - quote - 1);
  const Dtype dtype = DtypeOf(first);
  schema::CollectiveSourceRow row;
  row.origin = "gloo_op";
  const std::string_view op = CollectiveOp(name);
  row.op_id = context_.sink.Intern(op.empty() ? name : op);
  row.dtype_id = context_.sink.Intern(dtype.name);
  row.bytes = BytesOf(FirstInputElements(event.Get(Arg::kInputDims)), dtype);
  row.begin_ns = time_ns;
  int64_t end_ns = 0;
  if (duration_ns && *duration_ns >= 0 && *duration_ns <= kLongestNs &&
      !__builtin_add_overflow(time_ns, *duration_ns, &end_ns)) {
    row.end_ns = end_ns;
  }
  row.tid = context_.tracks.RowTid(track);
  context_.sink.Add(std::move(row));
}

void CollectiveRows::OnHcclRange(const RawEvent& event) {
  const std::string_view op = CollectiveOp(WithoutQuotes(event.name));
  const std::optional<DeviceTimes> times =
      op.empty() ? std::nullopt : context_.DeviceTimesOf(event);
  if (!times) return;
  schema::CollectiveSourceRow row;
  row.origin = "kernel";
  row.op_id = context_.sink.Intern(op);
  row.begin_ns = times->begin_ns;
  row.end_ns = times->end_ns;
  row.device_id = 0;
  context_.sink.Add(std::move(row));
}

void CollectiveRows::Finish(std::optional<int64_t> rank) { groups_.Finish(rank); }

}  // namespace tutti::collector::importers::kineto
