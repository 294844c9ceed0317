#!/bin/sh
# A message of nanomsg is reachable by its bytes, and an object that begins with a state machine by
# a list of one.
. tests/lib.sh

build objects tests/reach/nanomsg_objects.c
lost_blocks "$W/objects" 0 6
