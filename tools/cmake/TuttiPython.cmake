# Where Python packages that this project uses may be: sets TUTTI_VENV (made by ./dev in the
# cache) and TUTTI_SITE_PACKAGES, its package folders (empty list when there is no venv).

if(DEFINED ENV{TUTTI_CACHE})
  set(TUTTI_CACHE_DIR $ENV{TUTTI_CACHE})
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(TUTTI_CACHE_DIR $ENV{XDG_CACHE_HOME}/tutti)
else()
  set(TUTTI_CACHE_DIR $ENV{HOME}/.cache/tutti)
endif()
set(TUTTI_VENV ${TUTTI_CACHE_DIR}/venv)
file(GLOB TUTTI_SITE_PACKAGES LIST_DIRECTORIES true ${TUTTI_VENV}/lib/python3*/site-packages)
