#include "collector/drain/capture_control.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <utility>

#include "collector/os/files.h"
#include "common/wire/wire.h"

namespace tutti::collector::drain {
namespace {

constexpr std::string_view kSteps = "steps ";

bool ReadNumber(std::string_view text, int64_t* number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

}  // namespace

std::string ToText(const CaptureWish& wish) {
  switch (wish.kind) {
    case CaptureWish::Kind::kStart:
      return "start";
    case CaptureWish::Kind::kStop:
      return "stop";
    case CaptureWish::Kind::kSteps:
      return std::string(kSteps) + std::to_string(wish.steps.begin) + ":" +
             std::to_string(wish.steps.end);
  }
  return "";
}

std::optional<CaptureWish> ParseWish(std::string_view text) {
  CaptureWish wish;
  if (text == "start") return wish;
  wish.kind = CaptureWish::Kind::kStop;
  if (text == "stop") return wish;
  wish.kind = CaptureWish::Kind::kSteps;
  if (!text.starts_with(kSteps)) return std::nullopt;
  text.remove_prefix(kSteps.size());
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || !ReadNumber(text.substr(0, colon), &wish.steps.begin) ||
      !ReadNumber(text.substr(colon + 1), &wish.steps.end) || wish.steps.begin >= wish.steps.end) {
    return std::nullopt;
  }
  return wish;
}

uint32_t MaskFor(const CaptureWish& wish, uint32_t full, std::optional<int64_t> step) {
  switch (wish.kind) {
    case CaptureWish::Kind::kStart:
      return full;
    case CaptureWish::Kind::kStop:
      return 0;
    case CaptureWish::Kind::kSteps:
      // From the step before the first one on: the sources need a moment.
      const bool inside = step && *step < wish.steps.end &&
                          (*step >= wish.steps.begin || *step + 1 == wish.steps.begin);
      return inside ? full : full & wire::kCaptureNvtx;
  }
  return full;
}

CaptureControl::CaptureControl(std::string spool_path) : spool_path_(std::move(spool_path)) {
  const auto text = os::ReadSmallFile(spool_path_ + "/" + kControlledFile);
  if (text.ok()) wish_ = ParseWish(*text).value_or(CaptureWish{});
}

bool CaptureControl::Look() {
  const std::string asked = spool_path_ + "/" + kControlFile;
  if (::access(asked.c_str(), F_OK) != 0) return false;
  const auto text = os::ReadSmallFile(asked);
  const auto wish = text.ok() ? ParseWish(*text) : std::nullopt;
  if (!wish) {
    ::unlink(asked.c_str());
    return false;
  }
  // The asker may have replaced it since: that one is found by the next look.
  if (std::rename(asked.c_str(), (spool_path_ + "/" + kControlledFile).c_str()) != 0) return false;
  wish_ = *wish;
  return true;
}

}  // namespace tutti::collector::drain
