#!/bin/sh
# An object is reachable by a pointer to a base class without virtual functions, behind the address
# of its vtable.
. tests/lib.sh

build_cxx bases tests/reach/plain_bases.cpp
lost_blocks "$W/bases" 1 2
