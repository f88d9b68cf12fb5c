#include "collector/importers/nsys/rank_output.h"

#include <variant>

#include "collector/conventions/nccl_call.h"

namespace tutti::collector::importers::nsys {

std::string_view WithoutApiVersion(std::string_view name) {
  constexpr size_t kFewestDigits = 4;  // "cuMemcpy_v2" is the call's own name
  const size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last < 2 || name.size() - last - 1 < kFewestDigits ||
      name.substr(last - 1, 2) != "_v") {
    return name;
  }
  return name.substr(0, last - 1);
}

Result<RankOutput::Name> RankOutput::NameOf(TableCursor& row, size_t column) {
  const schema::NullableValue value = row.Any(column);
  if (!value) return Name();
  if (const auto* text = std::get_if<std::string>(&*value)) {
    return Name{Intern(*text), conventions::IsNcclKernel(*text)};
  }
  const auto* id = std::get_if<int64_t>(&*value);
  if (id == nullptr) return Name();
  if (const auto known = names_.find(*id); known != names_.end()) return known->second;
  TUTTI_ASSIGN_OR_RETURN(const std::optional<std::string> text, strings_->Find(*id));
  const Name name = text ? Name{Intern(*text), conventions::IsNcclKernel(*text)} : Name();
  names_.emplace(*id, name);
  return name;
}

Result<int64_t> RankOutput::CallNameOf(TableCursor& row, size_t column) {
  const schema::NullableValue value = row.Any(column);
  if (!value) return int64_t{0};
  if (const auto* text = std::get_if<std::string>(&*value)) return Intern(WithoutApiVersion(*text));
  const auto* id = std::get_if<int64_t>(&*value);
  if (id == nullptr) return int64_t{0};
  if (const auto known = call_names_.find(*id); known != call_names_.end()) return known->second;
  TUTTI_ASSIGN_OR_RETURN(const std::optional<std::string> text, strings_->Find(*id));
  const int64_t name = text ? Intern(WithoutApiVersion(*text)) : 0;
  call_names_.emplace(*id, name);
  return name;
}

int64_t RankOutput::Tid(int64_t global_tid, std::optional<int64_t> begin_ns,
                        std::optional<int64_t> end_ns) {
  threads_.try_emplace(global_tid, false);
  return sink_->Thread(PidOf(ProcessOf(global_tid)), TidOf(global_tid), begin_ns, end_ns);
}

void RankOutput::NameThread(int64_t global_tid, std::string_view name) {
  const auto [thread, is_new] = threads_.try_emplace(global_tid, false);
  if (thread->second) return;
  thread->second = true;
  sink_->SetThreadName(PidOf(ProcessOf(global_tid)), TidOf(global_tid), name);
}

}  // namespace tutti::collector::importers::nsys
