# SPDX-License-Identifier: BSD-3-Clause
# What the multi-rank tests need for one MPI, and the file that tells them where it is.

find_package(Threads REQUIRED)
set(CHAMELEON_TEST_MPI_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# chameleon_test_launcher(FAMILY OUT): the words of a command that starts more ranks than cores, which
# then give way to each other, also as root. What it says about exit statuses is left out.
function(chameleon_test_launcher family out)
  string(TOUPPER CHAMELEON_${family}_MPIEXEC launcher)
  set(words ${${launcher}})
  if(family STREQUAL "openmpi")
    list(APPEND words --oversubscribe --allow-run-as-root --quiet --mca mpi_yield_when_idle 1)
  endif()
  set(${out} ${words} PARENT_SCOPE)
endfunction()
chameleon_test_launcher(${CHAMELEON_MPI} CHAMELEON_TEST_LAUNCHER)

# chameleon_test_tools(SUFFIX FAMILY FILE): the programs online_program, harm_program,
# threads_program and steady_threads, and the tracer whose memory fails, with the suffix for another
# MPI than the first; and FILE, which names them.
function(chameleon_test_tools suffix family file)
  set(folder ${CHAMELEON_TEST_MPI_FOLDER})
  foreach(name IN ITEMS harm_program online_program)
    add_executable(${name}${suffix} ${folder}/${name}.cpp)
    target_include_directories(${name}${suffix} PRIVATE ${PROJECT_SOURCE_DIR}/libchameleon/include)
    target_link_libraries(${name}${suffix} PRIVATE chameleon_${family}_cxx Threads::Threads)
  endforeach()
  foreach(name IN ITEMS threads_program steady_threads)
    add_executable(${name}${suffix} ${folder}/${name}.c)
    target_include_directories(${name}${suffix} PRIVATE ${PROJECT_SOURCE_DIR}/libchameleon/include)
    target_link_libraries(${name}${suffix} PRIVATE chameleon_${family}_c Threads::Threads)
    if(CHAMELEON_SANITIZE MATCHES "thread")  # else nothing is known of what they give to MPI
      target_compile_options(${name}${suffix} PRIVATE -fsanitize=thread -fno-omit-frame-pointer)
      target_link_options(${name}${suffix} PRIVATE -fsanitize=thread)
    endif()
  endforeach()

  # The library again, with memory that runs out where a test says.
  string(REPLACE "-" "_" library chameleon${suffix})
  get_target_property(objects ${library} SOURCES)
  add_library(chameleon_failing${suffix} SHARED ${folder}/../support/failing_memory.c ${objects})
  target_link_libraries(chameleon_failing${suffix} PRIVATE chameleon_${family}_c
    $<TARGET_PROPERTY:${library},LINK_LIBRARIES>)
  target_link_options(chameleon_failing${suffix} PRIVATE
    $<TARGET_PROPERTY:${library},LINK_OPTIONS>)
  foreach(function IN ITEMS malloc calloc realloc fopencookie pthread_create)
    target_link_options(chameleon_failing${suffix} PRIVATE LINKER:--wrap=${function})
  endforeach()
  set_target_properties(chameleon_failing${suffix} PROPERTIES
    C_VISIBILITY_PRESET hidden C_STANDARD 11)

  string(TOUPPER CHAMELEON_${family} prefix)
  chameleon_test_launcher(${family} words)
  list(JOIN words "\", \"" launcher)
  file(GENERATE OUTPUT ${file} CONTENT
"{\"mpi\": \"${family}\",
 \"mpi_library\": \"${${prefix}_LIBRARY}\",
 \"mpicc\": \"${${prefix}_MPICC}\",
 \"mpiexec\": [\"${launcher}\"],
 \"library\": \"$<TARGET_FILE:${library}>\",
 \"first_library\": \"$<TARGET_FILE:chameleon>\",
 \"failing_library\": \"$<TARGET_FILE:chameleon_failing${suffix}>\",
 \"command\": \"$<TARGET_FILE:chameleon_command>\",
 \"replayer\": \"$<TARGET_FILE:chameleon-replay${suffix}>\",
 \"test_yield\": \"$<TARGET_FILE:test_yield>\",
 \"counters\": \"$<TARGET_FILE:test_counters>\",
 \"skewed_clock\": \"$<TARGET_FILE:test_skewed_clock>\",
 \"marks\": \"$<TARGET_FILE:test_marks${suffix}>\",
 \"unmarked\": \"$<TARGET_FILE:test_unmarked${suffix}>\",
 \"slow_merge\": \"$<TARGET_FILE:test_slow_merge${suffix}>\",
 \"stall\": \"$<TARGET_FILE:test_stall${suffix}>\",
 \"count_calls\": \"$<TARGET_FILE:test_count_calls${suffix}>\",
 \"same_events\": \"$<TARGET_FILE:same_events>\",
 \"sanitizer\": \"${CHAMELEON_SANITIZER_RUNTIME}\",
 \"slower\": ${CHAMELEON_SLOWER},
 \"harm_program\": \"$<TARGET_FILE:harm_program${suffix}>\",
 \"online_program\": \"$<TARGET_FILE:online_program${suffix}>\",
 \"threads_program\": \"$<TARGET_FILE:threads_program${suffix}>\",
 \"table\": \"${PROJECT_SOURCE_DIR}/libchameleon/mpi/mpi_calls.txt\"}
")
endfunction()
