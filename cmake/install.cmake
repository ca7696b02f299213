# SPDX-License-Identifier: Apache-2.0
# What a package has: programs, the shipped pack, and the library for `find_package(joulecast)`. The library's parts are
# one target to its users; those that only the programs need (fit, evaluate, cli) stay out.
include(CMakePackageConfigHelpers)

set(parts joulecast_fmt joulecast_libdeflate joulecast_base joulecast_graph joulecast_gpu_file joulecast_gpu joulecast_import
          joulecast_series joulecast_dataset joulecast_trees joulecast_pack joulecast_predict joulecast_marks)
if(NOT TARGET joulecast_fmt) # the project around us has brought its own fmt
  list(REMOVE_ITEM parts joulecast_fmt)
endif()

add_library(joulecast_library INTERFACE)
add_library(joulecast::joulecast ALIAS joulecast_library)
set_target_properties(joulecast_library PROPERTIES EXPORT_NAME joulecast)
target_compile_features(joulecast_library INTERFACE cxx_std_20)
target_link_libraries(joulecast_library INTERFACE joulecast_predict joulecast_import joulecast_gpu joulecast_graph)

# In C, and for programs that need nothing else of ours.
add_library(joulecast::marks ALIAS joulecast_marks)
set_target_properties(joulecast_marks PROPERTIES EXPORT_NAME marks)

install(FILES data/packs/joulecast.jcpack DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast)
install(DIRECTORY python/hook/ DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast/hook
        FILES_MATCHING PATTERN "*.py" PATTERN tests EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY tools/zoo DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast
        FILES_MATCHING PATTERN "*.py" PATTERN "*.txt" PATTERN "*.sh" PATTERN __pycache__ EXCLUDE)
install(DIRECTORY include/joulecast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS joulecast_library ${parts} EXPORT joulecast ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/joulecast)
install(EXPORT joulecast NAMESPACE joulecast:: FILE joulecastConfig.cmake DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/joulecastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/joulecastConfigVersion.cmake DESTINATION ${package})

# For `pkg-config joulecast`, wherever the tree is moved to.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/joulecast.pc.in ${PROJECT_BINARY_DIR}/joulecast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/joulecast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
