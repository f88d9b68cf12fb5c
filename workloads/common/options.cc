#include "workloads/common/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace tutti::workloads {
namespace {

constexpr const char* kFaultHelp =
    "Fault to inject, KIND[:AMOUNT][@RANKS][#STEPS], for example slow_loader:30ms@1#10:; may be "
    "repeated; 'list' prints the kinds";

// Validates each --inject where the user can still be told about it.
std::string FaultObjection(const std::string& text, const std::string& workload,
                           const std::vector<FaultKind>& carries) {
  if (text == "list") return "";
  try {
    const FaultKind kind = ParseFault(text).kind;
    if (std::find(carries.begin(), carries.end(), kind) != carries.end()) return "";
    return workload + " cannot carry this fault: '" + text + "'";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

void Add(const OwnOption& own, CLI::App& app) {
  CLI::Option* option = nullptr;
  if (bool* const* const flag = std::get_if<bool*>(&own.value)) {
    app.add_flag(own.flag, **flag, own.help);
    return;
  }
  if (std::string* const* const text = std::get_if<std::string*>(&own.value)) {
    option = app.add_option(own.flag, **text, own.help);
    if (!own.choices.empty()) option->check(CLI::IsMember(own.choices));
    if (own.is_existing_path) option->check(CLI::ExistingPath);
    return;
  }
  if (int64_t* const* const number = std::get_if<int64_t*>(&own.value)) {
    option = app.add_option(own.flag, **number, own.help);
  } else {
    option = app.add_option(own.flag, *std::get<double*>(own.value), own.help);
  }
  option->check(own.may_be_zero ? CLI::NonNegativeNumber : CLI::PositiveNumber);
}

}  // namespace

void WithoutReducerFaults(std::vector<FaultKind>& kinds) {
  std::erase_if(kinds, [](FaultKind kind) {
    return kind == FaultKind::kSingleBucket || kind == FaultKind::kTinyBuckets ||
           kind == FaultKind::kLateAllReduce || kind == FaultKind::kSkipCollective ||
           kind == FaultKind::kMismatchedSize;
  });
}

std::optional<int> ParseOptions(const std::string& name, const std::string& description, int argc,
                                char** argv, Options& options, const std::vector<OwnOption>& own) {
  CLI::App app(description, name);
  app.option_defaults()->always_capture_default();
  std::vector<std::string> faults;
  app.add_option("--batch", options.batch, "Samples per step and rank")->check(CLI::PositiveNumber);
  app.add_option("--accumulate", options.accumulate,
                 "Batches per step; gradients are exchanged in the last")
      ->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps, "Steps to train")->check(CLI::PositiveNumber);
  app.add_option("--balance-every", options.balance_every,
                 "Steps after which ranks' batches are made as large as ranks are fast; 0: never")
      ->check(CLI::NonNegativeNumber);
  CLI::Option* const evaluate =
      app.add_option("--evaluate-every", options.evaluate_every,
                     "Steps between evaluations on a tenth of the data, which is held out; 0: none")
          ->check(CLI::NonNegativeNumber);
  app.add_option("--prune", options.prune,
                 "Evaluate without this percentage of the weights as well, the smallest")
      ->check(CLI::Range(0, 99))
      ->needs(evaluate);
  app.add_flag("--int8", options.int8, "Evaluate in 8 bits as well (dense layers, on the CPU)")
      ->needs(evaluate);
  app.add_option("--checkpoint-every", options.checkpoint_every,
                 "Steps between checkpoints; 0: none")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--checkpoint-dir", options.checkpoint_dir, "Folder for checkpoints")
      ->check(CLI::ExistingDirectory);
  for (const OwnOption& option : own) Add(option, app);
  app.add_option("--bucket-mb", options.bucket_mb, "Capacity of a gradient bucket in MiB")
      ->check(CLI::PositiveNumber);
  app.add_option("--compress", options.compress, "Type that gradients travel as")
      ->check(CLI::IsMember({"none", "fp16", "bf16"}));
  app.add_option("--workers", options.workers, "Threads of the data loader; 0: none")
      ->check(CLI::Range(0, 256));
  app.add_option("--lr", options.lr, "Learning rate")->check(CLI::PositiveNumber);
  app.add_option("--backend", options.backend, "Backend of the process group")
      ->check(CLI::IsMember({"gloo", "nccl"}));
  app.add_option("--seed", options.seed, "Seed of parameters and generated data");
  app.add_option("--threads", options.threads,
                 "Threads per operator; 0: one if ranks share the machine, else all cores")
      ->check(CLI::Range(0, 1024));
  app.add_option("--timeout", options.timeout_s, "Seconds after which a collective fails")
      ->check(CLI::PositiveNumber);
  app.add_option("--inject", faults, kFaultHelp)
      ->check([&](const std::string& text) { return FaultObjection(text, name, options.carries); })
      ->expected(1)
      ->take_all();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    constexpr int kUsageError = 2;
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (std::find(faults.begin(), faults.end(), "list") != faults.end()) {
    std::fputs(FaultList(options.carries).c_str(), stdout);
    return 0;
  }
  for (const std::string& fault : faults) options.faults.push_back(ParseFault(fault));
  return std::nullopt;
}

}  // namespace tutti::workloads
