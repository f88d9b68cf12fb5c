#include "collector/importers/flight_recorder/dump.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <unordered_map>

#include "collector/importers/flight_recorder/group_status.h"
#include "collector/importers/flight_recorder/names.h"

namespace tutti::collector::importers::flight_recorder {
namespace {

using pickle::DictEntry;
using pickle::Value;
using pickle::ValueKind;

constexpr size_t kMostRanks = 1'000'000;
constexpr size_t kMostDimensions = 64;
constexpr size_t kMostTensors = 10'000;
constexpr size_t kMostFrames = 1'000;
constexpr size_t kMostTextBytes = 4096;  // of a name
// Values looked at and bytes of text copied, for each byte of the file and to start with.
// A real dump takes a twentieth.
constexpr size_t kWorkPerByte = 100;
constexpr size_t kWorkToStart = 1'000'000;

std::string TextOf(Value value) {
  if (const auto text = value.Text()) return std::string(text->substr(0, kMostTextBytes));
  if (const auto number = value.Int()) return std::to_string(*number);
  return "";
}

// A number, also where it is written as a text.
std::optional<int64_t> NumberOf(Value value) {
  if (const auto number = value.Int()) return number;
  const auto text = value.Text();
  if (!text) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

// Nanoseconds since the epoch; JSON writes 0 for none.
std::optional<int64_t> TimeOf(Value value) {
  const std::optional<int64_t> time_ns = NumberOf(value);
  if (!time_ns || *time_ns <= 0) return std::nullopt;
  return time_ns;
}

// -1: none yet.
std::optional<int64_t> SequenceOf(Value value) {
  const std::optional<int64_t> sequence = NumberOf(value);
  if (!sequence || *sequence < 0) return std::nullopt;
  return sequence;
}

// "[0, 1]" or a list.
std::vector<int64_t> RanksOf(Value value) {
  std::vector<int64_t> ranks;
  for (const Value item : value.Items()) {
    if (ranks.size() == kMostRanks) break;
    if (const auto rank = item.Int()) ranks.push_back(*rank);
  }
  const std::string_view text = value.Text().value_or("");
  for (size_t at = 0; at < text.size() && ranks.size() < kMostRanks;) {
    int64_t rank = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error == std::errc()) {
      ranks.push_back(rank);
      at = static_cast<size_t>(end - text.data());
    } else {
      ++at;
    }
  }
  return ranks;
}

std::optional<int64_t> BytesOf(const std::vector<int64_t>& sizes, int64_t element_bytes) {
  if (element_bytes == 0) return std::nullopt;
  int64_t bytes = element_bytes;
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return bytes;
}

// Sizes and types are lists in step; an old dump gives the sizes alone.
std::vector<Tensor> TensorsOf(Value sizes, Value dtypes) {
  std::vector<Tensor> tensors;
  const std::span<const Value> names = dtypes.Items();
  for (const Value one : sizes.Items()) {
    if (tensors.size() == kMostTensors) break;
    Tensor tensor;
    for (const Value size : one.Items()) {
      if (tensor.sizes.size() == kMostDimensions) break;
      tensor.sizes.push_back(NumberOf(size).value_or(-1));
    }
    const size_t place = tensors.size();
    const std::string name = place < names.size() ? TextOf(names[place]) : TextOf(dtypes);
    const Dtype dtype = ParseDtype(name);
    tensor.dtype = dtype.name;
    tensor.bytes = BytesOf(tensor.sizes, dtype.bytes);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

State StateOf(Value value) {
  const std::string_view text = value.Text().value_or("");
  if (text == "scheduled") return State::kScheduled;
  if (text == "started") return State::kStarted;
  if (text == "completed") return State::kCompleted;
  return State::kUntold;
}

std::string FrameText(Value frame) {
  if (frame.Text()) return TextOf(frame);
  return TextOf(frame.Get("name")) + " (" + TextOf(frame.Get("filename")) + ":" +
         TextOf(frame.Get("line")) + ")";
}

std::optional<int64_t> SumOfBytes(const std::vector<Tensor>& tensors) {
  int64_t sum = 0;
  for (const Tensor& tensor : tensors) {
    if (!tensor.bytes || __builtin_add_overflow(sum, *tensor.bytes, &sum)) return std::nullopt;
  }
  return sum;
}

std::string ShapesOf(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) {
    text += text.empty() ? "[" : ", [";
    for (size_t i = 0; i < tensor.sizes.size(); ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(tensor.sizes[i]);
    }
    text += "]";
  }
  return text;
}

class Parser {
 public:
  Parser(Value root, size_t input_bytes)
      : root_(root), work_left_(kWorkToStart + kWorkPerByte * input_bytes) {}

  Dump Parse() {
    dump_.version = TextOf(root_.Get("version"));
    dump_.nccl_version = TextOf(root_.Get("nccl_version"));
    if (dump_.nccl_version.empty()) dump_.nccl_version = TextOf(root_.Get("comm_lib_version"));
    dump_.rank = SequenceOf(root_.Get("rank"));
    ReadGroups();
    const Value entries = root_.kind() == ValueKind::kDict ? root_.Get("entries") : root_;
    for (const Value entry : entries.Items()) {
      if (Spend(WorkOf(entry))) {
        ReadEntry(entry);
      } else {
        Count("dump_repeats_itself");
      }
    }
    ReadStatus();
    SettleBatches();
    const size_t communicators = root_.Get("nccl_comm_state").Entries().size();
    if (communicators > 0) Count("nccl_comm_state", static_cast<int64_t>(communicators));
    return std::move(dump_);
  }

 private:
  void Count(const char* what, int64_t count = 1) { dump_.oddities[what] += count; }

  bool Spend(size_t work) {
    if (work > work_left_) return false;
    work_left_ -= work;
    return true;
  }

  // Each key is looked up in turn; sizes and types are copied.
  static size_t WorkOf(Value entry) {
    size_t work = 10 + 20 * entry.Entries().size();
    for (const char* key : {"input_sizes", "output_sizes"}) {
      work += (1 + kMostDimensions) * std::min(entry.Get(key).Items().size(), kMostTensors);
    }
    return work;
  }

  size_t GroupCalled(const std::string& name, const std::string& description) {
    const auto [place, is_new] = place_of_group_.emplace(name, dump_.groups.size());
    if (is_new) {
      Group group;
      group.name = name;
      dump_.groups.push_back(std::move(group));
    }
    Group& group = dump_.groups[place->second];
    if (group.description.empty()) group.description = description;
    return place->second;
  }

  void ReadGroups() {
    for (const DictEntry& entry : root_.Get("pg_config").Entries()) {
      const Value ranks = entry.value.Get("ranks");
      const size_t size = ranks.Items().size() + ranks.Text().value_or("").size();
      if (!Spend(10 + size + entry.value.Entries().size())) {
        Count("dump_repeats_itself");
        continue;
      }
      std::string name = TextOf(entry.value.Get("name"));
      if (name.empty()) name = TextOf(entry.key);
      const size_t place = GroupCalled(name, TextOf(entry.value.Get("desc")));
      dump_.groups[place].ranks = RanksOf(ranks);
    }
  }

  // (name, description), a name alone, or before that only the local id.
  size_t GroupOf(Value entry) {
    const Value group = entry.Get("process_group");
    const std::span<const Value> parts = group.Items();
    const std::string id = TextOf(entry.Get("pg_id"));
    std::string name = parts.empty() ? TextOf(group) : TextOf(parts[0]);
    if (name.empty()) name = TextOf(entry.Get("pg_name"));
    if (name.empty()) name = id;
    const size_t place = GroupCalled(name, parts.size() > 1 ? TextOf(parts[1]) : "");
    if (!id.empty()) group_of_id_.emplace(id, place);
    return place;
  }

  void ReadEntry(Value value) {
    // Cut off or not an entry at all: without its name nothing is known of it.
    if (value.Get("profiling_name").Text().value_or("").empty()) {
      return Count("entry_not_readable");
    }
    Entry entry;
    const OpName name = ParseOpName(*value.Get("profiling_name").Text());
    entry.group = GroupOf(value);
    entry.op = name.op;
    entry.peer = name.peer;
    entry.is_batch = name.is_batch;
    if (!name.backend.empty()) dump_.groups[entry.group].backend = name.backend;
    entry.collective_sequence = SequenceOf(value.Get("collective_seq_id"));
    if (!entry.collective_sequence) entry.collective_sequence = SequenceOf(value.Get("seq_id"));
    entry.p2p_sequence = SequenceOf(value.Get("p2p_seq_id"));
    entry.is_p2p = value.Get("is_p2p").Bool().value_or(name.peer.has_value());
    entry.state = StateOf(value.Get("state"));
    ReadTimes(value, entry);
    entry.timeout_ms = NumberOf(value.Get("timeout_ms"));
    entry.thread_id = NumberOf(value.Get("thread_id"));
    entry.thread_name = TextOf(value.Get("thread_name"));
    entry.inputs = TensorsOf(value.Get("input_sizes"), value.Get("input_dtypes"));
    entry.outputs = TensorsOf(value.Get("output_sizes"), value.Get("output_dtypes"));
    entry.stack = StackOf(value);
    dump_.entries.push_back(std::move(entry));
  }

  void ReadTimes(Value value, Entry& entry) {
    entry.created_ns = TimeOf(value.Get("time_created_ns"));
    const std::optional<int64_t> created_us = TimeOf(value.Get("time_created_us"));
    constexpr int64_t kMaxUs = std::numeric_limits<int64_t>::max() / 1000;
    if (!entry.created_ns && created_us && *created_us <= kMaxUs) {
      entry.created_ns = *created_us * 1000;
    }
    entry.started_ns = TimeOf(value.Get("time_discovered_started_ns"));
    entry.completed_ns = TimeOf(value.Get("time_discovered_completed_ns"));
    if (!entry.started_ns && entry.completed_ns) entry.started_ns = entry.completed_ns;
  }

  // Entries share their frames, which are made into text once.
  const std::string& StackOf(Value entry) {
    Value frames = entry.Get("frames");
    if (frames.is_none()) frames = entry.Get("stack");
    const auto [cached, is_new] = stacks_.emplace(frames.identity(), std::string());
    if (!is_new) return cached->second;
    std::string& text = cached->second;
    text = frames.Text().value_or("").substr(0, kMostFrames * kMostTextBytes);
    size_t count = 0;
    for (const Value frame : frames.Items()) {
      std::string line = FrameText(frame);
      if (++count > kMostFrames || !Spend(line.size() + frame.Entries().size())) break;
      text += (text.empty() ? "" : "\n") + line;
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  void ReadStatus() {
    std::vector<StatusOfId> states;
    for (const DictEntry& entry : root_.Get("pg_status").Entries()) {
      StatusOfId status;
      status.id = TextOf(entry.key);
      status.last_enqueued = SequenceOf(entry.value.Get("last_enqueued_collective"));
      status.last_started = SequenceOf(entry.value.Get("last_started_collective"));
      status.last_completed = SequenceOf(entry.value.Get("last_completed_collective"));
      states.push_back(std::move(status));
    }
    const int64_t unmatched = AssignStatus(states, group_of_id_, dump_.groups);
    if (unmatched > 0) Count("pg_status_unmatched", unmatched);
  }

  // The calls of a batch have no events of their own: they stay 'scheduled' for good. How
  // far they are is said by the entry of the batch, which has their sequence numbers.
  void SettleBatches() {
    std::map<std::pair<size_t, int64_t>, const Entry*> batches;
    const auto key_of = [](const Entry& entry) {
      const auto sequence = entry.is_p2p ? entry.p2p_sequence : entry.collective_sequence;
      return std::pair(2 * entry.group + (entry.is_p2p ? 1 : 0), sequence.value_or(-1));
    };
    for (const Entry& entry : dump_.entries) {
      if (entry.is_batch) batches[key_of(entry)] = &entry;
    }
    for (Entry& entry : dump_.entries) {
      const auto batch = batches.find(key_of(entry));
      if (entry.is_batch || batch == batches.end()) continue;
      entry.state = batch->second->state;
      entry.started_ns = batch->second->started_ns;
      entry.completed_ns = batch->second->completed_ns;
    }
  }

  Value root_;
  size_t work_left_;
  Dump dump_;
  std::map<std::string, size_t> place_of_group_;
  std::map<std::string, size_t> group_of_id_;
  std::unordered_map<uint64_t, std::string> stacks_;
};

}  // namespace

std::optional<int64_t> Entry::Payload(int64_t ranks) const {
  // What one rank gives, or gets where that is the smaller share.
  const bool is_of_output = op == "reduce_scatter" || op == "recv" || op == "scatter";
  if (op == "barrier") return 0;
  const std::optional<int64_t> bytes = SumOfBytes(is_of_output ? outputs : inputs);
  if (op != "all_to_all" || !bytes) return bytes;
  return *bytes / std::max<int64_t>(ranks, 1);
}

std::string Entry::dtype() const {
  if (!inputs.empty()) return inputs.front().dtype;
  return outputs.empty() ? "" : outputs.front().dtype;
}

std::string Entry::Shapes() const {
  if (inputs.empty() && outputs.empty()) return "";
  const std::string in = ShapesOf(inputs);
  const std::string out = ShapesOf(outputs);
  return in == out ? in : in + " -> " + out;
}

bool IsDump(Value root) {
  if (root.kind() == ValueKind::kList) {
    const std::span<const Value> items = root.Items();
    return !items.empty() && items[0].Has("profiling_name") &&
           (items[0].Has("seq_id") || items[0].Has("collective_seq_id"));
  }
  return (root.Has("version") && (root.Has("pg_config") || root.Has("entries"))) ||
         (root.Has("pg_status") && root.Has("pg_config"));
}

Dump ParseDump(Value root, size_t input_bytes) { return Parser(root, input_bytes).Parse(); }

std::optional<int64_t> CommonRank(std::span<const Group> groups) {
  std::optional<std::set<int64_t>> common;
  for (const Group& group : groups) {
    if (group.ranks.empty()) continue;
    const std::set<int64_t> ranks(group.ranks.begin(), group.ranks.end());
    if (!common) {
      common = ranks;
    } else {
      std::erase_if(*common, [&](int64_t rank) { return !ranks.contains(rank); });
    }
  }
  if (!common || common->size() != 1) return std::nullopt;
  return *common->begin();
}

}  // namespace tutti::collector::importers::flight_recorder
