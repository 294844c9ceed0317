#!/bin/sh
# system_functions.sh c|cxx WRAPPED... - lists the functions of the compiler's static C or C++
# libraries.
#
# Writes C source to standard output: one list for the section LEAKWRAP_SYSTEM_SECTION, which
# format.h describes.  The environment variables CC and NM name the target's compiler and nm.
#
# WRAPPED are the names of the wrapped functions.  A member of a C library that refers to none of
# them allocates nothing itself, and its functions are left out, unless they hand on what another
# function allocates for its caller, as tmpfile does.  C++ libraries allocate nearly
# everywhere, often by a jump to another member: all their functions count.  A library that is not
# there adds nothing.
set -u
export LC_ALL=C

# The names of the libraries in the search order of the compiler, without "lib" and ".a".
c_libraries="c c_nano m pthread rt dl resolv util anl gcc gcc_eh gomp gfortran quadmath atomic"
cxx_libraries="stdc++ stdc++_nano supc++ c++ c++abi unwind"

language=$1
shift
# nm loads the compiler's plugin for each member, which takes twenty times as long as to read them.
list_symbols() {
	"$NM" $no_plugin "$@" 2>/dev/null
}
no_plugin=--plugin=/dev/null
"$NM" $no_plugin --version >/dev/null 2>&1 || no_plugin=
work=${TMPDIR:-/tmp}/leakwrap.$$
mkdir -m 700 "$work" || exit 2
trap 'rm -rf "$work"' EXIT

# Prints the path of the library $1, or nothing if the compiler does not find it.
find_library() {
	path=$($CC -print-file-name="$1" 2>/dev/null)
	case $path in */*) [ ! -f "$path" ] || echo "$path" ;; esac
}

# Prints the archives that the linker reads for a static program.  Wrappers like musl-gcc make the
# linker search other folders than -print-file-name does.  The link may fail, as it does without an
# operating system.
find_archives_linked() {
	echo 'int main(void) { return 0; }' >"$work/main.c"
	$CC -static -Wl,-t -o "$work/main" "$work/main.c" 2>&1 |
		sed -n 's/^(*\(\/[^ ()]*\.a\).*/\1/p'
}

# Prints the folder in which -print-file-name finds a C library, if the linker reads another one.
find_unread_folder() {
	printed=$(find_library libc.a)
	linked=$(grep -m 1 '/libc\.a$' "$work/found")
	[ -z "$printed" ] || [ -z "$linked" ] || cmp -s "$printed" "$linked" ||
		echo "${printed%/*}"
}

# Prints the paths of all archives of the language.
find_archives() {
	unread_folder=
	if [ "$language" = cxx ]; then
		libraries=$cxx_libraries
	else
		libraries=$c_libraries
		find_archives_linked
		unread_folder=$(find_unread_folder)
	fi
	for library in $libraries; do
		! grep -qs "/lib$library\\.a\$" "$work/found" || continue
		path=$(find_library "lib$library.a")
		[ -z "$path" ] || [ "${path%/*}" = "$unread_folder" ] || echo "$path"
	done
}

# Prints the names that the shared C++ library exports.  A template function of the archive belongs
# to the library only if it is exported.  Other template functions are copies of functions that
# every program makes for itself, such as the functions of std::vector<int>.
find_exports() {
	for library in libstdc++.so libc++.so.1 libc++abi.so.1; do
		path=$(find_library "$library")
		[ -z "$path" ] || list_symbols -D --defined-only "$path"
	done | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u
}

: >"$work/archives"
find_archives >"$work/found"
sort -u "$work/found" >"$work/archives"
: >"$work/exports"
[ "$language" != cxx ] || find_exports >"$work/exports"
while read -r archive; do
	list_symbols -S "$archive"
done <"$work/archives" >"$work/symbols"

# The allocators: the wrapped functions, and the other names that a library has for them, such as
# __libc_reallocarray.  Only functions count.  Where each has a section of its own, all names of a
# member may have one address.
printf '%s\n' "$@" | sort -u >"$work/wrapped"
awk -v wrapped="$work/wrapped" '
	BEGIN { while ((getline line <wrapped) > 0) is_wrapped[line] }
	# Prints all names of the wrapped functions of a member.
	function end_member(   i) {
		for (i = 1; i <= count; i++)
			if (places[i] in wraps)
				print names[i]
		count = 0
		split("", wraps)
	}
	NF == 1 { end_member() }
	NF == 4 && $3 ~ /^[TWi]$/ {
		names[++count] = $4
		places[count] = $1 " " $2
		if ($4 in is_wrapped)
			wraps[places[count]]
	}
	END { end_member() }' "$work/symbols" >"$work/other_names" || exit 2
sort -u "$work/other_names" "$work/wrapped" >"$work/allocators" || exit 2

# Lists "HASH SIZE" for each function.  leakwrap_hash_name in format.h makes the same hash.
awk -v language="$language" -v allocators="$work/allocators" -v exports="$work/exports" '
	function hash(name,   h, i) {
		h = 0
		for (i = 1; i <= length(name); i++)
			h = (h * 65599 + code[substr(name, i, 1)]) % 4294967291
		return h
	}
	function number(hex,   n, i) {
		n = 0
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", tolower(substr(hex, i, 1))) - 1
		return n
	}
	# A copy of a function for one use is called NAME.constprop.0, NAME.part.1 or NAME.cold.
	function is_of_library(type, name,   origin) {
		origin = name
		sub(/\..*/, "", origin)
		if (name !~ /^_Z/ || type == "T" || type == "t" && origin == name)
			return 1
		return origin ~ /^_ZL|_GLOBAL__N_/ || origin in exported || origin in strong
	}
	# Does the function allocate for its caller, or does the library keep the memory?
	function is_for_caller(name) {
		if (language == "cxx")
			return name !~ own_of_cxx
		return member ~ for_caller
	}
	# A function that has a wrapper gives its caller what it allocates.
	function end_member(   i, is_wrapped) {
		for (i = 1; i <= count; i++)
			is_wrapped = is_wrapped || names[i] in is_allocator
		for (i = 1; (allocates || is_for_caller("")) && i <= count; i++)
			if (is_of_library(types[i], names[i]))
				printf "%d %.0f %.0f\n", (is_wrapped || is_for_caller(names[i])), \
					hash(names[i]), sizes[i]
		count = allocates = 0
		split("", strong)
	}
	BEGIN {
		# Functions of C++ libraries whose blocks the library keeps.
		own_of_cxx = "^(_GLOBAL__|_ZNSt6locale|_ZNSt8ios_base(4Init|15sync_with_stdio))"
		# Members of C libraries whose functions return what their caller frees.
		for_caller = "^(io|_)?(fopen|fdopen|popen)(64)?$|" \
			"^(fopncook|iofopncook|fopencookie)$|" \
			"^(oldf|f)memopen$|^(fd)?opendir$|^reg(comp|ex)$|" \
			"^glob(64)?(-susv3)?$|^wordexp$|^getaddrinfo$|" \
			"^if_(name)?index$|^tsearch$|" \
			"^fts(64)?(-time64)?$|^(new|dup)locale$|^(g|i)conv_open$|^iconv$|" \
			"^(catgets|open_catalog)$|^h(search|create)(_r)?$|^ifaddrs$|" \
			"^(io)?vfw?scanf(-internal)?$|^tmpfile(64)?$|^mntent_r$|" \
			"^(spawn_faction|posix_spawn_file_actions)_"
		for (i = 1; i < 256; i++)
			code[sprintf("%c", i)] = i
		while ((getline line <allocators) > 0)
			is_allocator[line]
		while ((getline line <exports) > 0)
			exported[line]
	}
	NF == 1 {
		end_member()
		member = $1
		sub(/\.(o|lo|os|oS):$/, "", member)
		next
	}
	NF == 2 && $1 ~ /^[Uw]$/ { if ($2 in is_allocator) allocates = 1; next }
	NF == 4 && $3 ~ /^[TtWVi]$/ && number($2) > 0 {
		if ($3 == "T")
			strong[$4]
		types[++count] = $3
		names[count] = $4
		sizes[count] = number($2)
	}
	END { end_member() }' "$work/symbols" >"$work/functions" || exit 2

sort -u -k 1,1n -k 2,2n -k 3,3n "$work/functions" >"$work/sorted" || exit 2
awk -v language="$language" '
	BEGIN {
		print "/* Made by report/system_functions.sh. */"
		print "__asm__(\".pushsection \" LEAKWRAP_SYSTEM_SECTION \",\\\"\\\",%progbits\\n\""
		print "        \".balign 4\\n\""
		if (language == "cxx") {
			print "        \".globl leakwrap_system_cxx\\n\""
			print "        \".hidden leakwrap_system_cxx\\n\""
			print "        \"leakwrap_system_cxx:\\n\""
		}
	}
	{ pairs[$1, ++count[$1]] = $2 ", " $3 }
	END {
		# enum leakwrap_system_list
		for (role = 0; role < 2; role++) {
			printf "        \".long %d, %d\\n\"\n", \
					(language == "cxx" ? 2 : 1) + 2 * role, count[role]
			for (i = 1; i <= count[role]; i++)
				printf "        \".long %s\\n\"\n", pairs[role, i]
		}
		print "        \".popsection\");"
	}' "$work/sorted"
