# tutti::nvtx3: the header-only NVTX 3 API, from the CUDA toolkit if there is one, else from
# the nvidia-nvtx wheel in the project's venv. TUTTI_NVTX_FOUND says whether it exists.

include(TuttiPython)
set(wheel_dirs "")
foreach(site IN LISTS TUTTI_SITE_PACKAGES)
  list(APPEND wheel_dirs ${site}/nvidia/cu13/include ${site}/nvidia/nvtx/include)
endforeach()
find_path(TUTTI_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
  PATHS ${wheel_dirs}
  PATH_SUFFIXES include)

set(TUTTI_NVTX_FOUND OFF)
if(TUTTI_NVTX_INCLUDE_DIR)
  set(TUTTI_NVTX_FOUND ON)
  add_library(tutti_nvtx3 INTERFACE)
  add_library(tutti::nvtx3 ALIAS tutti_nvtx3)
  target_include_directories(tutti_nvtx3 SYSTEM INTERFACE ${TUTTI_NVTX_INCLUDE_DIR})
  target_link_libraries(tutti_nvtx3 INTERFACE ${CMAKE_DL_LIBS})
  message(STATUS "NVTX headers: ${TUTTI_NVTX_INCLUDE_DIR}")
else()
  message(STATUS "NVTX headers not found: annotate.h is not tested (./dev setup fetches them)")
endif()
