#!/bin/sh
# An object of VLC is reachable by a pointer behind its private part, if that leads to the private
# part of a child whose object leads back.
. tests/lib.sh

build objects tests/reach/vlc_objects.c
lost_blocks "$W/objects" 0 5
