#!/bin/sh
# A slab of operations of Perl is reachable by a pointer to an operation in it.
. tests/lib.sh
without_stale_pointers

build slabs tests/reach/perl_slabs.c
lost_blocks "$W/slabs" 3 5
