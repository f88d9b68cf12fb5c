# Python packages that this project uses. Sets TUTTI_VENV (made by ./dev in the cache),
# TUTTI_SITE_PACKAGES, its package folders (empty list when there is no venv),
# TUTTI_JOB_PYTHON, a python that can run PyTorch jobs (empty when there is none), and
# TUTTI_READERS_PYTHON, one with the packages that tests read exports back with (the same).

include_guard(GLOBAL)

if(DEFINED ENV{TUTTI_CACHE})
  set(TUTTI_CACHE_DIR $ENV{TUTTI_CACHE})
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(TUTTI_CACHE_DIR $ENV{XDG_CACHE_HOME}/tutti)
else()
  set(TUTTI_CACHE_DIR $ENV{HOME}/.cache/tutti)
endif()
set(TUTTI_VENV ${TUTTI_CACHE_DIR}/venv)
file(GLOB TUTTI_SITE_PACKAGES LIST_DIRECTORIES true ${TUTTI_VENV}/lib/python3*/site-packages)

if(NOT TUTTI_JOB_PYTHON)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/setup/find_job_python.sh
    OUTPUT_VARIABLE TUTTI_JOB_PYTHON OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
endif()
if(TUTTI_JOB_PYTHON)
  message(STATUS "Python jobs: ${TUTTI_JOB_PYTHON}")
elseif(TUTTI_BUILD_TESTS)
  message(STATUS "Python jobs are not tested: no torch (./dev setup python installs it)")
endif()

set(TUTTI_READERS_PYTHON "")
if(EXISTS ${TUTTI_VENV}/tutti-readers.stamp)
  set(TUTTI_READERS_PYTHON ${TUTTI_VENV}/bin/python)
elseif(TUTTI_BUILD_TESTS)
  message(STATUS "Python readers of exports are not there, so exports are not read back in tests"
    " (./dev setup python installs them)")
endif()
