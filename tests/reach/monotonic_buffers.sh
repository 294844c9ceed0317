#!/bin/sh
# A block of std::pmr::monotonic_buffer_resource is reachable by the resource.
. tests/lib.sh

build_cxx buffers tests/reach/monotonic_buffers.cpp
lost_blocks "$W/buffers" 0 4
