#!/bin/sh
# The stack of a fiber or a coroutine of Boost is reachable by a pointer into it.
. tests/lib.sh

build stacks tests/reach/boost_stacks.c
lost_blocks "$W/stacks" 0 3
