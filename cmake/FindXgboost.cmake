# SPDX-License-Identifier: Apache-2.0
# Debian 12's own xgboost-config.cmake names a static library that the package does not contain.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h)
find_library(XGBOOST_LIBRARY xgboost)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Xgboost REQUIRED_VARS XGBOOST_LIBRARY XGBOOST_INCLUDE_DIR)
if(Xgboost_FOUND AND NOT TARGET Xgboost::xgboost)
  add_library(Xgboost::xgboost UNKNOWN IMPORTED)
  set_target_properties(Xgboost::xgboost PROPERTIES IMPORTED_LOCATION ${XGBOOST_LIBRARY}
                                                    INTERFACE_INCLUDE_DIRECTORIES ${XGBOOST_INCLUDE_DIR})
endif()
