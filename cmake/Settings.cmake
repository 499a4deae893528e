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
