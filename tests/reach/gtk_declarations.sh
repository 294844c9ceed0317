#!/bin/sh
# What GTK 3 keeps of widgets with the same style is reachable by a pointer with marks.
. tests/lib.sh

pkg-config --exists gobject-2.0 || skip "libglib2.0-dev is not installed"
# shellcheck disable=SC2046 # a list of flags
build declarations tests/reach/gtk_declarations.c $(pkg-config --cflags --libs gobject-2.0)
lost_blocks "$W/declarations" 0 3
