# tutti::imgui (Dear ImGui with ImPlot, GLFW and OpenGL) and tutti::imgui_test_engine, both from the
# cache, where tools/setup/imgui.sh builds them. TUTTI_IMGUI_FOUND says whether all that the
# viewer needs is there, TUTTI_IMGUI_OBJECTION what is missing.

include(TuttiPython)
set(imgui_dir ${TUTTI_CACHE_DIR}/imgui)
set(TUTTI_IMGUI_FOUND OFF)
set(TUTTI_IMGUI_OBJECTION "")

find_package(glfw3 3.3 QUIET)
find_package(OpenGL COMPONENTS EGL OpenGL QUIET)
find_package(Freetype QUIET)
find_package(PNG QUIET)
if(NOT EXISTS ${imgui_dir}/lib/libimgui.a)
  set(TUTTI_IMGUI_OBJECTION "Dear ImGui is not in the cache (tools/setup/imgui.sh builds it)")
elseif(NOT glfw3_FOUND OR NOT OpenGL_EGL_FOUND OR NOT Freetype_FOUND OR NOT PNG_FOUND)
  set(TUTTI_IMGUI_OBJECTION "GLFW, OpenGL with EGL, FreeType or libpng is missing")
else()
  set(TUTTI_IMGUI_FOUND ON)
  add_library(tutti::imgui STATIC IMPORTED GLOBAL)
  set_target_properties(tutti::imgui PROPERTIES IMPORTED_LOCATION ${imgui_dir}/lib/libimgui.a)
  target_include_directories(tutti::imgui SYSTEM INTERFACE ${imgui_dir}/include)
  target_compile_definitions(tutti::imgui INTERFACE IMGUI_USER_CONFIG="tutti_imconfig.h")
  target_link_libraries(tutti::imgui INTERFACE
    glfw Freetype::Freetype OpenGL::OpenGL OpenGL::EGL ${CMAKE_DL_LIBS})

  add_library(tutti::imgui_test_engine STATIC IMPORTED GLOBAL)
  set_target_properties(tutti::imgui_test_engine PROPERTIES
    IMPORTED_LOCATION ${imgui_dir}/lib/libimgui_test_engine.a)
  target_link_libraries(tutti::imgui_test_engine INTERFACE tutti::imgui Threads::Threads)
endif()
