# The libraries that every build needs. All are looked for before any is said to be missing, with what package managers call it.

# dtnn_need(NAME FOUND APT DNF ZYPPER SPACK CONDA)
function(dtnn_need name found apt dnf zypper spack conda)
    if(found)
        return()
    endif()
    set_property(GLOBAL APPEND PROPERTY dtnn_missing ${name})
    foreach(manager apt dnf zypper spack conda)
        set_property(GLOBAL APPEND PROPERTY dtnn_missing_${manager} ${${manager}})
    endforeach()
endfunction()

find_package(fmt QUIET)
find_package(nlohmann_json QUIET)
find_package(yaml-cpp QUIET)
find_package(ZLIB QUIET)
find_package(JPEG QUIET)
find_package(PNG QUIET)
find_package(LibArchive QUIET)
find_path(XXHASH_INCLUDE_DIR xxhash.h)
find_library(XXHASH_LIBRARY xxhash)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
# The serial build, linked statically: threads are ours, BLIS's OpenMP build allocates at every call even for one thread, and which
# of Debian's three builds a shared library would get is decided by the machine's alternatives, not by us.
find_path(BLIS_INCLUDE_DIR blis.h PATH_SUFFIXES blis-serial blis)
find_library(BLIS_LIBRARY NAMES libblis.a blis PATH_SUFFIXES blis-serial)

foreach(library XXHASH BLIS)
    set(${library}_FOUND FALSE)
    if(${library}_INCLUDE_DIR AND ${library}_LIBRARY)
        set(${library}_FOUND TRUE)
    endif()
endforeach()
#         what          found                    apt                 dnf               zypper              Spack         conda
dtnn_need(fmt           "${fmt_FOUND}"           libfmt-dev          fmt-devel         fmt-devel           fmt           fmt)
dtnn_need(nlohmann-json "${nlohmann_json_FOUND}" nlohmann-json3-dev  json-devel        nlohmann_json-devel nlohmann-json nlohmann_json)
dtnn_need(yaml-cpp      "${yaml-cpp_FOUND}"      libyaml-cpp-dev     yaml-cpp-devel    yaml-cpp-devel      yaml-cpp      yaml-cpp)
dtnn_need(zlib          "${ZLIB_FOUND}"          zlib1g-dev          zlib-devel        zlib-devel          zlib          zlib)
dtnn_need(libjpeg       "${JPEG_FOUND}"          libjpeg-dev         libjpeg-turbo-devel libjpeg8-devel    libjpeg-turbo libjpeg-turbo)
dtnn_need(libpng        "${PNG_FOUND}"           libpng-dev          libpng-devel      libpng16-devel      libpng        libpng)
dtnn_need(libarchive    "${LibArchive_FOUND}"    libarchive-dev      libarchive-devel  libarchive-devel    libarchive    libarchive)
dtnn_need(xxHash        "${XXHASH_FOUND}"        libxxhash-dev       xxhash-devel      xxhash-devel        xxhash        xxhash)
dtnn_need(CLI11         "${CLI11_INCLUDE_DIR}"   libcli11-dev        cli11-devel       cli11-devel         cli11         cli11)
dtnn_need(BLIS          "${BLIS_FOUND}"          libblis-serial-dev  blis-devel        blis-devel          blis          blis)

# Debian's packages, unpacked into a prefix by somebody without root, have headers of the architecture (jconfig.h, zconf.h) in a folder
# beside the others, which compilers look into under /usr alone.
foreach(include "${JPEG_INCLUDE_DIR}" "${ZLIB_INCLUDE_DIR}" "${PNG_PNG_INCLUDE_DIR}" "${LibArchive_INCLUDE_DIR}")
    if(CMAKE_LIBRARY_ARCHITECTURE AND NOT include STREQUAL "/usr/include" AND EXISTS "${include}/${CMAKE_LIBRARY_ARCHITECTURE}")
        include_directories(SYSTEM "${include}/${CMAKE_LIBRARY_ARCHITECTURE}")
    endif()
endforeach()

get_property(dtnn_missing GLOBAL PROPERTY dtnn_missing)
if(dtnn_missing)
    foreach(manager apt dnf zypper spack conda)
        get_property(packages GLOBAL PROPERTY dtnn_missing_${manager})
        list(JOIN packages " " dtnn_missing_${manager})
    endforeach()
    list(JOIN dtnn_missing ", " dtnn_missing)
    message(FATAL_ERROR "These libraries are not found: ${dtnn_missing}\n"
        "Install them, with one of\n"
        "  apt-get install ${dtnn_missing_apt}\n"
        "  dnf install ${dtnn_missing_dnf}    (Rocky and Alma: from EPEL and CRB)\n"
        "  zypper install ${dtnn_missing_zypper}\n"
        "  spack install ${dtnn_missing_spack}\n"
        "  conda install -c conda-forge ${dtnn_missing_conda}\n"
        "and name the folder that they lie in where it is not the system's: cmake -DCMAKE_PREFIX_PATH=FOLDER")
endif()

find_package(Threads REQUIRED)
# What is optional says so where it is used.
find_package(doctest QUIET)
# The contexts of BLIS's kernels by name of the processor (kernels/blis_kernels.cpp): a static library has them, a shared one
# may keep them to itself.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${BLIS_INCLUDE_DIR})
set(CMAKE_REQUIRED_LIBRARIES ${BLIS_LIBRARY} Threads::Threads m)
check_cxx_source_compiles("#include <blis.h>
int main() { return bli_gks_lookup_nat_cntx(BLIS_ARCH_HASWELL) == nullptr; }" DTNN_BLIS_CONTEXTS)
unset(CMAKE_REQUIRED_INCLUDES)

# A static library that wants others, or one for another processor, would be noticed by the linker alone, after the compiler's minutes.
set(CMAKE_REQUIRED_LIBRARIES JPEG::JPEG PNG::PNG LibArchive::LibArchive ZLIB::ZLIB ${XXHASH_LIBRARY})
check_cxx_source_compiles("extern \"C\" { void jpeg_std_error(); void png_get_io_ptr(); void archive_read_support_format_all();
void archive_read_support_filter_all(); void inflate(); void XXH3_64bits_reset(); }
int main() { jpeg_std_error(); png_get_io_ptr(); archive_read_support_format_all(); archive_read_support_filter_all();
inflate(); XXH3_64bits_reset(); }" DTNN_LIBRARIES_LINK)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT DTNN_LIBRARIES_LINK)
    unset(DTNN_LIBRARIES_LINK CACHE)
    message(FATAL_ERROR "A program does not link with these libraries, of which one may be static and want others, or be for another "
        "processor:\n  ${JPEG_LIBRARY_RELEASE} ${PNG_LIBRARY_RELEASE} ${LibArchive_LIBRARY} ${ZLIB_LIBRARY_RELEASE} ${XXHASH_LIBRARY}\n"
        "${CMAKE_BINARY_DIR}/CMakeFiles/CMakeError.log has the linker's words. Name a folder that has them whole: "
        "cmake -DCMAKE_PREFIX_PATH=FOLDER")
endif()
