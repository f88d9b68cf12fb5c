#include "viewer/app/replay_runner.h"

#include <algorithm>
#include <utility>

namespace tutti::viewer {

std::optional<int64_t> ReplayFacts::SlackAt(int64_t rank, int64_t time_ns) const {
  const auto found =
      std::lower_bound(slacks.begin(), slacks.end(), std::pair(rank, time_ns),
                       [](const EventSlack& slack, const std::pair<int64_t, int64_t>& key) {
                         return std::pair(slack.rank, slack.time_ns) < key;
                       });
  if (found == slacks.end() || found->rank != rank || found->time_ns != time_ns) {
    return std::nullopt;
  }
  return found->slack_ns;
}

ReplayRunner::ReplayRunner(ReplayOpener opener)
    : opener_(std::move(opener)), phase_(opener_ ? Phase::kClosed : Phase::kNone) {}

ReplayRunner::~ReplayRunner() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ReplayRunner::Open() {
  Phase closed = Phase::kClosed;
  if (!phase_.compare_exchange_strong(closed, Phase::kOpening)) return;
  works_ = true;
  thread_ = std::thread([this] { Work(); });
}

void ReplayRunner::Ask(std::vector<std::string> words) {
  {
    const std::lock_guard lock(mutex_);
    question_ = std::move(words);
  }
  changed_.notify_all();
}

bool ReplayRunner::is_busy() const {
  const std::lock_guard lock(mutex_);
  return works_ || (question_.has_value() && phase() == Phase::kReady);
}

void ReplayRunner::WaitUntilIdle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [this] { return !works_ && (!question_.has_value() || phase() != Phase::kReady); });
}

std::string ReplayRunner::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::shared_ptr<const ReplayFacts> ReplayRunner::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::optional<Result<Prediction>> ReplayRunner::answer() const {
  const std::lock_guard lock(mutex_);
  return answer_;
}

std::vector<Prediction> ReplayRunner::usual() const {
  const std::lock_guard lock(mutex_);
  return usual_;
}

bool ReplayRunner::OpenReplay() {
  Result<std::unique_ptr<Replay>> opened = opener_();
  if (!opened.ok()) {
    const std::lock_guard lock(mutex_);
    error_ = opened.status().message();
    return false;
  }
  replay_ = std::move(*opened);
  auto facts = std::make_shared<ReplayFacts>();
  facts->measured_ns = replay_->measured_ns();
  facts->unchanged_ns = replay_->unchanged_ns();
  facts->steps = replay_->steps();
  facts->path = replay_->CriticalPath();
  facts->slacks = replay_->Slacks();
  std::vector<std::vector<std::string>> questions = replay_->UsualQuestions();
  std::reverse(questions.begin(), questions.end());
  const std::lock_guard lock(mutex_);
  facts_ = std::move(facts);
  usual_questions_ = std::move(questions);
  return true;
}

void ReplayRunner::Work() {
  const bool is_open = OpenReplay();
  phase_.store(is_open ? Phase::kReady : Phase::kFailed, std::memory_order_release);
  std::unique_lock lock(mutex_);
  for (;;) {
    version_.fetch_add(1, std::memory_order_release);
    const bool is_asked = question_.has_value();
    works_ = is_open && (is_asked || !usual_questions_.empty());
    changed_.notify_all();
    if (!is_open || is_stopping_) return;
    if (!works_) {
      changed_.wait(lock, [this] { return is_stopping_ || question_.has_value(); });
      continue;
    }
    std::vector<std::string> words;
    if (is_asked) {
      words = *std::exchange(question_, std::nullopt);
    } else {
      words = std::move(usual_questions_.back());
      usual_questions_.pop_back();
    }
    lock.unlock();
    Result<Prediction> answer = replay_->Ask(words);
    lock.lock();
    if (is_asked) {
      answer_ = std::move(answer);
    } else if (answer.ok()) {
      usual_.push_back(std::move(*answer));
      std::stable_sort(usual_.begin(), usual_.end(), [](const Prediction& a, const Prediction& b) {
        return a.saved_ns > b.saved_ns;
      });
    }
  }
}

}  // namespace tutti::viewer
