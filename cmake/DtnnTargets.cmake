# Settings that every target shares, and the two functions that make targets of folders.

set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(LibArchive REQUIRED)
find_package(Threads REQUIRED)
find_package(doctest QUIET)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
# The serial build, linked statically: threads are ours, BLIS's OpenMP build allocates at every call even for one thread, and which
# of Debian's three builds a shared library would get is decided by the machine's alternatives, not by us.
find_path(BLIS_INCLUDE_DIR blis.h PATH_SUFFIXES blis-serial blis REQUIRED)
find_library(BLIS_LIBRARY NAMES libblis.a blis PATH_SUFFIXES blis-serial REQUIRED)

add_library(dtnn_options INTERFACE)
target_include_directories(dtnn_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(dtnn_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -fno-omit-frame-pointer "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(DTNN_SANITIZE)
    # A target may ask to be checked for its memory accesses only (property DTNN_ADDRESS_ONLY).
    string(REPLACE "," "$<COMMA>" sanitizers "${DTNN_SANITIZE}")
    target_compile_options(dtnn_options INTERFACE
        $<IF:$<BOOL:$<TARGET_PROPERTY:DTNN_ADDRESS_ONLY>>,-fsanitize=address,-fsanitize=${sanitizers}>
        -fno-sanitize-recover=all)
    target_link_options(dtnn_options INTERFACE -fsanitize=${DTNN_SANITIZE})
endif()

# dtnn_library(NAME FOLDER... LINK LIB...): a static library of every .cpp directly in the folders.
function(dtnn_library name)
    cmake_parse_arguments(ARG "" "" "FOLDERS;LINK" ${ARGN})
    set(sources)
    foreach(folder ${ARG_FOLDERS})
        file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
        list(APPEND sources ${found})
    endforeach()
    if(NOT sources)
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE dtnn_options ${ARG_LINK})
        return()
    endif()
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC dtnn_options ${ARG_LINK})
endfunction()

# dtnn_test(NAME FOLDER LINK LIB... [CASES WORD...]): a doctest program of every .cpp in the folder, run by CTest; with CASES,
# one CTest entry for the cases whose names hold each word.
function(dtnn_test name folder)
    cmake_parse_arguments(ARG "" "TIMEOUT" "LINK;CASES" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    if(NOT sources)
        return()
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 300)
    endif()
    add_executable(${name} ${sources} ${CMAKE_SOURCE_DIR}/tests/doctest_main.cpp)
    target_link_libraries(${name} PRIVATE dtnn_options ${ARG_LINK})
    if(ARG_CASES)
        foreach(case ${ARG_CASES})
            add_test(NAME ${name}_${case} COMMAND ${name} "--test-case=*${case}*" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
            set_tests_properties(${name}_${case} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
        endforeach()
    else()
        add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
    endif()
endfunction()
