// Runs `tutti record` on the emitter in a directory of its own, and reads what came out.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/database.h"
#include "schema/reader.h"
#include "tests/e2e/emitter.h"

namespace tutti::e2e {

struct Finished {
  int exit_status = -1;  // as a shell gives it
  std::string out;
  std::string err;
};

// A program that was started and not waited for yet.
class Running {
 public:
  // |environment|: NAME=value, added to ours; "NAME" alone is removed.
  Running(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
          const std::string& directory);

  pid_t pid() const { return pid_; }
  std::string OutSoFar() const;
  std::string ErrSoFar() const;
  // Waits for its end, 60 s at most (then it is killed, and the test fails).
  Finished Wait();

 private:
  pid_t pid_ = -1;
  std::string out_path_;
  std::string err_path_;
};

class RecordTest : public ::testing::Test {
 protected:
  RecordTest();
  ~RecordTest() override;

  std::string Path(std::string_view name) const { return directory_ + "/" + std::string(name); }
  static std::string Emitter();

  // `tutti record -o <directory>/run --buffer 4M <options> -- <command>`
  std::vector<std::string> RecordCommand(const std::vector<std::string>& options,
                                         const std::vector<std::string>& command) const;
  Finished Record(const std::vector<std::string>& options, const std::vector<std::string>& command,
                  const std::vector<std::string>& environment = {});
  Running Start(const std::vector<std::string>& options, const std::vector<std::string>& command,
                const std::vector<std::string>& environment = {});

  // A file of the run, by its path in it.
  schema::Database Open(const std::string& file);
  int64_t Number(schema::Database& database, const std::string& sql);
  std::string Text(schema::Database& database, const std::string& sql);
  std::vector<std::string> Files() const;  // of the run, sorted, hidden ones left out

  const Progress* MapProgress(const std::string& path);
  // That |thread|'s operators in |database| are numbered 0 … n-1 without a gap, none that
  // was published is missing and at most one more is there.
  void ExpectWholeSequence(schema::Database& database, const Progress& progress, uint32_t thread);

  // Waits until |condition|, 20 s at most.
  template <typename Condition>
  static bool WaitFor(Condition&& condition) {
    for (int waited_ms = 0; waited_ms < 20'000; waited_ms += 5) {
      if (condition()) return true;
      SleepMs(5);
    }
    return false;
  }
  static void SleepMs(int ms);

  // Sends a signal to one process that the test knows by its id; never to a group or to
  // everybody, whatever a failed look-up returned as the id.
  static void Kill(int64_t pid, int signal);

  // The drainer of a running `tutti record`; none yet or any more: absent.
  static std::optional<pid_t> DrainerOf(pid_t recorder);

  std::string directory_;
};

}  // namespace tutti::e2e
