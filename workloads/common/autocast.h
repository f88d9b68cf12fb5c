// Automatic mixed precision for as long as the object lives, on this thread and for one kind of
// device: what torch.autocast is in Python.
#ifndef TUTTI_WORKLOADS_COMMON_AUTOCAST_H_
#define TUTTI_WORKLOADS_COMMON_AUTOCAST_H_

#include <ATen/autocast_mode.h>

namespace tutti::workloads {

class Autocast {
 public:
  Autocast(at::DeviceType device, bool enabled, at::ScalarType type)
      : device_(device),
        was_enabled_(at::autocast::is_autocast_enabled(device)),
        was_type_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device, enabled);
    at::autocast::set_autocast_dtype(device, type);
  }
  // Weights that were cast are kept until here.
  ~Autocast() {
    at::autocast::set_autocast_enabled(device_, was_enabled_);
    at::autocast::set_autocast_dtype(device_, was_type_);
    if (!was_enabled_) at::autocast::clear_cache();
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  const at::DeviceType device_;
  const bool was_enabled_;
  const at::ScalarType was_type_;
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_AUTOCAST_H_
