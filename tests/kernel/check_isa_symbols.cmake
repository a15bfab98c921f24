# Fails when an object file of kernels/cpu defines a symbol that the linker may merge with one of another instruction
# set: then a function compiled for AVX-512 could run on a machine without it.
#   cmake -DNM=nm -DISA=avx512 -DOBJECTS=a.o,b.o -P check_isa_symbols.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
set(leaks)
foreach(object ${objects})
    execute_process(COMMAND ${NM} -C --defined-only ${object} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "${NM} cannot read ${object}")
    endif()
    string(REPLACE ";" "," symbols "${symbols}")
    string(REPLACE "\n" ";" symbols "${symbols}")
    foreach(symbol ${symbols})
        # W, V, u: weak or unique, from an inline function, a template or an inline variable. nm leaves
        # some names as they are mangled (an extent that depends on a type, lambdas within lambdas):
        # there a name stands behind its length, and a digit follows.
        if(symbol MATCHES "^[0-9a-f]* [WVu] " AND NOT symbol MATCHES "isa_${ISA}::"
           AND NOT symbol MATCHES " _Z[A-Za-z0-9_]*[0-9]isa_${ISA}[0-9]")
            list(APPEND leaks "${object}: ${symbol}")
        endif()
    endforeach()
endforeach()
if(leaks)
    list(JOIN leaks "\n  " leaks)
    message(FATAL_ERROR "symbols outside namespace isa_${ISA} (see kernels/cpu/README.md):\n  ${leaks}")
endif()
