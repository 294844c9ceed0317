#!/bin/sh
# The tracer knows at which system calls a seccomp filter ends the process.
. tests/lib.sh

build filters tests/process/seccomp_random_filters.c
LEAKWRAP_OPTIONS=exit=0 "$W/filters" 1 >"$W/out" 2>&1
status=$?
[ $status -ne 77 ] || skip "no seccomp filters here"
equal "$(cat "$W/out"): status" $status 0
