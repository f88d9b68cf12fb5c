# libtutti_workload_nccl.so, for --backend nccl: built where LibTorch has a CUDA side and the
# headers that it includes are there (the CUDA toolkit, or the wheels of ./dev setup python).

cmake_path(GET TUTTI_TORCH_DIR PARENT_PATH torch_site)
set(cuda_include_hints /usr/local/cuda/include ${torch_site}/nvidia/cu13/include)
find_path(TUTTI_CUDA_INCLUDE_DIR NAMES cusolverDn.h
  HINTS ENV CUDA_HOME PATHS ${cuda_include_hints} PATH_SUFFIXES include)
find_path(TUTTI_NCCL_INCLUDE_DIR NAMES nccl.h
  HINTS ${torch_site}/nvidia/nccl/include PATHS ${cuda_include_hints})

if(NOT EXISTS ${TUTTI_TORCH_DIR}/lib/libtorch_cuda.so)
  message(STATUS "Workloads: without --backend nccl: LibTorch has no CUDA side")
  return()
elseif(NOT TUTTI_NCCL_INCLUDE_DIR
    OR NOT EXISTS ${TUTTI_CUDA_INCLUDE_DIR}/crt/host_config.h
    OR NOT EXISTS ${TUTTI_CUDA_INCLUDE_DIR}/nv/target)
  message(STATUS "Workloads: without --backend nccl: no headers of CUDA's libraries and NCCL")
  return()
endif()

add_library(tutti_workload_nccl MODULE common/nccl_backend.cc)
target_include_directories(tutti_workload_nccl SYSTEM PRIVATE
  ${TUTTI_NCCL_INCLUDE_DIR} ${TUTTI_CUDA_INCLUDE_DIR})
target_compile_definitions(tutti_workload_nccl PRIVATE USE_C10D_NCCL)
target_link_libraries(tutti_workload_nccl PRIVATE
  tutti::torch_cpu ${TUTTI_TORCH_DIR}/lib/libtorch_cuda.so ${TUTTI_TORCH_DIR}/lib/libc10_cuda.so)
# Built where CUDA's own libraries may be absent; whoever trains on a GPU has them.
target_link_options(tutti_workload_nccl PRIVATE -Wl,--allow-shlib-undefined -Wl,--no-as-needed)
set_target_properties(tutti_workload_nccl PROPERTIES JOB_POOL_COMPILE torch)
