# SPDX-License-Identifier: Apache-2.0
# Debian has fmt as a shared library only, which brings the shared C++ library along: together they double the cost of
# starting the program. So the one file that fmt compiles is compiled here, and goes by fmt's usual target name.
if(NOT TARGET fmt::fmt)
  find_path(FMT_INCLUDE_DIR fmt/format-inl.h REQUIRED)
  add_library(joulecast_fmt STATIC ${PROJECT_SOURCE_DIR}/src/base/fmt_library.cpp)
  target_include_directories(joulecast_fmt SYSTEM PUBLIC $<BUILD_INTERFACE:${FMT_INCLUDE_DIR}>)
  set_target_properties(joulecast_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON)
  add_library(fmt::fmt ALIAS joulecast_fmt)
endif()
