# SPDX-License-Identifier: Apache-2.0
# Vega-Lite draws the pages. npm installs it by web/package-lock.json into the build folder, and a bundle of it is built
# into locus_figures; after that no network is needed. Sets LOCUS_CHARTS_SCRIPT (empty if pages cannot be written) and
# LOCUS_NODE_MODULES.
set(LOCUS_BUILD_WEB AUTO CACHE STRING "Build pages with charts: ON, OFF, or AUTO where npm is installed and works")
set_property(CACHE LOCUS_BUILD_WEB PROPERTY STRINGS AUTO ON OFF)
set(LOCUS_CHARTS_SCRIPT "")
set(LOCUS_NODE_MODULES "")

# `kind`: STATUS if there is no npm, WARNING if npm failed.
function(locus_left_out kind reason)
  if(LOCUS_BUILD_WEB STREQUAL "AUTO")
    message(${kind} "Pages with charts are left out (plots are written as .vl.json): ${reason}")
  else()
    message(FATAL_ERROR "LOCUS_BUILD_WEB=${LOCUS_BUILD_WEB}, but ${reason}")
  endif()
endfunction()

# Searches again for a program that has been removed since the last run.
function(locus_find_again variable name)
  if(${variable} AND NOT EXISTS "${${variable}}")
    unset(${variable} CACHE)
  endif()
  find_program(${variable} ${name})
endfunction()

# Whether the packages of the bundle are present, independent of the stamp.
function(locus_web_is_whole folder result)
  set(${result} TRUE PARENT_SCOPE)
  foreach(name vega vega-lite vega-embed)
    if(NOT EXISTS ${folder}/node_modules/${name}/build/${name}.min.js)
      set(${result} FALSE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Creates ${folder}/installed on success; otherwise LOCUS_WEB_FAILURE has the reason. `npm ci` removes the leftovers of
# an interrupted run.
function(locus_install_web folder)
  set(source ${PROJECT_SOURCE_DIR}/web)
  set(omit --omit=dev)
  if(LOCUS_BUILD_TESTS)
    set(omit "")  # the browser test needs playwright-core
  endif()
  file(SHA256 ${source}/package-lock.json wanted)
  string(APPEND wanted " ${omit}")
  if(EXISTS ${folder}/installed)
    file(READ ${folder}/installed present)
  endif()
  locus_web_is_whole(${folder} whole)
  if(whole AND "${present}" STREQUAL "${wanted}")
    return()
  endif()
  message(STATUS "Installing the chart packages by npm")
  file(REMOVE ${folder}/installed)
  file(COPY ${source}/package.json ${source}/package-lock.json DESTINATION ${folder})
  execute_process(COMMAND ${LOCUS_NPM} ci ${omit} --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1
                  WORKING_DIRECTORY ${folder} RESULT_VARIABLE result OUTPUT_QUIET ERROR_FILE ${folder}/npm.log TIMEOUT 240)
  locus_web_is_whole(${folder} whole)
  if(result STREQUAL "0" AND whole)
    file(WRITE ${folder}/installed "${wanted}")
    return()
  endif()
  unset(LOCUS_NPM CACHE)  # another one may be found next time
  string(CONCAT reason "`npm ci` ended with \"${result}\" and did not install the packages; its output is in "
                       "${folder}/npm.log. Configure again to try again; -DLOCUS_BUILD_WEB=OFF does without")
  set(LOCUS_WEB_FAILURE "${reason}" PARENT_SCOPE)
endfunction()

if(NOT LOCUS_BUILD_WEB STREQUAL "OFF")
  locus_find_again(LOCUS_NPM npm)
  locus_find_again(LOCUS_NODE node)
  set(locus_web ${PROJECT_BINARY_DIR}/web)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               ${PROJECT_SOURCE_DIR}/web/package-lock.json)
  if(NOT LOCUS_NPM OR NOT LOCUS_NODE)
    locus_left_out(STATUS "npm or node was not found")
  else()
    locus_install_web(${locus_web})
    if(EXISTS ${locus_web}/installed)
      set(LOCUS_NODE_MODULES ${locus_web}/node_modules)
      set(LOCUS_CHARTS_SCRIPT ${locus_web}/charts.js)
      add_custom_command(OUTPUT ${LOCUS_CHARTS_SCRIPT}
                         COMMAND ${LOCUS_NODE} ${PROJECT_SOURCE_DIR}/web/bundle.mjs ${LOCUS_NODE_MODULES} ${LOCUS_CHARTS_SCRIPT}
                         DEPENDS ${PROJECT_SOURCE_DIR}/web/bundle.mjs ${locus_web}/installed
                         COMMENT "Making one script of the chart packages" VERBATIM)
      add_custom_target(locus_charts DEPENDS ${LOCUS_CHARTS_SCRIPT})
    else()
      locus_left_out(WARNING "${LOCUS_WEB_FAILURE}")
    endif()
  endif()
endif()
