# shellcheck shell=sh disable=SC2154 # variables of tests/lib.sh
# go.sh - builds Go programs that are linked with the tracer. Sourced after tests/lib.sh.

lw=$O/leakwrap
[ -x "$lw" ] || skip "the tool is not built: $O/leakwrap"
command -v go >/dev/null || skip "go is not installed"
export GOCACHE="$W/cache" GOFLAGS='' GO111MODULE=off CGO_ENABLED=1

# build_go PROGRAM ARGUMENT...: builds $W/PROGRAM with the arguments of "go build". $gcc compiles C,
# and $lib is the runtime.
build_go() {
	go_program=$1
	shift
	printf '#!/bin/sh\nLEAKWRAP_LIB=%s exec %s cc -- %s "$@"\n' "$lib" "$lw" "$gcc" >"$W/link"
	chmod 755 "$W/link"
	rm -f "$W/$go_program"
	CC=$gcc go build -ldflags "-linkmode=external -extld=$W/link" -o "$W/$go_program" "$@" \
		>"$W/out" 2>&1 || fail "$go_program: $(cat "$W/out")"
}
