// The drainer's loop: takes processes over from the supervisor, empties their rings,
// notices their ends, hands complete spools to the conversion worker and reports.
// One thread (the worker has its own).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/counters/node_sampler.h"
#include "collector/counters/process_sampler.h"
#include "collector/drain/capture_control.h"
#include "collector/drain/channel.h"
#include "collector/drain/conversion_worker.h"
#include "collector/drain/disk_budget.h"
#include "collector/drain/drainer.h"
#include "collector/drain/dumps.h"
#include "collector/drain/pacer.h"
#include "collector/drain/process_drainer.h"
#include "collector/live/live_metrics.h"
#include "collector/live/step_follower.h"
#include "collector/live/window.h"
#include "common/status.h"

namespace tutti::collector::drain {

class DrainLoop {
 public:
  DrainLoop(const DrainerSettings& settings, os::FileDescriptor channel);

  // Until everything is done; the exit status.
  int Run();

 private:
  struct Process {
    std::string spool_name;
    ProcessDrainer drainer;
    counters::ProcessSampler sampler;
    os::FileDescriptor pidfd;
    bool is_supervisors_child = false;
    int64_t next_free_ns = 0;  // not sooner, where rings run short and none could be freed
    std::optional<int64_t> ended_ns = {};  // MONOTONIC_RAW when its end was seen
    std::optional<int32_t> exit_status = {};
    std::optional<uint32_t> mask = {};      // as `tutti ctl` has it; absent: all of the recording's
    std::optional<int64_t> paused_ns = {};  // MONOTONIC_RAW since when it is less
    std::optional<int64_t> step = {};       // seen last

    std::string file_name = {};  // that is written: the spool itself, or the newest of a series
    // With --live:
    std::optional<live::Window> window = {};
    uint64_t next_file = 1;
    int64_t steps_before = 0;                 // that had ended when the file was begun
    std::optional<int64_t> step_before = {};  // number of the last of them
  };

  bool Done() const;
  void WaitForWork();
  void HandleChannel();
  void HandleMessage(const Message& message, std::vector<os::FileDescriptor> descriptors);
  void OnSegment(const SegmentMessage& message, std::vector<os::FileDescriptor> descriptors);
  Status TakeOver(const SegmentMessage& message, std::vector<os::FileDescriptor> descriptors);
  bool WasDone(uint32_t index);
  Result<Process> MakeProcess(const SegmentMessage& message,
                              std::vector<os::FileDescriptor> descriptors);
  void OnCommandEnded();

  void PollRings();
  void StopCapture();
  void FreeRings(Process& process, bool regularly, int64_t now_ns);
  void TendRegularly();
  void SampleSystem();
  void WriteNodeSamples();
  void ControlCapture();
  void ControlProcess(Process& process);
  void TellPause(Process& process);
  void OpenMetrics();
  void TendSteps(int64_t now_ns);
  void LookAtSteps();
  void LookAtSteps(uint32_t index, const Process& process);
  int64_t StepsOf(uint32_t index) const;
  void TellAlarms(int64_t now_ns);
  void WriteMetrics(int64_t now_ns);
  void TendWindows(int64_t now_ns);
  void StartFile(uint32_t index, Process& process);
  void RemoveFile(const live::Window::File& file);
  bool DropOldestFiles();
  void BeginDump();
  void TendDump();
  void RestoreWindow(Process& process, const std::vector<std::string>& files);
  void NoticeEnds();
  bool MayFinish(const Process& process) const;
  void FinishEnded();
  void FinishProcess(uint32_t index, Process& process, spool::EndReason reason);
  uint64_t SpoolBytes(const Process& process) const;
  std::vector<convert::Finding> FindingsOf(const Process& process) const;

  void HandleResults();
  void OnResult(const ConversionResult& result);
  void Say(std::string_view text);
  void Send(const Message& message, bool is_reliable);
  void CleanUp();

  DrainerSettings settings_;
  os::FileDescriptor channel_;
  os::FileDescriptor spool_directory_;
  DiskBudget budget_;
  Pacer pacer_;
  ConversionWorker worker_;
  counters::NodeSampler node_sampler_;
  CaptureControl control_;
  std::optional<live::StepFollower> follower_;  // for one of these two:
  std::optional<live::LiveMetrics> metrics_;
  std::optional<Dumps> dumps_;             // with --live
  std::map<uint32_t, Process> processes_;  // those whose spool is open
  uint32_t converting_ = 0;                // complete spools without a result yet
  bool orphaned_ = false;
  bool command_ended_ = false;
  bool hurried_ = false;
  bool capture_stopped_ = false;
  bool something_kept_ = false;
  bool said_disk_full_ = false;
  bool said_no_metrics_ = false;
  int64_t command_ended_ns_ = 0;
  int64_t next_poll_ns_ = 0;
  int64_t next_flush_ns_ = 0;
  int64_t next_sample_ns_ = 0;
  int64_t next_control_ns_ = 0;
  int64_t next_steps_ns_ = 0;
  int64_t next_line_ns_ = 0;
};

}  // namespace tutti::collector::drain
