# tutti::cupti_headers: CUPTI's headers, from the wheels in the project's venv, else from the CUDA
# toolkit. Only tests include them: what Tutti reads of CUPTI's records it knows by tables of its
# own, which these tests compare; they are written for the release that set-up installs, so headers
# of another one are left alone. TUTTI_CUPTI_LIBRARY: a libcupti to walk test buffers with (empty
# when there is none); it needs no driver for that.

include(TuttiPython)
set(wheel_includes "")
set(wheel_libraries "")
foreach(site IN LISTS TUTTI_SITE_PACKAGES)
  list(APPEND wheel_includes ${site}/nvidia/cu13/include)
  file(GLOB found ${site}/nvidia/cu13/lib/libcupti.so.13)
  list(APPEND wheel_libraries ${found})
endforeach()
find_path(TUTTI_CUPTI_INCLUDE_DIR cupti.h
  HINTS ${wheel_includes}
  PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
  PATH_SUFFIXES include extras/CUPTI/include)

if(NOT TUTTI_CUPTI_LIBRARY AND wheel_libraries)
  list(GET wheel_libraries 0 TUTTI_CUPTI_LIBRARY)
endif()
set(TUTTI_CUPTI_LIBRARY "${TUTTI_CUPTI_LIBRARY}" CACHE FILEPATH "libcupti that tests walk with")

set(cupti_version "")
if(TUTTI_CUPTI_INCLUDE_DIR)
  file(STRINGS ${TUTTI_CUPTI_INCLUDE_DIR}/cupti_version.h cupti_version
    REGEX "#define CUPTI_API_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+" cupti_version "${cupti_version}")
endif()
if(cupti_version MATCHES "^1300[0-9][0-9]$")
  add_library(tutti_cupti_headers INTERFACE)
  add_library(tutti::cupti_headers ALIAS tutti_cupti_headers)
  target_include_directories(tutti_cupti_headers SYSTEM INTERFACE ${TUTTI_CUPTI_INCLUDE_DIR})
  message(STATUS "CUPTI headers: ${TUTTI_CUPTI_INCLUDE_DIR}")
else()
  message(STATUS "No CUPTI headers of CUDA 13.0 (found: '${cupti_version}'): its layouts are not "
    "compared, GPU capture is not tested (./dev setup fetches them)")
endif()
