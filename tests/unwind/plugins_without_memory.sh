#!/bin/sh
# A program may have very many libraries, and may exchange some when address space is short.
. tests/lib.sh

build plugins tests/unwind/plugins_without_memory.c
build_plain plugin.so -shared -fPIC tests/unwind/plugin.c
mkdir "$W/many"
count=1100
for i in $(seq $count); do
	cp "$W/plugin.so" "$W/many/$i.so"
done
"$W/plugins" 0 $(seq -f "$W/many/%g.so" $count) 2>"$W/log" || fail "status $?"
rm -r "$W/many"
equal "truncated" "$(dump_value "$W/log" 1 truncated_blocks)" 0
equal "through plugins" "$(site_by "$W/log" 1 allocates)" "$((77 * count)) $count"
equal "plugins listed" "$(dump_lines "$W/log" 1 | grep -c "^module .*/many/")" $count

cp "$W/plugin.so" "$W/one.so"
cp "$W/plugin.so" "$W/two.so"
"$W/plugins" 200 "$W/one.so" "$W/two.so" 2>"$W/log" || fail "status $?"
for name in one two; do
	equal "through $name" "$(dump_lines "$W/log" 1 |
		grep -A 3 '^site .: 77 bytes in 1 block' | grep -c "$name.so+")" 2
done

# With no space even for the list of modules, dlopen does not tell the tracer of the second plugin,
# which has come to the place of the first. Its first allocation does, if the loader can be asked
# without a lock.
build_plain other.so -shared -fPIC -Wl,--build-id=none tests/unwind/plugin.c
"$W/plugins" 4 "$W/one.so" "$W/other.so" 2>"$W/log" || fail "status $?"
equal "through one" "$(dump_lines "$W/log" 1 | grep -c '#. .* one.so+')" 2
if has_find_object; then
	equal "through other" "$(dump_lines "$W/log" 1 | grep -c '#. .* other.so+')" 2
	equal "truncated" "$(dump_value "$W/log" 1 truncated_blocks)" 0
else
	equal "truncated" "$(dump_value "$W/log" 1 truncated_blocks)" 1
fi
equal "allocated" "$(site_by "$W/log" 1 allocates)" "154 2"
