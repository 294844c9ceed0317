#!/bin/sh
# A call site of an unloaded plugin has the plugin's origin and identity, whichever module comes to
# its address.
#
# The next module may be another plugin, or a system library, whose blocks system=0 leaves out.
. tests/lib.sh

# The loader takes the address for which a library was linked, if it is free.
build unloads tests/module/unloaded_origin.c
for plugin in first second libnss_third; do
	# shellcheck disable=SC2086 # a list
	$CC $CFLAGS_FOR_TESTS -shared -fPIC -Wl,--build-id=sha1 -Wl,-soname=$plugin \
		-Wl,-Ttext-segment=0x510000000000 -o "$W/$plugin.so" tests/stress/plugin.c ||
		fail "cannot build $plugin"
done

# origins: prints "ORIGIN" of each call site with 100,000 bytes in the dump: the name of the
# library, or system_library.
origins() {
	dump_lines "$W/log" 1 | awk '
		$1 == "site" && $3 == 100000 { origin[++count] = $NF }
		$1 == "module" { sub(/.*\//, "", $NF); name["module=" $2] = $NF }
		END {
			for (i = 1; i <= count; i++)
				print origin[i] in name ? name[origin[i]] : origin[i]
		}' | sort | tr '\n' ' '
}

# run OPTIONS PLUGIN...: runs the program, and sees that the plugins were all at one address.
run() {
	rm -f "$W/log"
	options=$1
	shift
	LEAKWRAP_OPTIONS=log="$W/log":$options "$W/unloads" "$@" >"$W/out" || fail "status $?"
	equal "addresses" "$(sort -u "$W/out" | wc -l)" 1
}

run system=1 "$W/first.so" "$W/second.so"
equal "two plugins" "$(origins)" "first.so second.so "
run system=1 "$W/first.so" "$W/libnss_third.so"
equal "a system library afterwards" "$(origins)" "first.so origin=system_library "
run system=0 "$W/first.so" "$W/libnss_third.so"
equal "system=0" "$(origins)" "first.so "
run system=0 "$W/libnss_third.so" "$W/first.so"
equal "system=0, a plugin afterwards" "$(origins)" "first.so "

# The identity of a call site that failed is the one by which a later run makes it fail.
# identity WHAT: prints the identities in the lines WHAT of the dump.
identity() {
	dump_lines "$W/log" 1 | sed -n "s/^$1 .* identity=//p"
}

run "fail=list,below=first*" "$W/first.so" "$W/second.so"
wanted=$(identity reached)
run "fail=nth=1,below=first*" "$W/first.so" "$W/second.so"
equal "identity" "$(identity failed | uniq)" "$wanted"
