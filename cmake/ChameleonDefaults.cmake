# SPDX-License-Identifier: BSD-3-Clause
# What every target here is built with.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include(GNUInstallDirs)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# C++ only: programs in C and Fortran stand for those that nobody compiles again.
set(CHAMELEON_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them")
if(CHAMELEON_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CHAMELEON_SANITIZE}>"
                      "$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>"
                      "$<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>")
  add_link_options("$<$<LINK_LANGUAGE:CXX>:-fsanitize=${CHAMELEON_SANITIZE}>")
endif()

# Of the wrappers: so many compilations, each of which reads the same headers for seconds.
set(CHAMELEON_SHARDS 0 1 2 3)

add_library(chameleon_options INTERFACE)
target_compile_options(chameleon_options INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of GCC 12 in Boost.Container's small_vector.
  target_compile_options(chameleon_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
endif()
target_include_directories(chameleon_options INTERFACE ${PROJECT_SOURCE_DIR}/libchameleon
                                                       ${PROJECT_SOURCE_DIR}/libchameleon/include)

# chameleon_room(NAME SOURCES...): a static library of one room.
function(chameleon_room name)
  add_library(chameleon_${name} STATIC ${ARGN})
  add_library(chameleon::${name} ALIAS chameleon_${name})
  target_link_libraries(chameleon_${name} PUBLIC chameleon_options)
  set_target_properties(chameleon_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden
                                                     VISIBILITY_INLINES_HIDDEN ON)
endfunction()
