#include "analyzer/mpi/mpi_team.h"

#include <mpi.h>

#include "analyzer/file_store.h"
#include "analyzer/mpi/messages.h"
#include "schema/row_pack.h"

namespace tutti::analyzer::mpi {
namespace {

constexpr size_t kLeader = 0;

size_t Processes() {
  int processes = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  return static_cast<size_t>(processes);
}

Answer Work(const Order& order, RunContext& context) {
  Answer answer;
  FileStore store(order.parts, order.key, order.first);
  Result<ShardRows> rows = RunShard(AllPasses().subspan(order.first, order.passes), order.first,
                                    order.ranks, context, &store);
  answer.resumed = store.loaded();
  answer.failed_file = context.failed_file();
  answer.bad = context.Bad();
  answer.status = rows.status();
  if (rows.ok()) answer.rows = std::move(rows).value();
  return answer;
}

// A process that does not lead, between orders: its tables, and the traces that it keeps.
class Worker {
 public:
  explicit Worker(const AnalyzeOptions& options) : decisions_(DecisionsOf(options)) {}

  Answer Obey(const std::string& packed, std::string_view image) {
    const Result<Order> order = UnpackOrder(packed);
    if (Status prepared = order.ok() ? Prepare(*order, image) : order.status(); !prepared.ok()) {
      return {.status = prepared, .failed_file = {}, .resumed = 0, .bad = {}, .rows = {}};
    }
    return Work(*order, *context_);
  }

 private:
  Status Prepare(const Order& order, std::string_view image) {
    if (!decisions_.ok()) return decisions_.status();
    // Traces that were read of other files, or in another attempt, are of no use.
    if (!context_ || order.key != key_) {
      context_.reset();
      TUTTI_ASSIGN_OR_RETURN(derived_, schema::Database::OpenMemory());
      context_.emplace(*derived_, order.files, decisions_->options);
      key_ = order.key;
    }
    return schema::LoadImage(*derived_, image);
  }

  Result<Decisions> decisions_;
  std::string key_;
  std::optional<schema::Database> derived_;
  std::optional<RunContext> context_;
};

}  // namespace

Result<ShardRows> MpiTeam::Run(std::span<const Pass> passes, size_t first, RunContext& context,
                               std::optional<size_t>& failed_file) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<schema::RankRow> ranks, context.Ranks());
  const auto dealt = DealRanks(ranks, context.files(), Processes());
  Order order{.first = first,
              .passes = passes.size(),
              .ranks = {},
              .parts = parts_,
              .key = StoreKey(context.files(), decisions_.key),
              .files = context.files()};
  for (size_t process = 1; process < dealt.size(); ++process) {
    TUTTI_ASSIGN_OR_RETURN(const std::string image, ShardImage(context.derived(), dealt[process]));
    order.ranks = dealt[process];
    Send(process, Pack(order));
    Send(process, image);
  }
  order.ranks = dealt[kLeader];
  ShardRows all;
  Status status;
  // Everybody is heard, also when one has failed.
  for (size_t process = 0; process < dealt.size(); ++process) {
    Result<Answer> answer =
        process == kLeader ? Work(order, context) : UnpackAnswer(Receive(process));
    if (status.ok()) status = answer.ok() ? answer->status : answer.status();
    if (!answer.ok()) continue;
    if (answer->failed_file) failed_file = answer->failed_file;
    context.MergeBad(answer->bad);
    resumed_ += answer->resumed;
    all.merge(answer->rows);
  }
  if (!status.ok()) return status;
  return all;
}

void Dismiss() {
  for (size_t process = 1; process < Processes(); ++process) Send(process, "");
}

void Serve(const AnalyzeOptions& options) {
  Worker worker(options);
  for (;;) {
    const std::string order = Receive(kLeader);
    if (order.empty()) return;
    const std::string image = Receive(kLeader);
    Send(kLeader, Pack(worker.Obey(order, image)));
  }
}

}  // namespace tutti::analyzer::mpi
