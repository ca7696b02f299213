# SPDX-License-Identifier: Apache-2.0
# Debian's zlib, linked into the programs: they need no file of it on the machine they run on. Who links the installed
# library names it as the linker does.
find_path(ZLIB_INCLUDE_DIR zlib.h REQUIRED)
find_library(JOULECAST_ZLIB_LIBRARY NAMES libz.a z REQUIRED)
add_library(joulecast_zlib INTERFACE)
target_include_directories(joulecast_zlib SYSTEM INTERFACE $<BUILD_INTERFACE:${ZLIB_INCLUDE_DIR}>)
target_link_libraries(joulecast_zlib INTERFACE $<BUILD_INTERFACE:${JOULECAST_ZLIB_LIBRARY}> $<INSTALL_INTERFACE:z>)
