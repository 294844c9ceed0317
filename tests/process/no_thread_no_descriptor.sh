#!/bin/sh
# The tracer has no thread, no descriptor and no file of its own.
#
# If all threads of a process block the dump signal, the dump waits until a thread unblocks it.
. tests/lib.sh

mkdir "$W/folder"
build_plain plain tests/process/no_thread_no_descriptor.c
sh -c '"$0/plain" "$0/folder" >"$0/out"' "$W" 2>"$W/killed"
has=$(head -n 1 "$W/out")
case $has in
"threads 1, descriptors "*", files 0") ;;
*) fail "the untraced program has $has" ;;
esac
for static in '' -static; do
	build "guest$static" $static tests/process/no_thread_no_descriptor.c
	(cd "$W/folder" && exec "$W/guest$static" "$W/folder") >"$W/out" 2>"$W/log$static" ||
		fail "guest$static: status $?"
	equal "guest$static" "$(cat "$W/out")" "$has
pending 1
pending 0
$has"
	equal "dumps$static" "$(dumps "$W/log$static" | wc -l)" 2
	equal "reason$static" "$(dump_value "$W/log$static" 1 reason)" signal
	equal "at the unblocking$static" "$(site_by "$W/log$static" 1 main)" "40 2"
done
