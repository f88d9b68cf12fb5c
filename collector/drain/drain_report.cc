// What the drainer tells the user and the manifest, and what it removes at its end.
#include <sys/stat.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "collector/drain/drain_loop.h"
#include "collector/os/files.h"
#include "collector/rank/manifest_rank.h"
#include "collector/run/manifest.h"
#include "collector/session/session_directory.h"

namespace tutti::collector::drain {
void DrainLoop::HandleResults() {
  for (const ConversionResult& result : worker_.TakeResults()) {
    --converting_;
    OnResult(result);
  }
}

void DrainLoop::OnResult(const ConversionResult& result) {
  Message message = MakeMessage(MessageKind::kDone);
  message.done.index = result.index;
  message.done.rank = -1;
  message.done.world_size = -1;
  message.done.events = -1;
  if (!result.status.ok()) {
    something_kept_ = true;
    message.done.spool_kept = 1;
    Say("a rank file could not be written: " + result.status.message());
  } else {
    const rank::RankOutcome& outcome = result.outcome;
    something_kept_ = something_kept_ || outcome.spool_kept;
    message.done.rank = outcome.identity.rank;
    message.done.world_size = outcome.identity.world_size.value_or(-1);
    message.done.attempt = outcome.identity.attempt;
    message.done.exit_status = outcome.exit_status;
    message.done.events = outcome.events;
    message.done.events_lost = outcome.events_lost;
    message.done.spool_kept = outcome.spool_kept ? 1 : 0;
    const Status status = run::AddRankToManifest(settings_.run_path, settings_.manifest_name,
                                                 rank::ManifestRankOf(outcome));
    if (!status.ok()) Say("the manifest could not be updated: " + status.message());
  }
  Send(message, true);
}

void DrainLoop::Say(std::string_view text) { Send(MakeText(text), false); }

void DrainLoop::Send(const Message& message, bool is_reliable) {
  if (orphaned_) return;
  const auto bytes = std::as_bytes(std::span(&message, 1));
  // A supervisor that is stopped (Ctrl-Z) does not read; waiting for it would let the
  // rings run full, so what it must know is tried a while and then left.
  for (int attempt = 0; attempt < (is_reliable ? 100 : 1); ++attempt) {
    if (session::SendPacket(channel_.get(), bytes) != session::SendResult::kWouldBlock) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void DrainLoop::CleanUp() {
  const std::string log = settings_.spool_path + "/drainer.log";
  struct stat info;
  const bool has_log = ::stat(log.c_str(), &info) == 0 && info.st_size > 0;
  if (has_log) {
    if (const auto text = os::ReadSmallFile(log, 900); text.ok()) {
      Say("messages of the drainer: " + *text);
    }
  }
  const Status status =
      run::CloseManifest(settings_.run_path, settings_.manifest_name, something_kept_);
  if (!status.ok()) Say("the manifest could not be updated: " + status.message());
  if (!something_kept_) {
    os::RemoveTree(settings_.spool_path);
    ::rmdir((settings_.run_path + "/.spool").c_str());  // fails while others record
  }
  if (orphaned_) session::RemoveSessionDirectory(settings_.session_path);
  Send(MakeMessage(MessageKind::kFinished), true);
}

}  // namespace tutti::collector::drain
