#!/bin/sh
# A coroutine is reachable by the address of its promise.
. tests/lib.sh

build_cxx coroutines tests/reach/coroutines.cpp -std=c++20
lost_blocks "$W/coroutines" 1 6
