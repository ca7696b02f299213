# SPDX-License-Identifier: Apache-2.0
# Debian's yaml-cpp, linked into the one program that reads YAML: others shall not need it on the machine they run on.
find_path(YAML_CPP_INCLUDE_DIR yaml-cpp/yaml.h REQUIRED)
find_library(YAML_CPP_LIBRARY NAMES libyaml-cpp.a yaml-cpp REQUIRED)
add_library(joulecast_yaml INTERFACE)
target_include_directories(joulecast_yaml SYSTEM INTERFACE ${YAML_CPP_INCLUDE_DIR})
target_link_libraries(joulecast_yaml INTERFACE ${YAML_CPP_LIBRARY})
