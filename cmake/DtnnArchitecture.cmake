# What depends on the processor that is built for: a row for each architecture, and one for each set of instructions beyond what
# all of its processors have (`baseline`, for which the compiler is asked for nothing). How processors are asked what they have is
# kernels/catalogue/host_isa.cpp; what C++ has no words for is kernels/architecture.hpp.
#   DTNN_ARCHITECTURE          its name, as the system and RPM have it
#   DTNN_DEBIAN_ARCHITECTURE   as Debian has it
#   DTNN_EVERY_SET             the sets that CPU kernels can be made for, in the order of enum Isa
#   DTNN_OPTIONS_(SET)         the compiler's options for each of them
#   DTNN_GENERATES_CODE        whether kernels/codegen makes machine code for it

# dtnn_architecture(NAME PROCESSORS REGEX DEBIAN NAME SETS SET... [OPTIONS OPTION...] [GENERATES_CODE]): `PROCESSORS` are those of
# CMake, `OPTIONS` those of every C++ source.
function(dtnn_architecture name)
    cmake_parse_arguments(ARG "GENERATES_CODE" "PROCESSORS;DEBIAN" "SETS;OPTIONS" ${ARGN})
    if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(${ARG_PROCESSORS})$")
        return()
    endif()
    set(DTNN_ARCHITECTURE ${name} PARENT_SCOPE)
    set(DTNN_DEBIAN_ARCHITECTURE ${ARG_DEBIAN} PARENT_SCOPE)
    set(DTNN_EVERY_SET ${ARG_SETS} PARENT_SCOPE)
    set(DTNN_GENERATES_CODE ${ARG_GENERATES_CODE} PARENT_SCOPE)
    if(ARG_OPTIONS)
        add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${ARG_OPTIONS}>")
    endif()
endfunction()

# Where the compiler knows the architecture and this table does not.
set(DTNN_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
set(DTNN_DEBIAN_ARCHITECTURE "")
set(DTNN_EVERY_SET baseline)
set(DTNN_GENERATES_CODE FALSE)

dtnn_architecture(x86_64 PROCESSORS "x86_64|AMD64" DEBIAN amd64 SETS baseline avx2 avx512 avx512_bf16 amx GENERATES_CODE)
# Its baseline multiplies and adds with one rounding, which is for CPU kernels alone (they say so themselves): elsewhere a formula that
# stands in two places has one result.
dtnn_architecture(aarch64 PROCESSORS "aarch64|arm64" DEBIAN arm64 SETS baseline OPTIONS -ffp-contract=off)

set(DTNN_OPTIONS_baseline)
set(DTNN_OPTIONS_avx2 -march=x86-64-v3)
set(DTNN_OPTIONS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
set(DTNN_OPTIONS_avx512_bf16 ${DTNN_OPTIONS_avx512} -mavx512bf16)
set(DTNN_OPTIONS_amx ${DTNN_OPTIONS_avx512_bf16} -mamx-tile -mamx-bf16)
