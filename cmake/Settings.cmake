# What every target of the project is compiled with, as INTERFACE targets: settings and warnings.

add_library(impipe_settings INTERFACE)
target_compile_features(impipe_settings INTERFACE cxx_std_20)
# Results must not depend on what a compiler may contract or reorder: only our own fma is one.
target_compile_options(impipe_settings INTERFACE -ffp-contract=off -fno-math-errno
                                                 -fno-trapping-math)
# Of files whose bodies have exponentials and powers: g++ would follow choices that depend on each
# other, as bounds on both sides do, and vectorise each way through them by itself. Bodies of many
# comparisons need just that: thinned edges would take five times as long.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(IMPIPE_POWER_OPTIONS -fno-thread-jumps)
endif()
# Of folders whose code runs once a command or once a kernel, and never once a pixel.
set(IMPIPE_COLD_OPTIONS $<$<CONFIG:Release>:-O1>)
target_include_directories(impipe_settings INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(IMPIPE_SANITIZE)
  target_compile_options(impipe_settings INTERFACE -fsanitize=${IMPIPE_SANITIZE}
                                                   -fno-omit-frame-pointer -g1)
  target_link_options(impipe_settings INTERFACE -fsanitize=${IMPIPE_SANITIZE})
endif()

add_library(impipe_warnings INTERFACE)
target_compile_options(impipe_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                                                 -Wno-missing-field-initializers -Wno-psabi
                                                 -Wno-restrict)  # false alarms of g++ 12 (PR 105329)
if(IMPIPE_DEVELOPER)
  target_compile_options(impipe_warnings INTERFACE -Werror)
endif()

# A whole build in less processor time: the files of a folder are compiled together, a dozen at most,
# so that headers are read once for all of them; an edit then compiles a dozen files, too. Private
# names of such files have to differ. APART: folders whose files have some in common ("." is this).
option(IMPIPE_UNITY "Compile the files of a folder together" OFF)
function(impipe_unity target)
  cmake_parse_arguments(ARG "" "" "APART" ${ARGN})
  if(NOT IMPIPE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # it means headers
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder)
    if(NOT folder IN_LIST ARG_APART)
      string(MAKE_C_IDENTIFIER ${folder} room)
      list(LENGTH in_${room} count)
      list(APPEND in_${room} ${source})
      math(EXPR group "${count} / 12")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}${group})
    endif()
  endforeach()
endfunction()

# A library for one folder of src/: all its .cpp files, linked to exactly what the include table
# allows (checked by scripts/check_includes.py).
function(impipe_folder_library name)
  cmake_parse_arguments(ARG "OBJECT" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp
       ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp)
  if(ARG_OBJECT)
    add_library(${name} OBJECT ${sources})
  else()
    add_library(${name} STATIC ${sources})
  endif()
  target_link_libraries(${name} PUBLIC impipe_settings ${ARG_LINKS} PRIVATE impipe_warnings)
endfunction()
