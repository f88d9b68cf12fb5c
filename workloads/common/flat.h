// Parameters and gradients as one vector, for those that are not exchanged by the Reducer.
#ifndef TUTTI_WORKLOADS_COMMON_FLAT_H_
#define TUTTI_WORKLOADS_COMMON_FLAT_H_

#include <torch/types.h>

#include <vector>

namespace tutti::workloads {

// All tensors' elements, one tensor after the other.
at::Tensor Flatten(const std::vector<at::Tensor>& tensors);

// The same of gradients, which all parameters must have.
at::Tensor FlatGradients(const std::vector<at::Tensor>& parameters);

// The inverse: |flat| may be longer; what is over is left.
void SetGradients(const std::vector<at::Tensor>& parameters, const at::Tensor& flat);
void SetParameters(const std::vector<at::Tensor>& parameters, const at::Tensor& flat);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_FLAT_H_
