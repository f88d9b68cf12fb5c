#include "exporter/chrome/collective_args.h"

#include <utility>

#include "schema/reader.h"

namespace tutti::exporter::chrome {
namespace {

struct Element {
  std::string_view name;
  int64_t bytes;
};
constexpr Element kElements[] = {
    {"uint8", 1},           {"int8", 1},          {"bool", 1},
    {"float8_e5m2", 1},     {"float8_e4m3fn", 1}, {"float8_e5m2fnuz", 1},
    {"float8_e4m3fnuz", 1}, {"int16", 2},         {"uint16", 2},
    {"float16", 2},         {"bfloat16", 2},      {"int32", 4},
    {"uint32", 4},          {"float32", 4},       {"complex32", 4},
    {"int64", 8},           {"uint64", 8},        {"float64", 8},
    {"complex64", 8},       {"complex128", 16},
};

// Of these operations, collective_source.bytes counts what a rank gets.
bool CountsOutput(std::string_view op) {
  return op == "reduce_scatter" || op == "scatter" || op == "recv";
}

}  // namespace

int64_t ElementBytes(std::string_view dtype) {
  for (const Element& element : kElements) {
    if (element.name == dtype) return element.bytes;
  }
  return 0;
}

Result<CollectiveArgs> CollectiveArgs::Read(schema::Database& trace, TextTable& texts) {
  CollectiveArgs args;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::CommunicatorRow>(
      trace, "", [&](const schema::CommunicatorRow& row) { args.groups_.emplace(row.id, row); }));
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::CollectiveSourceRow>(
      trace, "ORDER BY id", [&](const schema::CollectiveSourceRow& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string* op, texts.Find(row.op_id));
        Collective collective{row, *op, ""};
        TUTTI_ASSIGN_OR_RETURN(const std::string* dtype, texts.Find(row.dtype_id));
        collective.dtype = *dtype;
        bool is_placed = false;
        if (row.origin == "c10d" && row.enqueue_tid && row.enqueue_ns && row.end_ns) {
          const HostKey key(*row.enqueue_tid, *row.enqueue_ns, *row.end_ns);
          is_placed = args.host_.emplace(key, std::move(collective)).second;
        } else if (row.device_id && row.correlation_id) {
          const KernelKey key(*row.device_id, *row.correlation_id);
          is_placed = args.kernels_.emplace(key, std::move(collective)).second;
        }
        if (!is_placed) ++args.without_event_;
        return OkStatus();
      }));
  return args;
}

void CollectiveArgs::AddToHost(EventText& event, int64_t tid, int64_t begin_ns,
                               std::optional<int64_t> end_ns) {
  if (host_.empty() || !end_ns) return;
  const auto found = host_.find({tid, begin_ns, *end_ns});
  if (found == host_.end()) return;
  Add(event, found->second);
  host_.erase(found);
}

void CollectiveArgs::AddToKernel(EventText& event, const schema::KernelRow& kernel) {
  if (kernels_.empty() || !kernel.correlation_id) return;
  const auto found = kernels_.find({kernel.device_id, *kernel.correlation_id});
  if (found == kernels_.end() || found->second.row.begin_ns != kernel.begin_ns) return;
  Add(event, found->second);
  kernels_.erase(found);
}

void CollectiveArgs::AddElements(EventText& event, const Collective& collective,
                                 const schema::CommunicatorRow* group) const {
  const int64_t size = ElementBytes(collective.dtype);
  if (size == 0 || !collective.row.bytes) return;
  int64_t elements = *collective.row.bytes / size;
  if (collective.op == "all_to_all") {
    // What goes to one peer, of as many as there are.
    if (group == nullptr || !group->group_size) return;
    if (__builtin_mul_overflow(elements, *group->group_size, &elements)) return;
  }
  event.Arg(CountsOutput(collective.op) ? "Out msg nelems" : "In msg nelems",
            std::optional(elements));
}

void CollectiveArgs::Add(EventText& event, const Collective& collective) const {
  const schema::CollectiveSourceRow& row = collective.row;
  const auto found = groups_.find(row.communicator_id.value_or(-1));
  const schema::CommunicatorRow* group = found == groups_.end() ? nullptr : &found->second;
  event.Arg("Collective name", std::string_view(collective.op));
  if (!collective.dtype.empty()) event.Arg("dtype", std::string_view(collective.dtype));
  AddElements(event, collective, group);
  if (group != nullptr) {
    event.Arg("Group size", group->group_size);
    if (group->uid) event.Arg("Process Group Name", std::string_view(*group->uid));
    if (group->description) {
      event.Arg("Process Group Description", std::string_view(*group->description));
    }
    if (group->global_ranks) {
      event.Arg("Process Group Ranks", std::string_view(*group->global_ranks));
    }
  }
  event.Arg("Seq", row.sequence);
  event.Arg(collective.op == "recv" ? "Src Rank" : "Dst Rank", row.peer);
  event.Arg("Root Rank", row.root);
}

}  // namespace tutti::exporter::chrome
