# SPDX-License-Identifier: Apache-2.0
# One small static library a part, and its unit tests beside the code.

set(JOULECAST_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
                       -Wnull-dereference)

# joulecast_part(graph SOURCES a.cpp ... PUBLIC joulecast_base PRIVATE fmt::fmt)
function(joulecast_part part)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(joulecast_${part} STATIC ${ARG_SOURCES})
  target_include_directories(joulecast_${part} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(joulecast_${part} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  joulecast_part_options(joulecast_${part})
  target_precompile_headers(joulecast_${part} REUSE_FROM joulecast_part_headers)
endfunction()

function(joulecast_part_options target)
  # libjoulecast.so is made of them. Nobody replaces their functions from outside, so calls may be inlined all the same.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
  joulecast_warnings(${target})
endfunction()

# joulecast_part_test(graph SOURCES a_test.cpp ... LINK ... TEST_FILTER ...): one test program a part, every case (that the
# filter of GoogleTest lets pass) a ctest test.
function(joulecast_part_test part)
  if(NOT JOULECAST_DEVELOPER)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TEST_FILTER" "SOURCES;LINK" ${ARGN})
  add_executable(${part}_test ${ARG_SOURCES})
  target_include_directories(${part}_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${part}_test PRIVATE JOULECAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                  JOULECAST_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${part}_test PRIVATE joulecast_${part} ${ARG_LINK} GTest::gtest GTest::gtest_main fmt::fmt)
  joulecast_test_options(${part}_test)
  target_precompile_headers(${part}_test REUSE_FROM joulecast_test_headers)
  include(GoogleTest)
  if(ARG_TEST_FILTER)
    set(filter TEST_FILTER ${ARG_TEST_FILTER})
  endif()
  gtest_discover_tests(${part}_test TEST_PREFIX ${part}. DISCOVERY_TIMEOUT 60 ${filter})
endfunction()

function(joulecast_test_options target)
  # Optimising GoogleTest's macros takes as long as everything else about them, and what is tested is optimised itself.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  joulecast_warnings(${target})
endfunction()

function(joulecast_warnings target)
  if(JOULECAST_DEVELOPER)
    target_compile_options(${target} PRIVATE ${JOULECAST_WARNINGS} -Werror)
    # GCC 12 reports these falsely once the optimiser has inlined std::vector and std::string. -Wrestrict is off and not
    # only no error: at -O3 it finds overlapping copies in `"text" + std::string` all over (GCC bug 105651, mended in 13).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-null-dereference -Wno-restrict -Wno-error=array-bounds
                                               -Wno-error=stringop-overflow -Wno-error=maybe-uninitialized
                                               -Wno-error=stringop-overread)
    endif()
  endif()
endfunction()
