# SPDX-License-Identifier: Apache-2.0
# The script that draws the charts of `joulecast report`, made of packages in the user's cache. Nothing is fetched here:
# tools/install_dependencies.sh does that, and without it everything is built but those charts.
find_package(Python3 COMPONENTS Interpreter)
set(charts_library ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/charts.js)
set(charts_result 1)
if(Python3_FOUND)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/charts/library.py bundle
                          --output ${charts_library} RESULT_VARIABLE charts_result)
endif()
if(charts_result EQUAL 0)
  install(FILES ${charts_library} DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast)
elseif(EXISTS ${charts_library}) # made earlier, from a cache that was emptied since
  install(FILES ${charts_library} DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast)
else()
  message(STATUS "joulecast report will have no charts: tools/charts/library.py fetch gets what draws them")
endif()
