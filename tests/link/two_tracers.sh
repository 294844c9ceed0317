#!/bin/sh
# A program and its shared objects are linked with the same flags, as by LIBS or CMAKE_*_FLAGS: each
# has a tracer. That of the program records the calls of all, and writes the only dump.
. tests/lib.sh

# build_object FLAG...: builds the shared object.
build_object() {
	# shellcheck disable=SC2086 # a list of flags
	$CC $CFLAGS_FOR_TESTS -shared -fPIC -o "$W/libvendor.so" tests/link/shared_vendor.c "$@" ||
		fail "$linker: cannot link the shared object"
}

# bytes_of_vendor: prints the live bytes that by_vendor has allocated, as $W/folded says.
bytes_of_vendor() {
	awk '/;by_vendor[; ]/ { bytes += $NF } END { print bytes }' "$W/folded"
}

# check WHAT COVERAGE PROGRAM [ARGUMENT]: runs it.
check() {
	what="$linker: $1" coverage=$2
	shift 2
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$@" >"$W/out" 2>&1
	equal "$what: exit status" $? 9
	equal "$what: dumps" "$(dumps "$W/log" | wc -l)" 1
	"$O/leakwrap" report --format=folded "$W/log" >"$W/folded" || fail "$what: no report"
	equal "$what: bytes of by_vendor" "$(bytes_of_vendor)" 2000
	! grep -E 'by_vendor;.*(leakwrap|__wrap)_' "$W/folded" ||
		fail "$what: a frame of the other tracer"
	equal "$what: foreign_frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
	equal "$what: coverage" \
		"$(dump_lines "$W/log" 1 | grep -E '^(coverage|bypass)')" "$coverage"
}

for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	use=-fuse-ld=$linker
	object="-L$W -lvendor -Wl,-rpath,$W"
	flags=$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS)
	build_object "$use"
	# shellcheck disable=SC2086 # lists of flags
	build before "$use" tests/link/two_tracers.c $object
	# shellcheck disable=SC2086 # a list of flags
	build_object "$use" $flags
	build opens "$use" tests/link/shared_user.c
	# shellcheck disable=SC2086 # lists of flags
	$CC $CFLAGS_FOR_TESTS "$use" -o "$W/first" tests/link/two_tracers.c $flags $object ||
		fail "$linker: cannot link with the flags first"
	# shellcheck disable=SC2086 # lists of flags
	build last "$use" tests/link/two_tracers.c $object

	check "the object opened" "coverage process" "$W/opens" "$W/libvendor.so"
	check "the object linked behind the flags" "coverage process" "$W/first"
	check "the object traced later" "coverage process" "$W/before"
	# The linker takes the wrappers from the object, and none from the archive.
	check "the object linked before the flags" "coverage program" "$W/last"

	# The object's link binds its calls of malloc to the one that its tracer exports.
	# shellcheck disable=SC2086 # a list of flags
	build_object "$use" $flags -Wl,--exclude-libs,ALL
	# shellcheck disable=SC2086 # lists of flags
	$CC $CFLAGS_FOR_TESTS "$use" -o "$W/first" tests/link/two_tracers.c $flags $object ||
		fail "$linker: cannot link with the object that hides malloc"
	check "the object that hides malloc opened" "coverage process" "$W/opens" "$W/libvendor.so"
	check "the object that hides malloc linked" "coverage process" "$W/first"

	# A program with an allocator of its own does not record the object's calls. The object
	# does, and uses that allocator.
	for hides in "" -Wl,--exclude-libs,ALL; do
		# shellcheck disable=SC2086 # a list of flags
		build_object "$use" $flags $hides
		# shellcheck disable=SC2086 # lists of flags
		$CC $CFLAGS_FOR_TESTS "$use" -o "$W/own" tests/link/two_tracers.c \
			tests/link/own_malloc.c $flags $object ||
			fail "$linker: cannot link with an allocator"
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log "$W/own" >"$W/out" 2>&1
		equal "$linker: exit status with an allocator $hides" $? 9
		equal "$linker: dumps with an allocator $hides" "$(dumps "$W/log" | wc -l)" 2
		"$O/leakwrap" report --merge --format=folded "$W/log" >"$W/folded" ||
			fail "$linker: no report with an allocator"
		equal "$linker: bytes of by_vendor beside an allocator $hides" \
			"$(bytes_of_vendor)" 2000
	done
done
