# SPDX-License-Identifier: BSD-3-Clause
# The rooms inside the traced process, compiled for one implementation of MPI.

# chameleon_runtime(NAME name MPI target TABLE target [SHARDS n] [SIMULATED]): object libraries
# NAME_record, NAME_online, NAME_process and NAME_intercept, and the list NAME_objects of what is in
# them. MPI has the include folder of mpi.h, TABLE that of the generated table, whose wrappers are
# compiled in n parts: each reads the same headers for seconds. SIMULATED leaves out what only a
# library needs that is loaded into a process of its own.
function(chameleon_runtime)
  cmake_parse_arguments(runtime "SIMULATED" "NAME;MPI;TABLE;SHARDS" "" ${ARGN})
  set(record
    record/arguments.cpp record/aside.cpp record/call_use.cpp record/discoveries.cpp
    record/raised_errors.cpp record/tool_gate.cpp record/event_table.cpp
    record/event_uses.cpp record/folded_intervals.cpp record/given_rules.cpp record/interval_signer.cpp record/objects.cpp record/options.cpp
    record/outlier_log.cpp record/pair_log.cpp record/pair_tallies.cpp record/receive_effects.cpp record/receive_use.cpp
    record/rank_trace.cpp record/raw.cpp record/raw_file.cpp record/recorder.cpp
    record/share.cpp record/site_effort.cpp record/slots.cpp record/stack_room.cpp record/stream_book.cpp
    record/streams.cpp record/thread_number.cpp record/time_account.cpp
    mpi/error_number.cpp mpi/handles.cpp mpi/event_layout.cpp)
  set(online online/clock_fit.cpp online/governor.cpp online/rank.cpp online/root_trace.cpp world/mpi_world.cpp)
  set(process
    process/energy_meter.cpp process/fault.cpp process/found_markers.cpp process/instruction_counter.cpp
    process/ending.cpp process/fatal_signals.cpp process/host_ranks.cpp process/lifecycle.cpp process/process_copy.cpp process/rank_budget.cpp process/rank_energy.cpp process/rank_pieces.cpp process/rank_report.cpp process/say.cpp
    process/settings.cpp process/stall.cpp process/termination.cpp process/trace_file.cpp process/rank_markers.cpp process/traced_rank.cpp
    process/tracer.cpp
    base/memory.cpp)
  set(intercept intercept/callers.cpp)
  if(NOT runtime_SIMULATED)
    list(APPEND process process/no_destructors.cpp)
    list(APPEND intercept
      intercept/ending_imports.cpp intercept/exported_names.cpp intercept/fortran_binding.cpp intercept/import_slots.cpp
      intercept/other_mpi.cpp intercept/own_wrappers.cpp intercept/untraced_functions.cpp
      intercept/unwinder_imports.cpp)
  endif()
  if(NOT runtime_SHARDS)
    set(runtime_SHARDS 1)
  endif()
  # Backtraces need no more, of which there is none without debug information.
  set(lines "")
  string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags)
  if("${CMAKE_CXX_FLAGS} ${${flags}}" MATCHES "(^| )-g")
    set(lines -g1)
  endif()

  set(parts record online process intercept)
  math(EXPR last "${runtime_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(wrappers_${shard} intercept/wrappers.cpp)
    list(APPEND parts wrappers_${shard})
  endforeach()
  set(objects "")
  foreach(part IN LISTS parts)
    set(target ${runtime_NAME}_${part})
    list(TRANSFORM ${part} PREPEND ${PROJECT_SOURCE_DIR}/libchameleon/)
    add_library(${target} OBJECT ${${part}})
    target_link_libraries(${target} PRIVATE chameleon_options ${runtime_TABLE} ${runtime_MPI})
    target_include_directories(${target} PRIVATE
      ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/libchameleon/include)
    target_compile_definitions(${target} PRIVATE CHAMELEON_VERSION="${PROJECT_VERSION}")
    target_compile_options(${target} PRIVATE -Wno-cast-function-type)
    if(part MATCHES "wrappers_([0-9]+)")
      target_compile_definitions(${target} PRIVATE CHAMELEON_SHARD=${CMAKE_MATCH_1})
      target_compile_options(${target} PRIVATE ${lines} -foptimize-sibling-calls)
    endif()
    set_target_properties(${target} PROPERTIES
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${runtime_NAME}_objects ${objects} PARENT_SCOPE)
endfunction()
