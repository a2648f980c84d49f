# SPDX-License-Identifier: Apache-2.0
# cmake/web.cmake in a project that has nothing else, with an npm made up here: one that fails half-way is said and left
# out, one that works repairs what it left, and nothing is got twice.
# cmake -DSOURCE=... -DFOLDER=... -DGENERATOR=... -P npm_test.cmake
file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.22)\nproject(npm_test NONE)\ninclude(${SOURCE}/cmake/web.cmake)\n")
file(WRITE ${FOLDER}/web/package.json "{}")
file(WRITE ${FOLDER}/web/package-lock.json "{}")

function(make_program name body)
  file(WRITE ${FOLDER}/${name} "#!/bin/sh\n${body}\n")
  file(CHMOD ${FOLDER}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
# Every call leaves a line in calls.
make_program(node "exit 0")
make_program(failing_npm "echo x >> ${FOLDER}/calls; mkdir -p node_modules/vega/build; touch node_modules/vega/build/vega.min.js
echo made up: no network >&2; exit 1")
make_program(working_npm "echo x >> ${FOLDER}/calls; rm -rf node_modules
for one in vega vega-lite vega-embed; do mkdir -p node_modules/$one/build; touch node_modules/$one/build/$one.min.js; done")
# Says that all went well and got nothing.
make_program(lying_npm "echo x >> ${FOLDER}/calls; rm -rf node_modules; exit 0")

function(configure npm)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${FOLDER} -B ${FOLDER}/build -G ${GENERATOR} -DLOCUS_NPM=${FOLDER}/${npm}
                          -DLOCUS_NODE=${FOLDER}/node ${ARGN}
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")  # messages are wrapped
  set(code ${code} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()
macro(expect what)
  if(NOT (${ARGN}))
    message(SEND_ERROR "not so: ${what}\nwith ${code}: ${text}")
  endif()
endmacro()
macro(expect_calls count)
  file(STRINGS ${FOLDER}/calls calls)
  list(LENGTH calls called)
  expect("npm was called ${count} times, not ${called}" called EQUAL ${count})
endmacro()

configure(failing_npm)
expect("the rest is configured" code EQUAL 0)
expect("what failed is said" text MATCHES "Pages with charts are left out .*`npm ci` ended with \"1\".*web/npm.log")
expect("nothing is built of half the packages" NOT EXISTS ${FOLDER}/build/web/installed)
file(READ ${FOLDER}/build/web/npm.log log)
expect("npm's words are kept" log MATCHES "no network")

configure(failing_npm -DLOCUS_BUILD_WEB=ON)
expect("ON is an error" NOT code EQUAL 0)
expect("ON says why" text MATCHES "LOCUS_BUILD_WEB=ON, but `npm ci` ended with \"1\"")

configure(lying_npm -DLOCUS_BUILD_WEB=AUTO)
expect("packages are looked for, not believed in" text MATCHES "Pages with charts are left out")

configure(working_npm)
expect("a working npm repairs it" code EQUAL 0 AND EXISTS ${FOLDER}/build/web/installed)
expect("and nothing is left out" NOT text MATCHES "left out")
expect_calls(4)
configure(working_npm)
expect_calls(4)

file(REMOVE ${FOLDER}/build/web/node_modules/vega-lite/build/vega-lite.min.js)
configure(working_npm)
expect("what was lost is got again" EXISTS ${FOLDER}/build/web/node_modules/vega-lite/build/vega-lite.min.js)
expect_calls(5)

configure(failing_npm -DLOCUS_BUILD_WEB=OFF)
expect("OFF is fine" code EQUAL 0)
expect_calls(5)
