#!/bin/sh
# programs.sh - whole programs on prebuilt archives, traced by leakwrap and by its peers: time, peak memory, and
# of which share of the live bytes the stack reaches main.
#
# A part of the benchmark; called by tests/bench/run.  The fast tools run the whole work in turns; the slow ones
# (up to a hundred times slower) a part of it, once, beside the untraced program with that part.
. tests/bench/lib.sh
: "${BENCH_PROGRAMS:=lua_trees sqlite_load xml_query json_deep crypto_threads png_large glib_strings}"
fast="untraced leakwrap lsan heaptrack static-untraced static-leakwrap"
slow="untraced leakwrap lsan-dwarf gperftools jemalloc valgrind"

# command_of TOOL PROGRAM: sets $command.
command_of() {
	plain=$bench/$2.untraced
	case $1 in
	untraced) command=$plain ;;
	static-untraced) command=$bench/$2.$1 ;;
	leakwrap | static-leakwrap) command="env $in_leakwrap $bench/$2.$1" ;;
	lsan) command="env $in_lsan $bench/$2.lsan" ;;
	lsan-dwarf) command="env $in_lsan:fast_unwind_on_malloc=0 $bench/$2.lsan" ;;
	heaptrack) command="heaptrack -o $work/heaptrack $plain" ;;
	valgrind) command="valgrind --leak-check=full --show-leak-kinds=all --log-file=$work/valgrind $plain" ;;
	gperftools) command="env LD_PRELOAD=libtcmalloc.so.4 HEAPPROFILE=$work/profile $plain" ;;
	jemalloc)
		command="env LD_PRELOAD=libjemalloc.so.2
			MALLOC_CONF=prof:true,lg_prof_sample:0,prof_final:true,prof_prefix:$work/profile $plain"
		;;
	esac
}

# once PART TOOL PROGRAM PERCENT
once() {
	fresh
	progress "$1: $3, $2"
	command_of "$2" "$3"
	# shellcheck disable=SC2086 # a command and its arguments
	result=$("$bench/timed" $command "$4" 2>"$work/errors") || failed "$command $4: $(tail -n 3 "$work/errors")"
	# shellcheck disable=SC2086 # three numbers
	set -- "$1" "$2" "$3" $result
	record "$1" "$3" "$2" ns "$4"
	record "$1" "$3" "$2" peak_bytes "$5"
	record "$1" "$3" "$2" cpu_ns "$6"
	case $2 in
	leakwrap*)
		record "$1" "$3" "$2" tracer_bytes "$(dump_number tracer_bytes)"
		record "$1" "$3" "$2" dump_ns "$(dump_number dump_ns)"
		walks=$(sed -n 's/^walks=//p' "$work/errors")
		record "$1" "$3" "$2" walks "${walks:-0}"
		;;
	valgrind)
		record "$1" "$3" "$2" allocations "$(sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' "$work/valgrind" | tr -d ,)"
		;;
	esac
}

# -- stacks --------------------------------------------------------------------------------------------
# The first function of the program, or of its thread, is main or work.

# share AWK-PROGRAM FILE: percent of the bytes that the program adds to "all" and "good".
share() {
	awk "$1"' END { if (all > 0) printf "%.2f", 100 * good / all }' "$2"
}

# Addresses of main and work as they were at run time, from the list of mappings in a heap profile.
first_functions() {
	bias=$(sed -n "s|^\\([0-9a-f]*\\)-.*r--p 00000000 .*/$1.untraced\$|\\1|p" "$2" | head -n 1)
	nm -S "$bench/$1.untraced" | awk '$4 == "main" || $4 == "work" { print $1, $2 }' |
		while read -r start size; do
			echo "$((0x$bias + 0x$start)) $((0x$bias + 0x$start + 0x$size))"
		done
}

share_of_profile() {
	ranges=$(first_functions "$1" "$2" | tr '\n' ' ')
	tr -d '[]:@' <"$2" | awk -v ranges="$ranges" -v "$3" '
		function number(hex,    i, n) {
			for (i = 3; i <= length(hex); i++)
				n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		function reaches(first,    i, j, pc) {
			for (i = first; i <= NF; i++) {
				pc = number($i)
				for (j = 1; j < count; j += 2)
					if (pc > range[j] && pc <= range[j + 1])
						return 1
			}
			return 0
		}
		BEGIN { count = split(ranges, range, " ") }
		kind == "gperftools" && $5 ~ /^0x/ { all += $2; good += reaches(5) * $2 }
		kind == "jemalloc" && $1 ~ /^0x/ { good_stack = reaches(1); in_stack = 1 }
		kind == "jemalloc" && $1 == "t*" && in_stack { all += $3; good += good_stack * $3; in_stack = 0 }
		END { if (all > 0) printf "%.2f", 100 * good / all }'
}

# stacks PART TOOL PROGRAM PERCENT: runs it until it holds most, and reads what the tool says of that.
# shellcheck disable=SC2016 # for awk
stacks() {
	fresh
	progress "stacks: $3, $2"
	command_of "$2" "$3"
	case $2 in
	# Without roots, LeakSanitizer takes every live block for a leak.
	lsan*) command=$(echo "$command" | sed 's/detect_leaks=0/exitcode=0:use_globals=0:use_stacks=0:use_registers=0:use_tls=0/') ;;
	esac
	# shellcheck disable=SC2086
	$command "$4" keep >"$work/output" 2>"$work/errors" || failed "$command $4 keep: $(tail -n 3 "$work/errors")"
	case $2 in
	leakwrap | static-leakwrap)
		percent=$(share '
			$2 == "site" { size = $4; all += size; sub(/:/, "", $3); counted = 0 }
			$2 ~ /^#/ && $4 ~ /^(main|work)\+/ && !counted { good += size; counted = 1 }' "$work/dump")
		;;
	lsan*)
		percent=$(share '
			/ leak of / { size = $4; all += size; counted = 0 }
			/^ *#/ && / in (main|work) / && !counted { good += size; counted = 1 }' "$work/errors")
		;;
	heaptrack)
		heaptrack_print -f "$work"/heaptrack.* --flamegraph-cost-type leaked -F "$work/folded" \
			--disable-builtin-suppressions -p0 -a0 -T0 -l0 >"$work/output" 2>&1 ||
			failed "heaptrack_print: $(tail -n 3 "$work/output")"
		percent=$(share '{ all += $NF } /(^|;)(main|work) \(/ { good += $NF }' "$work/folded")
		;;
	valgrind)
		percent=$(share '
			{ gsub(/,/, "") }
			/ in loss record / { size = $2; if ($3 ~ /^\(/) size = substr($3, 2); all += size; counted = 0 }
			/ (at|by) 0x/ && /: (main|work) / && !counted { good += size; counted = 1 }' "$work/valgrind")
		;;
	gperftools | jemalloc)
		profile=$(find "$work" -name 'profile*.heap' | sort | tail -n 1)
		percent=$(share_of_profile "$3" "$profile" kind="$2")
		;;
	esac
	[ -z "$percent" ] || record "$1" "$3" "$2" reach_main_percent "$percent"
}

# -- all of it -----------------------------------------------------------------------------------------

in_turns() {
	for tool in $fast; do
		once programs "$tool" "$program" "$BENCH_PERCENT"
	done
}

for program in nothing $BENCH_PROGRAMS; do
	rounds in_turns
done
for program in $BENCH_PROGRAMS; do
	for tool in $slow; do
		once slow "$tool" "$program" "$BENCH_SLOW_PERCENT"
	done
	for tool in leakwrap static-leakwrap lsan heaptrack lsan-dwarf gperftools jemalloc valgrind; do
		stacks programs "$tool" "$program" "$BENCH_SLOW_PERCENT"
	done
done
