# SPDX-License-Identifier: Apache-2.0
# Debian's libdeflate, linked into the programs: they need no file of it on the machine they run on. Who links the
# installed library names it as the linker does.
find_path(LIBDEFLATE_INCLUDE_DIR libdeflate.h REQUIRED)
find_library(JOULECAST_LIBDEFLATE_LIBRARY NAMES libdeflate.a deflate REQUIRED)
add_library(joulecast_libdeflate INTERFACE)
target_include_directories(joulecast_libdeflate SYSTEM INTERFACE $<BUILD_INTERFACE:${LIBDEFLATE_INCLUDE_DIR}>)
target_link_libraries(joulecast_libdeflate INTERFACE $<BUILD_INTERFACE:${JOULECAST_LIBDEFLATE_LIBRARY}>
                                                     $<INSTALL_INTERFACE:deflate>)
