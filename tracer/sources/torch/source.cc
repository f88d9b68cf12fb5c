#include "tracer/sources/torch/source.h"

#include <cstdio>

#include "tracer/core/gate.h"
#include "tracer/core/note.h"
#include "tracer/core/session.h"
#include "tracer/sources/torch/layout_check.h"
#include "tracer/sources/torch/operators.h"

namespace tutti::tracer::torch {
namespace {

constexpr char kAdvice[] = "train with a PyTorch from 2.8 to 2.15, or a newer Tutti";

// Says that operators can't be recorded, |what| being the first thing found wrong.
void NoteUnusable(const Source& source, const char* problem, const char* what) noexcept {
  const Version version = source.library.version;
  char detail[256];
  std::snprintf(detail, sizeof(detail), "PyTorch %u.%u.%u %s %s; operators are not recorded",
                version.major, version.minor, version.patch, problem, what);
  Note({wire::NoteSeverity::kError, "torch", "torch_layout", detail, kAdvice});
}

// The collector keeps it as a fact about the process.
void NoteVersion(const Source& source) noexcept {
  const Version version = source.library.version;
  if (version.major == 0) return;  // it does not tell
  char detail[32];
  std::snprintf(detail, sizeof(detail), "%u.%u.%u", version.major, version.minor, version.patch);
  Note({wire::NoteSeverity::kInfo, "torch", "torch_version", detail, ""});
}

void NoteUnknownVersion(const Source& source) noexcept {
  const Version version = source.library.version;
  char detail[256];
  std::snprintf(detail, sizeof(detail),
                "PyTorch %u.%u.%u is not among the known releases (%s); what is read of it was "
                "found where it is in those",
                version.major, version.minor, version.patch, kKnownReleases);
  Note({wire::NoteSeverity::kInfo, "torch", "torch_version_unknown", detail, ""});
}

void LearnTensors(Source* source) noexcept {
  source->tensors.sizes_offset = FindTensorSizes(source->library);
  source->tensors.undefined = source->library.undefined_tensor;
  source->tensors.generic_list_tag =
      IsKnown(source->library.version) ? TagGenericList(source->library.version) : 0;
  if (source->tensors.sizes_offset == 0) {
    Note({wire::NoteSeverity::kNotice, "torch", "torch_tensors",
          "this PyTorch's tensors are laid out in another way: bytes of collectives and shapes "
          "are not recorded",
          ""});
  }
}

// The state to go on with.
Source::State Examine(Source* source) noexcept {
  const char* missing = nullptr;
  const bool is_complete = FindLibrary(&source->library, &missing);
  if (!is_complete && missing == nullptr) {
    return Source::State::kWaiting;
  }
  NoteVersion(*source);
  if (!is_complete) {
    NoteUnusable(*source, "lacks", missing);
    return Source::State::kUnusable;
  }
  if (const char* mismatch = FindRecordFunctionMismatch(source->library)) {
    NoteUnusable(*source,
                 "differs from the known releases (2.8 to 2.15) in its RecordFunction:", mismatch);
    return Source::State::kUnusable;
  }
  if (!IsKnown(source->library.version)) {
    NoteUnknownVersion(*source);
  }
  source->backend_is_known = FindBackendMismatch(source->library) == nullptr;
  LearnTensors(source);
  return Source::State::kAttached;
}

// True if this call attached.
bool AttachOnce(Source* source) noexcept {
  auto state = Source::State::kWaiting;
  if (source->state.load(std::memory_order_acquire) != state) {
    return false;
  }
  Configure();
  const bool is_ours =
      CurrentGate().state.load(std::memory_order_relaxed) != SessionState::kDisabled;
  if (!source->state.compare_exchange_strong(
          state, is_ours ? Source::State::kAttaching : Source::State::kUnusable) ||
      !is_ours) {
    return false;
  }
  state = Examine(source);
  source->state.store(state, std::memory_order_release);
  return state == Source::State::kAttached;
}

}  // namespace

void Attach() noexcept {
  Source& source = TheSource();
  if (AttachOnce(&source)) {
    RegisterCallbacks(source.library);
  }
  if (IsAttached() && Captures(wire::kCaptureShapes) && !source.asks_for_inputs.exchange(true)) {
    AskForInputs(source.library);
  }
}

}  // namespace tutti::tracer::torch
