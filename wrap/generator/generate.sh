#!/bin/sh
# generate.sh - makes the other inputs of a link beside libleakwrap.a: wrappers for allocators that
# the user names, and the program's default options.  Called by linker-flags.mk and by the leakwrap
# tool.  Needs a shell, awk, the target's compiler and its ar.
#
#   sh generate.sh --output=NAME [--allocator=LIST]... [--options=OPTIONS] [--ar=AR] -- CC [FLAG...]
#
# Writes NAME.a, one member for each function, as libleakwrap.a has them, and NAME.flags, a response
# file that names the functions to the linker.  CC and its flags select the target.
#
# LIST has items, separated by commas or spaces:
#   PREFIX                   the malloc family under names that begin with PREFIX; PREFIXmalloc
#                            is one of them
#   SHAPE=NAME               the function NAME is called like SHAPE: malloc, free, ... (table below)
#   exported:SHAPE=NAME      the same, and the program exports NAME: the calls of shared libraries
#                            come to the wrapper, too.  For a function of a shared library
#   SHAPE=NAME(PARAMETERS)   the same with other parameters, [TYPE:]PARAMETER, separated by commas:
#                              size, count, alignment   size_t if there is no TYPE
#                              block                    what is freed or resized
#                              result                   where the new block's address is stored
#                              any other name           a pointer if there is no TYPE; handed on
#                              size=NUMBER              no parameter: all blocks have this size
# Without PARAMETERS the function has those of SHAPE, and up to two more words, which are handed on.
#
# A bad item or option is refused with one line on standard error and status 2.
set -u

# In some locales [a-z] has not all letters of ASCII, and messages of compilers are not in English.
export LC_ALL=C

here=$(dirname "$0")
output='' list='' options='' has_options='' ar=''

refuse() {
	echo "leakwrap: $*" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--output=*) output=${1#*=} ;;
	--allocator=*) list="$list ${1#*=}" ;;
	--options=*) options=${1#*=} has_options=1 ;;
	--ar=*) ar=${1#*=} ;;
	--) break ;;
	*) refuse "generate.sh: unknown argument '$1'" ;;
	esac
	shift
done
if [ $# -lt 2 ] || [ -z "$output" ]; then
	refuse "generate.sh: --output=NAME and -- COMPILER are needed"
fi
shift

# -- the functions --------------------------------------------------------------------------------

# Prints a line for each function, with tabs between the fields: NAME, "yes" if the program
# certainly has the function, "perhaps" or "exported", and its definition by a macro of wrapper.h.
# shellcheck disable=SC2016 # for awk, not for the shell
functions=$(printf '%s\n' "$list" | awk '
	function refuse(why) {
		print "leakwrap: allocator \047" item "\047: " why > "/dev/stderr"
		failed = 1
		exit 2
	}
	function shape(name, verb, parameters) {
		verbs[name] = verb
		defaults[name] = parameters
		order[++shapes] = name
	}
	BEGIN {
		shape("malloc", "ALLOCATE", "size")
		shape("calloc", "ALLOCATE", "count,size")
		shape("realloc", "RESIZE", "block,size")
		shape("reallocarray", "RESIZE", "block,count,size")
		shape("memalign", "ALLOCATE", "alignment,size")
		shape("aligned_alloc", "ALLOCATE", "alignment,size")
		shape("posix_memalign", "STORE", "result,alignment,size")
		shape("valloc", "ALLOCATE", "size")
		shape("pvalloc", "ALLOCATE", "size")
		shape("free", "RELEASE", "block")
		shape("cfree", "RELEASE", "block")
		shape("free_sized", "RELEASE", "block,size")
		shape("free_aligned_sized", "RELEASE", "block,alignment,size")
		# jemalloc has these functions in addition.
		shape("mallocx", "ALLOCATE", "size,int:flags")
		shape("rallocx", "RESIZE", "block,size,int:flags")
		shape("dallocx", "RELEASE", "block,int:flags")
		shape("sdallocx", "RELEASE", "block,size,int:flags")
	}
	# Reads the list of parameters.  Sets declared (the declarations), passed (the arguments)
	# and bytes (the size expression).
	function read_parameters(text, verb,    words, n, i, word, type, name, has) {
		declared = passed = ""
		bytes = "size"
		n = split(text, words, ",")
		for (i = 1; i <= n; i++) {
			word = words[i]
			if (word ~ /^size=[0-9]+$/) {
				bytes = substr(word, 6)
				has["size"] = 1
				continue
			}
			type = ""
			if (match(word, /:/)) {
				type = substr(word, 1, RSTART - 1)
				word = substr(word, RSTART + 1)
			}
			name = word
			if (name !~ /^[A-Za-z_][A-Za-z0-9_]*$/ ||
			    type !~ /^([A-Za-z_][A-Za-z0-9_ ]*[* ]*)?$/)
				refuse("\047" words[i] "\047 is no parameter; [TYPE:]NAME is one")
			if (name in has)
				refuse("two parameters are called " name)
			has[name] = 1
			if (name !~ /^(size|count|alignment|block|result)$/)
				name = "handed_on_" i
			if (type == "")
				type = word ~ /^(size|count|alignment)$/ ? "size_t" : "void *"
			declared = declared (declared == "" ? "" : ", ") type " " name
			passed = passed (passed == "" ? "" : ", ") name
		}
		if ("count" in has)
			bytes = "(size_t)count * (size_t)" bytes
		if (verb != "RELEASE" && !("size" in has))
			refuse("no parameter is called size; " \
				"write size=NUMBER when all blocks have one size")
		if (verb != "ALLOCATE" && verb != "STORE" && !("block" in has))
			refuse("no parameter is called block")
		if (verb != "STORE" && ("result" in has))
			refuse("result is a parameter of posix_memalign alone; " \
				"write posix_memalign=NAME(PARAMETERS) for a function that " \
				"stores the block\047s address")
		if (verb == "STORE" && !("result" in has))
			refuse("no parameter is called result")
		if (declared == "")
			declared = "void"
	}
	function define(kind, name, parameters, is_there,    verb) {
		verb = verbs[kind]
		if (name !~ /^[A-Za-z_$][A-Za-z0-9_$]*$/)
			refuse("\047" name "\047 is no name of a function")
		if (!(name in defined))
			names[++count] = name
		else if (defined[name] != "perhaps")
			refuse(name " is named twice")
		defined[name] = is_there
		read_parameters(parameters, verb)
		definition[name] = sprintf("WRAPPER_%s(%s, (%s), (%s)%s)",
			verb, name, declared, passed, verb == "RELEASE" ? "" : ", " bytes)
	}
	function usual(kind) {
		return defaults[kind] (kind ~ /x$/ ? "" : ",uintptr_t:more_1,uintptr_t:more_2")
	}
	function read_item(    at, kind, name, i, is_there) {
		is_there = sub(/^exported:/, "", item) ? "exported" : "yes"
		at = index(item, "=")
		if (!at || index(item, "(") && at > index(item, "(")) {
			if (item ~ /\(/)
				refuse("what it is like is missing; SHAPE=NAME(PARAMETERS) says it")
			if (is_there == "exported")
				refuse("only a function is exported; " \
					"exported:malloc=" item "malloc names one")
			for (i = 1; i <= shapes; i++)
				if (!((item order[i]) in defined))
					define(order[i], item order[i], usual(order[i]),
						order[i] == "malloc" ? "yes" : "perhaps")
			return
		}
		kind = substr(item, 1, at - 1)
		name = substr(item, at + 1)
		if (!(kind in verbs))
			refuse("there is no shape \047" kind "\047; malloc, calloc, realloc, " \
				"memalign, posix_memalign and free are some")
		if (match(name, /\(/)) {
			if (name !~ /^[^()]*\([^()]*\)$/)
				refuse("its parentheses do not match")
			define(kind, substr(name, 1, RSTART - 1),
				substr(name, RSTART + 1, length(name) - RSTART - 1), is_there)
		} else {
			define(kind, name, usual(kind), is_there)
		}
	}
	# Items end at a comma or space outside of parentheses.
	{
		text = text $0 " "
	}
	END {
		if (failed)
			exit 2
		for (i = 1; i <= length(text); i++) {
			c = substr(text, i, 1)
			depth += (c == "(") - (c == ")")
			if (depth > 0 || c != "," && c != " ") {
				item = item c
				continue
			}
			if (item != "")
				read_item()
			item = ""
		}
		if (item ~ /[^ ]/)
			refuse("its parentheses do not match")
		for (i = 1; i <= count; i++)
			printf "%s\t%s\t%s\n", names[i], defined[names[i]], definition[names[i]]
	}') || exit 2

# -- the options ----------------------------------------------------------------------------------

if [ -n "$has_options" ]; then
	printf '%s' "$options" |
		awk -v file="$here/options" -f "$here/check_options.awk" || exit 2
fi

# -- the archive ----------------------------------------------------------------------------------

work=$(mktemp -d "${TMPDIR:-/tmp}/leakwrap.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

tab=$(printf '\t')
if [ -n "$functions" ]; then
	# -u links an allocator out of an archive that stands before this archive.  It is left out
	# for a function that may be missing: for that ld.lld would ask for the wrapper, too.
	# The program itself may not call a function that it exports.
	echo "$functions" | while IFS=$tab read -r name is_there definition; do
		exports=
		echo "-Wl,--wrap=$name" >>"$work/flags"
		[ "$is_there" = perhaps ] || echo "-Wl,-u,$name" >>"$work/flags"
		if [ "$is_there" = exported ]; then
			exports='#define WRAPPER_IS_EXPORTED'
			echo "-Wl,-u,__wrap_$name -Wl,--export-dynamic-symbol=$name" >>"$work/flags"
		fi
		printf '%s\n#include "wrapper.h"\n\n%s\n' "$exports" "$definition" \
			>"$work/$name.c"
	done
	# leakwrap audit reads the names; a "?" stands behind those that the program may lack.
	{
		echo 'extern const char leakwrap_link_allocators[];'
		echo '__attribute__((visibility("default")))'
		echo 'const char leakwrap_link_allocators[] ='
		echo "$functions" | awk -F '\t' '
			{ print "\t\"" $1 ($2 == "perhaps" ? "?" : "") " \"" }'
		echo '	;'
	} >"$work/leakwrap_link_allocators.c"
	echo "-Wl,-u,leakwrap_link_allocators" >>"$work/flags"
fi
if [ -n "$has_options" ]; then
	{
		echo 'extern const char *const leakwrap_link_options;'
		echo '__attribute__((visibility("default")))'
		echo 'const char *const leakwrap_link_options ='
		printf '%s\n' "$options" | sed 's/[\\"?]/\\&/g; s/^/	"/; s/$/";/'
		echo
	} >"$work/leakwrap_link_options.c"
	echo "-Wl,-u,leakwrap_link_options" >>"$work/flags"
fi
[ -e "$work/flags" ] || : >"$work/flags"

# The file "flags" says how this runtime was compiled for its target.
flags=$(cat "$here/flags") || refuse "$here/flags is missing; make lib makes it"
case $flags$functions in
*LEAKWRAP_BARE*${tab}exported$tab*)
	refuse "exported: a program without an operating system has no shared libraries"
	;;
esac
# ARM: the walk begins with the program's frame pointers; -ffixed keeps gcc from using them.
# AArch64: x18 may be the shadow call stack's.
case $("$@" -dumpmachine 2>/dev/null) in
aarch64*) fixed="-ffixed-x18" ;;
arm*) fixed="-ffixed-r7 -ffixed-r11" ;;
*) fixed= ;;
esac
# shellcheck disable=SC2086 # a list of flags
[ -z "$fixed" ] || "$@" $fixed -E -x c /dev/null >/dev/null 2>&1 || fixed=
case $here in /*) ;; *) here=$PWD/$here ;; esac

# refuse_source COMPILER FLAG...: refuses $source, which the compiler has not compiled.
refuse_source() {
	name=$(basename "$source" .c)
	case $name in
	leakwrap_link_*) why="$1 does not compile what leakwrap cc makes for this program" ;;
	*) why="the wrapper of $name cannot be compiled; look at its parameters' types" ;;
	esac
	# shellcheck disable=SC2086 # lists of flags
	"$@" $flags $fixed -c -o "$work/empty" -x c /dev/null >"$work/errors.empty" 2>&1 || {
		why="$1 compiles not even an empty file with the flags of this link"
		mv "$work/errors.empty" "$work/errors"
	}
	# Not each message of a compiler has the word "error".
	reason=$(sed -n 's/.*error: //p' "$work/errors" | head -n 1)
	reason=${reason:-$(head -n 1 "$work/errors")}
	refuse "$why: ${reason:-it says nothing}"
}

# -g0: the folder $work has another name in each link, and would be in the program.
set -- "$@" -std=gnu11 -w -fno-lto -fno-builtin -fno-stack-protector -U_FORTIFY_SOURCE
for source in "$work"/*.c; do
	[ -e "$source" ] || break
	# shellcheck disable=SC2086 # lists of flags
	"$@" $flags $fixed -g0 -I"$here" -c -o "${source%.c}.o" -x c "$source" \
		>"$work/errors" 2>&1 ||
		refuse_source "$@"
done
[ -n "$ar" ] || ar=$("$@" -print-prog-name=ar 2>/dev/null) || ar=''
command -v "$ar" >/dev/null 2>&1 || ar='ar'
if ls "$work"/*.o >/dev/null 2>&1; then
	"$ar" rcs "$work/all.a" "$work"/*.o || refuse "$ar cannot make an archive"
else
	"$ar" rcs "$work/all.a" || refuse "$ar cannot make an archive"
fi
# Renames, so that a reader meanwhile finds the old files whole.
if ! cp "$work/all.a" "$output.a.$$" || ! cp "$work/flags" "$output.flags.$$" ||
	! mv "$output.a.$$" "$output.a" || ! mv "$output.flags.$$" "$output.flags"; then
	rm -f "$output.a.$$" "$output.flags.$$"
	refuse "cannot write $output.a"
fi
