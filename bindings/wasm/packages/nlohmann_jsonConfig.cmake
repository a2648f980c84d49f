# SPDX-License-Identifier: Apache-2.0
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${LOCUS_HOST_HEADERS})
