#include "schema/background_writer.h"

namespace tutti::schema {

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status BackgroundWriter::HandOver() {
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kMostWaiting; });
  waiting_.push_back(std::move(batch_));
  batch_rows_ = 0;
  batch_ = {};
  if (!empty_.empty()) {
    batch_ = std::move(empty_.back());
    empty_.pop_back();
  }
  changed_.notify_all();
  return failure_;
}

// Afterwards the other thread has nothing to do until the next HandOver.
Status BackgroundWriter::WriteAll() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !is_working_; });
  const Status written = Write(batch_);
  batch_rows_ = 0;
  if (failure_.ok()) failure_ = written;
  return failure_;
}

Status BackgroundWriter::Commit() {
  TUTTI_RETURN_IF_ERROR(WriteAll());
  return writer_->Commit();
}

Status BackgroundWriter::Finalize() {
  (void)WriteAll().ok();  // a failure is counted in the file, as far as it can be
  return writer_->Finalize();
}

void BackgroundWriter::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    is_working_ = true;
    lock.unlock();
    changed_.notify_all();
    const Status written = Write(batch);
    lock.lock();
    empty_.push_back(std::move(batch));
    is_working_ = false;
    if (failure_.ok()) failure_ = written;
    changed_.notify_all();
  }
}

Status BackgroundWriter::Write(Batch& batch) {
  Status status;
  const auto append = [&](auto& rows) {
    for (auto& row : rows) {
      const Status appended = writer_->Append(std::move(row));
      if (status.ok()) status = appended;
    }
    rows.clear();
  };
  std::apply([&](auto&... rows) { (append(rows), ...); }, batch);
  return status;
}

}  // namespace tutti::schema
