# Settings that every target shares, and the two functions that make targets of folders.

set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")

# What makes builds quicker is used where it is installed.
find_program(DTNN_CCACHE ccache)
if(DTNN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${DTNN_CCACHE})
endif()
find_program(DTNN_LINKER NAMES mold ld.lld)
if(DTNN_LINKER AND NOT DTNN_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    get_filename_component(linker ${DTNN_LINKER} NAME)
    string(REGEX REPLACE "^ld\\." "" linker ${linker})
    add_link_options(-fuse-ld=${linker})
endif()

add_library(dtnn_options INTERFACE)
target_include_directories(dtnn_options INTERFACE ${CMAKE_SOURCE_DIR})
# For C++ alone: nvcc has warnings of its own.
target_compile_options(dtnn_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-fno-omit-frame-pointer;-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 sees std::string read and write past its ends where it does not (GCC's bugs 105329 and 105651); the address sanitizer
    # looks at run time. Collecting garbage is a fifteenth of the time of a group: it begins at 500 MB.
    target_compile_options(dtnn_options INTERFACE
        "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-restrict>"
        "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=500000>")
endif()
if(DTNN_SANITIZE)
    # A target may ask to be checked for its memory accesses only (property DTNN_ADDRESS_ONLY).
    string(REPLACE "," "$<COMMA>" sanitizers "${DTNN_SANITIZE}")
    target_compile_options(dtnn_options INTERFACE
        $<IF:$<BOOL:$<TARGET_PROPERTY:DTNN_ADDRESS_ONLY>>,-fsanitize=address,-fsanitize=${sanitizers}>
        -fno-sanitize-recover=all
        # GCC takes variants and optionals that sanitizers watch for values that nobody has set.
        $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(dtnn_options INTERFACE -fsanitize=${DTNN_SANITIZE})
endif()

# Sources are compiled in groups, so that headers are read, and templates instantiated, once for many: a group of twenty takes
# about half of the time that its sources take one by one. DTNN_UNITY=OFF compiles each by itself, as clang-tidy wants it.
option(DTNN_UNITY "Compile sources in groups" ON)

# Where no time is spent at run time (the front end, comparisons, commands, tests), -Og builds in two thirds of the time of -O2.
set(DTNN_QUICK_OPTIONS $<$<CONFIG:Release>:-Og>)

# dtnn_build_as(TARGET full|quick COUNT): with that kind's options, in groups of COUNT sources. Names in anonymous namespaces are
# therefore to differ within a target. Sources with options or definitions of their own are compiled by themselves.
function(dtnn_build_as target kind count)
    if(kind STREQUAL "quick")
        target_compile_options(${target} PRIVATE ${DTNN_QUICK_OPTIONS})
    endif()
    if(DTNN_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
        # GCC takes a class of a source for one of a header, which others could see.
        target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
endfunction()

# dtnn_sources(VARIABLE FOLDER...): every .cpp in the folders and in those inside them.
function(dtnn_sources variable)
    set(sources)
    foreach(folder ${ARGN})
        file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
        list(APPEND sources ${found})
    endforeach()
    set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# dtnn_library(NAME FOLDERS FOLDER... LINK LIB... GROUP COUNT [QUICK] [EXCLUDE REGEX]): a static library of every .cpp in the folders
# and in those inside them, but for those whose paths match.
function(dtnn_library name)
    cmake_parse_arguments(ARG "QUICK" "GROUP;EXCLUDE" "FOLDERS;LINK" ${ARGN})
    dtnn_sources(sources ${ARG_FOLDERS})
    if(ARG_EXCLUDE)
        list(FILTER sources EXCLUDE REGEX "${ARG_EXCLUDE}")
    endif()
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC dtnn_options ${ARG_LINK})
    if(ARG_QUICK)
        dtnn_build_as(${name} quick ${ARG_GROUP})
    else()
        dtnn_build_as(${name} full ${ARG_GROUP})
    endif()
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
    if(DTNN_SANITIZE)
        math(EXPR ARG_TIMEOUT "4 * ${ARG_TIMEOUT}")
    endif()
    # doctest itself and main, compiled once.
    if(NOT TARGET dtnn_doctest_main)
        add_library(dtnn_doctest_main OBJECT ${CMAKE_SOURCE_DIR}/tests/doctest_main.cpp)
        target_link_libraries(dtnn_doctest_main PRIVATE dtnn_options)
    endif()
    add_executable(${name} ${sources} $<TARGET_OBJECTS:dtnn_doctest_main>)
    target_link_libraries(${name} PRIVATE dtnn_options ${ARG_LINK})
    dtnn_build_as(${name} quick 20)
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
