# Run by cpack on what it has laid out for packages.
file(GLOB_RECURSE texts ${CPACK_TEMPORARY_DIRECTORY}/*.1 ${CPACK_TEMPORARY_DIRECTORY}/changelog.Debian)
list(FILTER texts INCLUDE REGEX "/man1/|/doc/")
if(texts AND CPACK_GENERATOR STREQUAL "DEB")
    execute_process(COMMAND gzip -9 -n ${texts} COMMAND_ERROR_IS_FATAL ANY)
endif()
