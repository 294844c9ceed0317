#!/bin/sh
# A vector of connections of Qt is reachable by a pointer to its second byte, by which an object
# holds a vector that it no longer uses.
. tests/lib.sh

build vectors tests/reach/signal_vectors.c
lost_blocks "$W/vectors" 0 4
