#!/bin/sh
# The elements of an object of SpiderMonkey, a vector of NTL, a language of Pango, a block of Z3,
# the bytes of a message of libcoap, what libcap allocates, and an array of libyang are reachable by
# a pointer behind their header.
. tests/lib.sh

build blocks tests/reach/library_headers.c
lost_blocks "$W/blocks" 0 33
