#!/usr/bin/env bash
set -eu
cmake -S . -B build -G Ninja $CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$PREFIX" \
    -DDTNN_BUILD_TESTS=OFF -DDTNN_INSTRUCTION_SETS=all -DDTNN_CUDA=OFF -DDTNN_MPI=mpich
cmake --build build
cmake --install build
