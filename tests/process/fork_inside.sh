#!/bin/sh
# A fork while another thread is inside the tracer, at whichever of its system calls, leaves the
# child all that it needs: its dumps arrive, and it waits for no thread of the parent.
. tests/lib.sh

build inside -Wl,--wrap=leakwrap_call_kernel tests/process/fork_inside.c
mkdir "$W/logs"
LEAKWRAP_OPTIONS="log=$W/logs/%p:exit=0:peak=1:crash=1:dump_at='height:1':dump_pause=0" \
	timeout 100 "$W/inside" "$W/logs" >"$W/out" 2>&1 || fail "status $?: $(cat "$W/out")"
