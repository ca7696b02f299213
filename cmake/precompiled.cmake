# SPDX-License-Identifier: Apache-2.0
# Standard headers that most files include, parsed once for all: parsing them takes most of a small file's time. Files include
# what they use all the same: clang-tidy reads them without these, as does a build with CMAKE_DISABLE_PRECOMPILE_HEADERS.
set(JOULECAST_STANDARD_HEADERS
    <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <filesystem> <fmt/format.h> <fstream> <functional> <map>
    <memory> <numeric> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)

# joulecast_precompiled(name HEADERS <a> ... LINK fmt::fmt): parsed with the options that `name` has at its end.
function(joulecast_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

joulecast_precompiled(joulecast_part_headers HEADERS ${JOULECAST_STANDARD_HEADERS} LINK fmt::fmt)
joulecast_part_options(joulecast_part_headers)
if(JOULECAST_DEVELOPER)
  joulecast_precompiled(joulecast_test_headers HEADERS ${JOULECAST_STANDARD_HEADERS} <gtest/gtest.h>
                        LINK fmt::fmt GTest::gtest)
  joulecast_test_options(joulecast_test_headers)
endif()
