#!/bin/sh
# What omp_alloc of GCC has returned is reachable, although the block begins in front of it.
. tests/lib.sh

command -v gcc >"$W/which" || skip "no gcc"
CC=gcc
CFLAGS_FOR_TESTS="$CFLAGS_FOR_TESTS -fopenmp"
echo '#include <omp.h>
void *volatile kept;
int main(void) { kept = omp_alloc(8, omp_default_mem_alloc); return !kept; }' >"$W/plain.c"
gcc -fopenmp -o "$W/plain" "$W/plain.c" 2>"$W/errors" || skip "libgomp has no omp_alloc"
build blocks tests/reach/omp_alloc.c
lost_blocks "$W/blocks" 0 1
