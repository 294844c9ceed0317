#!/bin/sh
# A thread that sends requests faster than dumps can be written waits after some, and a thread that
# has served some is relieved. Each request has its dump.
. tests/lib.sh

build many_requests tests/signal/many_requests.c
LEAKWRAP_OPTIONS=exit=0:top=40 timeout 60 "$W/many_requests" >"$W/out" ||
	fail "status $?: $(cat "$W/out")"
