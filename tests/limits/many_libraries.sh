#!/bin/sh
# Loading a library costs the same however many there are, and opening one again costs nothing.
. tests/lib.sh

build libraries tests/limits/many_libraries.c tests/limits/tracer_calls.c \
	-Wl,--wrap=leakwrap_call_kernel
build_plain plugin.so -shared -fPIC tests/unwind/plugin.c
mkdir "$W/many"
for i in $(seq 200); do
	cp "$W/plugin.so" "$W/many/$i.so"
done
LEAKWRAP_OPTIONS=exit=0 "$W/libraries" "$W"/many/*.so >"$W/out" || fail "status $?"
read -r of_last again <"$W/out"
echo "system calls for the last of 200 libraries: $of_last; for 1,000 times one of them: $again"
[ "$of_last" -le 100 ] || fail "$of_last system calls for one library"
[ "$again" -le 10 ] || fail "$again system calls while nothing was loaded"
