#!/bin/sh
# A job that a thread has taken out of a list is reachable by its node, which leads to itself.
. tests/lib.sh

build worked_on tests/reach/worked_on.c -pthread
lost_blocks "$W/worked_on" 0 3
