#include "analyzer/input/kernel_traits.h"

#include "analyzer/metrics/kernel_names.h"

namespace tutti::analyzer {
namespace {

KernelTraits TraitsOfKernel(const std::string& name, KernelRole role) {
  if (role == KernelRole::kCommunication) {
    const std::string_view op = CollectiveOfKernel(name);
    return {"comm_" + std::string(op.empty() ? "other" : op), std::nullopt};
  }
  if (role == KernelRole::kPeerCopy) return {"copy", std::nullopt};
  const KernelCategory category = CategoryOfKernel(name);
  // A user's rule says that it does not communicate, whatever its name says.
  if (category == KernelCategory::kCommunication) return {"other", std::nullopt};
  return {ToString(category), UsesTensorCores(name, category)};
}

}  // namespace

const KernelTraits& KernelTraitsOf::operator()(const DeviceEvent& event) {
  static const KernelTraits kCopy{"copy", std::nullopt};
  static const KernelTraits kFill{"fill", std::nullopt};
  if (event.kind == DeviceEvent::Kind::kMemcpy) return kCopy;
  if (event.kind == DeviceEvent::Kind::kMemset) return kFill;
  const auto [known, is_new] = known_.try_emplace({event.name_id, event.role});
  if (is_new) known->second = TraitsOfKernel(trace_.Text(event.name_id), event.role);
  return known->second;
}

}  // namespace tutti::analyzer
