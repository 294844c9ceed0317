#!/bin/sh
# An item of Vim's hash tables is reachable by a pointer to its key, if the key's hash is in front.
. tests/lib.sh

build keys tests/reach/hashed_keys.c
lost_blocks "$W/keys" 0 3
