# tutti::torch_cpu: LibTorch's CPU libraries with c10d and Gloo, found by
# tools/setup/find_torch.sh (which documents the order of search). Sets TuttiTorch_FOUND and
# TUTTI_TORCH_DIR, the folder with include/ and lib/.
#
# PyTorch's own CMake package is not used: it insists on a CUDA toolkit that its FindCUDA
# understands. A program on the CPU links torch_cpu and c10 and nothing else.

include(FindPackageHandleStandardArgs)

set(TUTTI_TORCH_PREFIX "" CACHE PATH "LibTorch to build with, in place of the one searched for")
if(TUTTI_TORCH_PREFIX)
  set(ENV{TUTTI_TORCH_PREFIX} ${TUTTI_TORCH_PREFIX})
endif()
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/setup/find_torch.sh
  OUTPUT_VARIABLE TUTTI_TORCH_DIR OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_VARIABLE objection ERROR_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(TUTTI_TORCH_DIR "")
endif()

# Gloo's headers are not in the wheel; only pointers to its types cross into our code, so
# those of another Gloo version serve. Its library must not be linked.
find_path(TUTTI_GLOO_INCLUDE_DIR gloo/context.h)
if(TUTTI_TORCH_DIR AND NOT TUTTI_GLOO_INCLUDE_DIR)
  set(objection "Gloo's headers are missing (Debian: libgloo-dev)")
endif()

find_package_handle_standard_args(TuttiTorch
  REQUIRED_VARS TUTTI_TORCH_DIR TUTTI_GLOO_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "${objection}")
set(TUTTI_TORCH_OBJECTION "${objection}")

if(TuttiTorch_FOUND AND NOT TARGET tutti::torch_cpu)
  message(STATUS "LibTorch: ${TUTTI_TORCH_DIR}")
  add_library(tutti::c10 SHARED IMPORTED GLOBAL)
  set_target_properties(tutti::c10 PROPERTIES
    IMPORTED_LOCATION ${TUTTI_TORCH_DIR}/lib/libc10.so)

  add_library(tutti::torch_cpu SHARED IMPORTED GLOBAL)
  set_target_properties(tutti::torch_cpu PROPERTIES
    IMPORTED_LOCATION ${TUTTI_TORCH_DIR}/lib/libtorch_cpu.so
    # Its own dependencies are found through its RPATH, at link time as at run time.
    IMPORTED_LINK_DEPENDENT_LIBRARIES tutti::c10)
  target_include_directories(tutti::torch_cpu SYSTEM INTERFACE
    ${TUTTI_TORCH_DIR}/include
    ${TUTTI_TORCH_DIR}/include/torch/csrc/api/include
    ${TUTTI_GLOO_INCLUDE_DIR})
  # NDEBUG in every build: without it headers expect members that the released library,
  # built with it, does not have.
  target_compile_definitions(tutti::torch_cpu INTERFACE
    USE_DISTRIBUTED USE_C10D_GLOO NDEBUG _GLIBCXX_USE_CXX11_ABI=1)
  target_link_libraries(tutti::torch_cpu INTERFACE tutti::c10)
endif()
