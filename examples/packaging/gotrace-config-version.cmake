# The version is in the header. What a program may expect of another version: see >>version there.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../../include/gotrace.h" gotrace_line REGEX "^#define GOTRACE_VERSION \"")
string(REGEX REPLACE ".*\"(.*)\"" "\\1" PACKAGE_VERSION "${gotrace_line}")

string(REGEX MATCH "^(0\\.[0-9]+|[1-9][0-9]*)" gotrace_has "${PACKAGE_VERSION}")
string(REGEX MATCH "^(0\\.[0-9]+|[1-9][0-9]*)" gotrace_wants "${PACKAGE_FIND_VERSION}")
if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(gotrace_has STREQUAL gotrace_wants AND PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
