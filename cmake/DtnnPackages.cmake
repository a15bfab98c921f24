# Packages by `cpack -G DEB` and `cpack -G RPM` in the build folder (packaging/README.md), one of each part of the
# installation: who needs no code generation, ranks or devices installs no LLVM, MPI or CUDA. What they depend on is found
# from what they are linked with.
#
# dtnn_part(PART TARGET PACKAGE SUMMARY TEXT): nothing where the target is not built.
set(CPACK_COMPONENTS_ALL "")
function(dtnn_part part target package summary text)
    if(NOT TARGET ${target})
        return()
    endif()
    string(TOUPPER ${part} PART)
    set(parts ${CPACK_COMPONENTS_ALL} ${part})
    set(CPACK_COMPONENTS_ALL ${parts} PARENT_SCOPE)
    set(CPACK_COMPONENT_${PART}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${PART}_PACKAGE_NAME ${package} PARENT_SCOPE)
    set(CPACK_RPM_${PART}_PACKAGE_NAME ${package} PARENT_SCOPE)
    set(CPACK_RPM_${PART}_PACKAGE_SUMMARY "${summary}" PARENT_SCOPE)
    set(CPACK_RPM_${PART}_PACKAGE_DESCRIPTION "${text}" PARENT_SCOPE)
    set(needs dtnn)
    if(part STREQUAL development)
        set(needs libdtnn1)
        set(CPACK_DEBIAN_${PART}_PACKAGE_SECTION libdevel PARENT_SCOPE)
    elseif(part STREQUAL library)
        set(CPACK_DEBIAN_${PART}_PACKAGE_SECTION libs PARENT_SCOPE)
        set(CPACK_DEBIAN_${PART}_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/library/shlibs
            ${CMAKE_SOURCE_DIR}/packaging/debian/library/triggers PARENT_SCOPE)
    endif()
    if(NOT part STREQUAL runtime)
        set(CPACK_DEBIAN_${PART}_PACKAGE_DEPENDS "${needs} (= ${PROJECT_VERSION}-1)" PARENT_SCOPE)
        set(CPACK_RPM_${PART}_PACKAGE_REQUIRES "${needs} = ${PROJECT_VERSION}" PARENT_SCOPE)
    endif()
    # Debian wants them with every package; installed otherwise they are left out.
    set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package})
    install(FILES ${CMAKE_SOURCE_DIR}/packaging/debian/copyright DESTINATION ${folder} COMPONENT ${part} EXCLUDE_FROM_ALL)
    set(DTNN_PACKAGE ${package})
    configure_file(${CMAKE_SOURCE_DIR}/packaging/debian/changelog.in ${CMAKE_BINARY_DIR}/packages/${package}/changelog.Debian @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/packages/${package}/changelog.Debian DESTINATION ${folder} COMPONENT ${part} EXCLUDE_FROM_ALL)
    install(FILES ${CMAKE_SOURCE_DIR}/packaging/debian/overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
            RENAME ${package} COMPONENT ${part} EXCLUDE_FROM_ALL)
endfunction()

# Whoever makes packages is their maintainer, and says it as Debian's own tools are told.
set(DTNN_MAINTAINER "The dtnn authors <packages@dtnn.invalid>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
    set(DTNN_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
string(TIMESTAMP DTNN_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)

dtnn_part(runtime dtnn-run dtnn "compiler and runtime for training neural networks on clusters"
    "Jobs are YAML specs, which dtnnc checks and makes plans of;\ndtnn-run runs exactly that plan.")
dtnn_part(library dtnn libdtnn1 "training and inference of dtnn in a program's own process"
    "The library that include/dtnn.h declares.")
dtnn_part(development dtnn libdtnn-dev "header of dtnn's library, for CMake and pkg-config"
    "What programs in C and C++ are compiled and linked with.")
dtnn_part(mpich dtnn_mpich dtnn-mpich "ranks of dtnn that meet by MPICH"
    "dtnn-run opens it for a plan of several ranks;\nit serves every MPI of MPICH's ABI.")
dtnn_part(openmpi dtnn_openmpi dtnn-openmpi "ranks of dtnn that meet by Open MPI"
    "dtnn-run opens it for a plan of several ranks.")
dtnn_part(codegen dtnn_codegen dtnn-codegen "machine code for elementwise expressions of dtnn"
    "dtnn-run opens it to have LLVM make loops of a plan's expressions.")
dtnn_part(cuda dtnn_cuda dtnn-cuda "devices of dtnn by CUDA"
    "dtnn-run opens it for a plan for NVIDIA's devices.")

set(CPACK_PACKAGE_NAME dtnn)
set(CPACK_PACKAGE_VENDOR "The dtnn authors")
set(CPACK_PACKAGE_CONTACT "${DTNN_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each part has its own
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
# Manual pages and changelogs are compressed as Debian wants them.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/debian/compress.cmake)

# Left to themselves both take the machine that builds.
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${DTNN_DEBIAN_ARCHITECTURE}")
set(CPACK_RPM_PACKAGE_ARCHITECTURE ${DTNN_ARCHITECTURE})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# NVIDIA's libraries are rarely of packages that Debian knows; those that are, dtnn needs as well, but for this one.
set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)
string(APPEND CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS ", libc6")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT runtime)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_AUTOREQPROV ON)
# Folders that the distribution's own packages have.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/site-functions /usr/share/fish
    /usr/share/fish/vendor_completions.d /usr/lib/pkgconfig /usr/lib/cmake)
include(CPack)
