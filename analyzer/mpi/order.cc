#include "analyzer/mpi/order.h"

#include "schema/row_pack.h"

namespace tutti::analyzer::mpi {
namespace {

constexpr int64_t kNone = -1;

Status TakeText(schema::Unpacker& bytes, std::string& text) {
  TUTTI_ASSIGN_OR_RETURN(const std::string_view taken, bytes.Text());
  text = taken;
  return OkStatus();
}

Status TakeSize(schema::Unpacker& bytes, size_t& size) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t taken, bytes.Number());
  size = static_cast<size_t>(taken);
  return OkStatus();
}

void Add(schema::Packer& packer, const TraceFile& file) {
  packer.Add(file.path);
  packer.Add(file.name);
  packer.Add(file.bytes);
  packer.Add(file.mtime_ns);
  packer.Add(int64_t{file.is_part});
  packer.Add(file.attempt);
  packer.Add(file.rank.value_or(kNone));
  packer.Add(file.unusable_because);
}

Result<TraceFile> TakeFile(schema::Unpacker& bytes) {
  TraceFile file;
  TUTTI_RETURN_IF_ERROR(TakeText(bytes, file.path));
  TUTTI_RETURN_IF_ERROR(TakeText(bytes, file.name));
  TUTTI_ASSIGN_OR_RETURN(file.bytes, bytes.Number());
  TUTTI_ASSIGN_OR_RETURN(file.mtime_ns, bytes.Number());
  TUTTI_ASSIGN_OR_RETURN(const int64_t is_part, bytes.Number());
  file.is_part = is_part != 0;
  TUTTI_ASSIGN_OR_RETURN(file.attempt, bytes.Number());
  TUTTI_ASSIGN_OR_RETURN(const int64_t rank, bytes.Number());
  if (rank != kNone) file.rank = rank;
  TUTTI_RETURN_IF_ERROR(TakeText(bytes, file.unusable_because));
  return file;
}

void Add(schema::Packer& packer, const RunContext::BadTables& bad) {
  packer.Add(static_cast<int64_t>(bad.size()));
  for (const auto& [rank, tables] : bad) {
    packer.Add(rank);
    AddBadOfRank(packer, tables);
  }
}

Result<RunContext::BadTables> TakeBad(schema::Unpacker& bytes) {
  RunContext::BadTables bad;
  TUTTI_ASSIGN_OR_RETURN(const int64_t ranks, bytes.Number());
  for (int64_t i = 0; i < ranks; ++i) {
    TUTTI_ASSIGN_OR_RETURN(const int64_t rank, bytes.Number());
    TUTTI_ASSIGN_OR_RETURN(bad[rank], TakeBadOfRank(bytes));
  }
  return bad;
}

}  // namespace

std::string Pack(const Order& order) {
  schema::Packer packer;
  packer.Add(static_cast<int64_t>(order.first));
  packer.Add(static_cast<int64_t>(order.passes));
  packer.Add(static_cast<int64_t>(order.ranks.size()));
  for (const int64_t rank : order.ranks) packer.Add(rank);
  packer.Add(order.parts);
  packer.Add(order.key);
  packer.Add(order.files.analysis);
  for (const TraceFile& file : order.files.traces) Add(packer, file);
  return packer.bytes();
}

Result<Order> UnpackOrder(std::string_view packed) {
  schema::Unpacker bytes(packed);
  Order order;
  TUTTI_RETURN_IF_ERROR(TakeSize(bytes, order.first));
  TUTTI_RETURN_IF_ERROR(TakeSize(bytes, order.passes));
  size_t ranks = 0;
  TUTTI_RETURN_IF_ERROR(TakeSize(bytes, ranks));
  for (size_t i = 0; i < ranks; ++i) {
    TUTTI_ASSIGN_OR_RETURN(const int64_t rank, bytes.Number());
    order.ranks.push_back(rank);
  }
  TUTTI_RETURN_IF_ERROR(TakeText(bytes, order.parts));
  TUTTI_RETURN_IF_ERROR(TakeText(bytes, order.key));
  TUTTI_RETURN_IF_ERROR(TakeText(bytes, order.files.analysis));
  while (!bytes.at_end()) {
    TUTTI_ASSIGN_OR_RETURN(TraceFile file, TakeFile(bytes));
    order.files.traces.push_back(std::move(file));
  }
  return order;
}

std::string Pack(const Answer& answer) {
  schema::Packer packer;
  packer.Add(static_cast<int64_t>(answer.status.code()));
  packer.Add(answer.status.message());
  packer.Add(answer.failed_file ? static_cast<int64_t>(*answer.failed_file) : kNone);
  packer.Add(answer.resumed);
  Add(packer, answer.bad);
  AddShardRows(packer, answer.rows);
  return packer.bytes();
}

Result<Answer> UnpackAnswer(std::string_view packed) {
  schema::Unpacker bytes(packed);
  Answer answer;
  TUTTI_ASSIGN_OR_RETURN(const int64_t code, bytes.Number());
  TUTTI_ASSIGN_OR_RETURN(const std::string_view message, bytes.Text());
  if (code != 0) answer.status = Status(static_cast<StatusCode>(code), std::string(message));
  TUTTI_ASSIGN_OR_RETURN(const int64_t failed_file, bytes.Number());
  if (failed_file != kNone) answer.failed_file = static_cast<size_t>(failed_file);
  TUTTI_ASSIGN_OR_RETURN(answer.resumed, bytes.Number());
  TUTTI_ASSIGN_OR_RETURN(answer.bad, TakeBad(bytes));
  TUTTI_ASSIGN_OR_RETURN(answer.rows, TakeShardRows(bytes));
  return answer;
}

}  // namespace tutti::analyzer::mpi
