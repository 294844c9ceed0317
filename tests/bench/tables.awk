# tables.awk - prints the tables of the benchmark from results.json: for a terminal, or with -v
# markdown=1 for a page.
#
#   awk -f tests/bench/tables.awk [-v markdown=1] [-v readme=1] [-v clock=cpu]
# build/bench/results.json
#
# With readme=1 it prints only the tables of tests/bench/README.md. Bold type marks what
# LeakSanitizer does better. With clock=cpu, times are processor times, for a machine with other
# work. Otherwise they are wall times.

BEGIN {
	ns = clock == "cpu" ? "cpu_ns" : "ns"
	markdown = markdown || readme
}

# -- reading: each result stands on a line of its own ----------------------------------------------

function text_of(key,    at, rest) {
	at = index($0, "\"" key "\":\"")
	rest = substr($0, at + length(key) + 4)
	return at ? substr(rest, 1, index(rest, "\"") - 1) : ""
}

function number_of(key,    at) {
	at = index($0, "\"" key "\":")
	return at ? substr($0, at + length(key) + 3) + 0 : 0
}

/"format":/ {
	cpu = text_of("cpu")
	cpus = number_of("cpus")
	date = text_of("date")
	memory = number_of("memory_mb")
}
/"load_before":/ {
	load = number_of("load_before")
	rounds = number_of("rounds")
	quick = /"quick":true/
}
/"compiler":/ { compiler = text_of("compiler"); libc = text_of("libc"); kernel = text_of("kernel") }
/"why":/ { skipped = $0 }

/"part":/ {
	part = text_of("part")
	name = text_of("case")
	if (!((part, name) in known)) {
		known[part, name]
		names[part, ++name_count[part]] = name
	}
	value[part, name, text_of("tool"), text_of("metric")] = number_of("median")
}

function has(part, name, tool, metric) {
	return (part, name, tool, metric) in value
}

function get(part, name, tool, metric) {
	return has(part, name, tool, metric) ? value[part, name, tool, metric] : 0
}

# -- writing: cells, then the table ----------------------------------------------------------------

function start_row() {
	row_count++
	column = 0
}

function cell(text) {
	cells[row_count, ++column] = text
	if (column > column_count)
		column_count = column
	if (length(text) > width[column])
		width[column] = length(text)
}

function cell_number(format, number, good) {
	cell(good ? sprintf(format, number) : "-")
}

function head(list,    i, n, title) {
	n = split(list, title, "|")
	start_row()
	for (i = 1; i <= n; i++)
		cell(title[i])
}

function finish(title,    r, c) {
	printf "%s\n\n", title
	for (r = 1; r <= row_count; r++) {
		if (markdown)
			printf "|"
		for (c = 1; c <= column_count; c++)
			if (markdown)
				printf " %s |", cells[r, c]
			else
				printf("  %" (c == 1 ? "-" : "") width[c] "s", cells[r, c])
		printf "\n"
		if (r == 1 && markdown) {
			printf "|"
			for (c = 1; c <= column_count; c++)
				printf "%s", (c == 1 ? " --- |" : " ---: |")
			printf "\n"
		}
	}
	printf "\n"
	delete cells
	delete width
	row_count = column_count = 0
}

function words(number) {
	if (number >= 1e6 && number % 1e6 == 0)
		return number / 1e6 "M"
	return number >= 1e3 && number % 1e3 == 0 ? number / 1e3 "k" : number
}

# -- the parts -------------------------------------------------------------------------------------

# Returns what TOOL adds to a pair: the median of what it added in each turn.
function adds_in_turns(part, name, tool) {
	return get(part, name, tool, "added_" ns)
}

function added(part, name, tool, plain) {
	return get(part, name, tool, ns) - get(part, name, plain, ns)
}

function grid(    i, name, part, live, adds, lsan_adds) {
	head("live|depth|stacks|threads|untraced|leakwrap|x|LSan|x|adds|LSan adds|share|" \
		"tables: untraced|leakwrap|x|adds|" \
		"recognized|tables|B/block|by peak")
	for (i = 1; i <= name_count["grid"]; i++) {
		name = names["grid", i]
		split(name, part, "/")
		live = part[1]
		start_row()
		cell(words(live)); cell(part[2]); cell(words(part[3])); cell(part[4])
		plain = get("grid", name, "untraced", ns)
		ours = get("grid", name, "leakwrap", ns)
		lsan = get("grid", name, "lsan", ns)
		adds = adds_in_turns("grid", name, "leakwrap")
		lsan_adds = adds_in_turns("grid", name, "lsan")
		cell(sprintf("%.1f", plain))
		cell(sprintf("%.1f", ours))
		cell(sprintf("%.2f", ours / plain))
		cell(sprintf("%.1f", lsan))
		cell(sprintf("%.2f", lsan / plain))
		cell(sprintf("%.1f", adds))
		cell(sprintf("%.1f", lsan_adds))
		cell_number("%.0f%%", 100 * adds / (lsan_adds > 0 ? lsan_adds : 1), lsan_adds > 0)
		plain = get("grid", name, "nofp-untraced", ns)
		ours = get("grid", name, "nofp-leakwrap", ns)
		cell(sprintf("%.1f", plain))
		cell(sprintf("%.1f", ours))
		cell(sprintf("%.2f", ours / plain))
		cell(sprintf("%.1f", adds_in_turns("grid", name, "nofp-leakwrap")))
		cell(sprintf("%.2f%%", get("grid", name, "leakwrap", "recognized_percent")))
		cell(sprintf("%.2f%%", get("grid", name, "nofp-leakwrap", "recognized_percent")))
		cell(sprintf("%.1f", get("grid", name, "leakwrap", "tracer_bytes") / live))
		plain = get("grid", name, "untraced", "peak_bytes")
		ours = get("grid", name, "leakwrap", "peak_bytes")
		cell(sprintf("%.1f", (ours - plain) / live))
	}
	finish("Malloc and free pairs, random replacement in a live set of blocks of 16 to 271 " \
		"bytes: nanoseconds; x: ratio to\n" \
		"untraced; adds: the median of what a turn took longer " \
		"than the untraced program's at that time; share: of what\nLeakSanitizer adds; " \
		"tables: the same compiled without frame pointers; recognized: allocations whose " \
		"stack needed\n" \
		"no walk; B/block: what the tracer holds, for each live block.")
}

function shapes(    i, name, part, share, worst, worst_name) {
	head("shape|live|untraced|leakwrap adds|LeakSanitizer adds|share|" \
		"without frame pointers: untraced|leakwrap adds")
	for (i = 1; i <= name_count["shapes"]; i++) {
		name = names["shapes", i]
		split(name, part, "/")
		start_row()
		cell(readme ? "`" part[1] "`" : part[1])
		cell(words(part[2]))
		cell(sprintf("%.1f", get("shapes", name, "untraced", ns)))
		adds = adds_in_turns("shapes", name, "leakwrap")
		lsan_adds = adds_in_turns("shapes", name, "lsan")
		share = lsan_adds > 0 ? 100 * adds / lsan_adds : 0
		cell(sprintf("%.1f", adds))
		cell(sprintf("%.1f", lsan_adds))
		cell(bold_if(readme && share > 100, sprintf("%.0f%%", share)))
		cell(sprintf("%.1f", get("shapes", name, "nofp-untraced", ns)))
		cell(sprintf("%.1f", adds_in_turns("shapes", name, "nofp-leakwrap")))
		if (share > worst) {
			worst = share
			worst_name = name
		}
	}
	finish("Malloc and free pairs of programs that use the heap in different ways " \
		"(pairs.c): nanoseconds; adds: the median of what a\nturn took longer than the " \
		"untraced program's at that time; share: of what LeakSanitizer adds")
	if (worst)
		printf "The worst shape is %s: %.0f%% of what LeakSanitizer adds.\n\n", \
			worst_name, worst
}

function plain_of(tool) {
	if (tool ~ /^(static|shared)-/)
		return substr(tool, 1, 7) "untraced"
	if (tool ~ /^(jemalloc|tcmalloc)-sampled$/)
		return substr(tool, 1, 8)
	return "untraced"
}

function ratio(part, name, tool, metric) {
	if (!has(part, name, tool, metric))
		return 0
	return get(part, name, tool, metric) / get(part, name, plain_of(tool), metric)
}

function programs_by(metric, title,    i, j, n, name, tools, tool, part, shown, sum, used) {
	n = split("leakwrap static-leakwrap lsan heaptrack lsan-dwarf gperftools jemalloc valgrind",
		tools, " ")
	head("program|untraced|leakwrap|linked statically|LSan|heaptrack|LSan, DWARF|gperftools|" \
		"jemalloc|valgrind")
	for (i = 1; i <= name_count["programs"]; i++) {
		name = names["programs", i]
		if (name == "nothing")
			continue
		start_row()
		cell(name)
		if (metric == ns)
			cell(sprintf("%.3f s", get("programs", name, "untraced", ns) / 1e9))
		else if (metric == "peak_bytes")
			cell(sprintf("%.1f MB", \
				get("programs", name, "untraced", "peak_bytes") / 1e6))
		else
			cell("-")
		for (j = 1; j <= n; j++) {
			tool = tools[j]
			part = has("programs", name, tool, ns) ? "programs" : "slow"
			if (metric == "reach_main_percent") {
				part = "programs"
				shown = get(part, name, tool, metric)
				cell_number("%.1f%%", shown, has(part, name, tool, metric))
			} else {
				shown = ratio(part, name, tool, metric)
				cell_number("%.2f", shown, has(part, name, tool, metric))
			}
			if (shown > 0) {
				sum[tool] += log(shown)
				used[tool]++
			}
		}
	}
	if (metric != "reach_main_percent") {
		start_row()
		cell("geometric mean")
		cell("1")
		for (j = 1; j <= n; j++)
			cell_number("%.2f",
				exp(sum[tools[j]] / (used[tools[j]] ? used[tools[j]] : 1)),
				used[tools[j]] > 0)
	}
	finish(title)
}

function programs(    i, name, slower) {
	programs_by(ns, "Whole programs on prebuilt archives: " \
		(clock == "cpu" ? "processor" : "wall") " time as a multiple of " \
		"the untraced program's;\nlinked statically: of the " \
		"program that is so linked, untraced; the last four: a part of the work, once")
	programs_by("peak_bytes", "The same: peak of resident memory as a multiple of the " \
		"untraced program's")
	programs_by("reach_main_percent", "The same: share of the live bytes whose stacks reach " \
		"main or the thread's function, each tool as it comes")
	head("program|leakwrap adds|LSan adds|heaptrack adds|heaptrack / leakwrap|peak adds MB|" \
		"tracer MB|exit dump ms|stacks recognized")
	for (i = 1; i <= name_count["programs"]; i++) {
		name = names["programs", i]
		start_row()
		cell(name)
		ours = added("programs", name, "leakwrap", "untraced")
		cell(sprintf("%.0f ms", ours / 1e6))
		cell(sprintf("%.0f ms", added("programs", name, "lsan", "untraced") / 1e6))
		slower = added("programs", name, "heaptrack", "untraced")
		cell(sprintf("%.0f ms", slower / 1e6))
		cell_number("%.1f", slower / (ours ? ours : 1), ours > 0)
		cell(sprintf("%.2f", (get("programs", name, "leakwrap", "peak_bytes") - \
			get("programs", name, "untraced", "peak_bytes")) / 1e6))
		cell(sprintf("%.2f", get("programs", name, "leakwrap", "tracer_bytes") / 1e6))
		cell(sprintf("%.2f", get("programs", name, "leakwrap", "dump_ns") / 1e6))
		allocations = get("slow", name, "valgrind", "allocations")
		walks = get("slow", name, "leakwrap", "walks")
		cell_number("%.2f%%", 100 * (1 - walks / (allocations + 0.1)),
			has("slow", name, "valgrind", "allocations"))
	}
	finish("The same: added time, and what leakwrap itself says; " \
		"\"nothing\" allocates one block and so shows the fixed part")
}

function shared(    i, name, sum, ours, lsan, used) {
	head("linked with shared libraries|untraced|leakwrap|LeakSanitizer|peak: leakwrap|" \
		"LeakSanitizer")
	for (i = 1; i <= name_count["programs"]; i++) {
		name = names["programs", i]
		if (name == "nothing" || !has("programs", name, "shared-leakwrap", ns))
			continue
		start_row()
		cell(readme ? "`" name "`" : name)
		cell(sprintf("%.2f s", get("programs", name, "shared-untraced", ns) / 1e9))
		ours = ratio("programs", name, "shared-leakwrap", ns)
		lsan = ratio("programs", name, "shared-lsan", ns)
		cell(bold_if(readme && ours > lsan, sprintf("%.2f", ours)))
		cell(sprintf("%.2f", lsan))
		cell(sprintf("%.2f", ratio("programs", name, "shared-leakwrap", "peak_bytes")))
		cell(sprintf("%.2f", ratio("programs", name, "shared-lsan", "peak_bytes")))
		sum["ours"] += log(ours)
		sum["lsan"] += log(lsan)
		used++
	}
	if (!used)
		return
	start_row()
	cell("geometric mean")
	cell("1")
	cell(sprintf("%.2f", exp(sum["ours"] / used)))
	cell(sprintf("%.2f", exp(sum["lsan"] / used)))
	finish("The same programs with the same libraries as shared libraries, of which every " \
		"allocation is recorded: time and peak of\nresident memory as multiples of " \
		"the untraced program's that is so linked")
}

function sampling(    i, j, n, name, tools, shown, sum) {
	n = split("sampled off jemalloc-sampled tcmalloc-sampled", tools, " ")
	head("sampled by 512 KiB|untraced|leakwrap|leakwrap, off|jemalloc|gperftools|" \
		"peak: leakwrap|jemalloc|gperftools")
	for (i = 1; i <= name_count["sampling"]; i++) {
		name = names["sampling", i]
		start_row()
		cell(readme ? "`" name "`" : name)
		cell(sprintf("%.2f s", get("sampling", name, "untraced", ns) / 1e9))
		for (j = 1; j <= n; j++) {
			shown = ratio("sampling", name, tools[j], ns)
			cell(sprintf("%.3f", shown))
			sum[j] += log(shown)
		}
		for (j = 1; j <= n; j++)
			if (tools[j] != "off")
				cell(sprintf("%.3f",
					ratio("sampling", name, tools[j], "peak_bytes")))
	}
	start_row()
	cell("geometric mean")
	cell("1")
	for (j = 1; j <= n; j++)
		cell(sprintf("%.3f", exp(sum[j] / name_count["sampling"])))
	finish("Whole programs with sampling: time and peak of resident memory as multiples of " \
		"the untraced program's;\njemalloc and gperftools: of the program with the same " \
		"allocator that does not sample")
}

# Returns cycles by the rule of thumb of KCachegrind, its event type "Cycle Estimation".
function cycles(part, name, tool) {
	return get(part, name, tool, "instructions") + 100 * get(part, name, tool, "l2_misses") + \
		10 * (get(part, name, tool, "l1_misses") + get(part, name, tool, "mispredicts"))
}

# Returns what TOOL counts as a multiple of the untraced program's, or "-" if that is 0.
function counted(name, tool, metric,    plain) {
	plain = get("counts", name, "untraced", metric)
	cell_number("%.2f", get("counts", name, tool, metric) / (plain ? plain : 1), plain > 0.01)
}

function counts(    i, j, k, n, name, metrics, tools, estimate, sum) {
	n = split("instructions l1_misses l2_misses mispredicts", metrics, " ")
	split("leakwrap lsan", tools, " ")
	head("program|M instructions|leakwrap|LSan|L1 misses: leakwrap|LSan|" \
		"L2 misses: leakwrap|LSan|mispredicted: leakwrap|LSan|" \
		"cycles: leakwrap|LSan")
	for (i = 1; i <= name_count["counts"]; i++) {
		name = names["counts", i]
		start_row()
		cell(readme ? "`" name "`" : name)
		cell(sprintf("%.0f", get("counts", name, "untraced", "instructions")))
		for (j = 1; j <= n; j++)
			for (k = 1; k <= 2; k++)
				counted(name, tools[k], metrics[j])
		for (k = 1; k <= 2; k++) {
			plain = cycles("counts", name, "untraced")
			estimate = cycles("counts", name, tools[k]) / plain
			lsan = cycles("counts", name, "lsan") / plain
			cell(bold_if(readme && k == 1 && estimate > lsan,
				sprintf("%.2f", estimate)))
			sum[k] += log(estimate)
		}
	}
	start_row()
	cell("geometric mean")
	for (j = 1; j <= 1 + 2 * n; j++)
		cell("")
	for (k = 1; k <= 2; k++)
		cell(sprintf("%.2f", exp(sum[k] / name_count["counts"])))
	finish("The same counted by a simulated processor, as multiples of what the untraced " \
		"program counts; cycles by the rule of\n" \
		"KCachegrind: one for each instruction, 10 for a " \
		"miss of the L1 caches or a misprediction, 100 for one of the L2 cache:")
}

function counts_of_pairs(    i, name, at, ours, lsan) {
	head("live blocks|depth|stacks|instructions|leakwrap adds|LSan adds|cycles|leakwrap adds|" \
		"LSan adds|share")
	for (i = 1; i <= name_count["counts-pairs"]; i++) {
		name = names["counts-pairs", i]
		split(name, at, "/")
		start_row()
		cell(words(at[1])); cell(at[2]); cell(words(at[3]))
		plain = get("counts-pairs", name, "untraced", "instructions")
		cell(sprintf("%.0f", plain))
		cell(sprintf("%.0f", get("counts-pairs", name, "leakwrap", "instructions") - plain))
		cell(sprintf("%.0f", get("counts-pairs", name, "lsan", "instructions") - plain))
		plain = cycles("counts-pairs", name, "untraced")
		ours = cycles("counts-pairs", name, "leakwrap") - plain
		lsan = cycles("counts-pairs", name, "lsan") - plain
		cell(sprintf("%.0f", plain))
		cell(sprintf("%.0f", ours))
		cell(sprintf("%.0f", lsan))
		cell(sprintf("%.0f%%", 100 * ours / lsan))
	}
	finish("A malloc and free pair with one thread, counted likewise; share: of what " \
		"LeakSanitizer adds")
}

function allocators(    i, name, at, plain, ours) {
	head("allocator|live blocks|untraced ns|leakwrap|x|adds|bytes for a block")
	for (i = 1; i <= name_count["allocators"]; i++) {
		name = names["allocators", i]
		split(name, at, "/")
		plain = get("allocators", name, at[1] "-untraced", ns)
		ours = get("allocators", name, at[1] "-leakwrap", ns)
		start_row()
		cell(at[1] == "c" ? "the C library's" : at[1])
		cell(words(at[2]))
		cell(sprintf("%.1f", plain))
		cell(sprintf("%.1f", ours))
		cell_number("%.2f", plain ? ours / plain : 0, plain)
		cell(sprintf("%.1f", adds_in_turns("allocators", name, at[1] "-leakwrap")))
		cell_number("%.1f",
			get("allocators", name, at[1] "-leakwrap", "tracer_bytes") / at[2],
			at[2] >= 100000)
	}
	finish("Other allocators: a malloc and free pair of blocks of 1 to 64 bytes; depth 8, " \
		"100 stacks, one thread")
}

function frames(    i, j, n, depth, ways, titles, base) {
	n = split("frame-pointers recognition tables-cached walk-to-site tables-missed libunwind " \
		"libgcc", ways, " ")
	split("frame pointers|a stack recognized|tables, cached rules|" \
		"that walk, and its call site|tables, every rule missed|" \
		"libunwind, cached|libgcc", titles, "|")
	start_row()
	cell("way")
	for (i = 1; i <= name_count["frames"]; i++) {
		cell("depth " names["frames", i])
		cell("libunwind's")
	}
	for (j = 1; j <= n; j++) {
		start_row()
		cell(titles[j])
		for (i = 1; i <= name_count["frames"]; i++) {
			depth = names["frames", i]
			base = get("frames", depth, "libunwind", "ns") / \
				get("frames", depth, "libunwind", "frames")
			ours = get("frames", depth, ways[j], "ns") / \
				get("frames", depth, ways[j], "frames")
			cell(sprintf("%.2f", ours))
			cell(sprintf("%.1fx", base / ours))
		}
	}
	finish("Nanoseconds for a frame of a backtrace; libunwind's: " \
		"how many times faster than that")
}

# Prints the table of a part in which WHAT grows, one row for each case.
function growth(part, what, title,    i, name, plain, ours, lsan) {
	if (!name_count[part])
		return
	head(what "|untraced ns|leakwrap|x|adds|LSan|x|adds|recognized|tracer MB|" \
		(part == "growth-sites" ? "bytes/site" : "bytes/block"))
	for (i = 1; i <= name_count[part]; i++) {
		name = names[part, i]
		start_row()
		cell(words(name))
		plain = get(part, name, "untraced", ns)
		ours = get(part, name, "leakwrap", ns)
		lsan = get(part, name, "lsan", ns)
		cell(sprintf("%.1f", plain))
		cell(sprintf("%.1f", ours))
		cell(sprintf("%.2f", ours / plain))
		cell(sprintf("%.1f", adds_in_turns(part, name, "leakwrap")))
		cell(sprintf("%.1f", lsan))
		cell(sprintf("%.2f", lsan / plain))
		cell(sprintf("%.1f", adds_in_turns(part, name, "lsan")))
		cell(sprintf("%.2f%%", get(part, name, "leakwrap", "recognized_percent")))
		cell(sprintf("%.2f", get(part, name, "leakwrap", "tracer_bytes") / 1e6))
		if (part == "growth-sites")
			cell(sprintf("%.0f", (get(part, name, "leakwrap", "tracer_bytes") - \
				get(part, names[part, 1], "leakwrap", "tracer_bytes")) / \
				(name > names[part, 1] ? name - names[part, 1] : 1)))
		else
			cell(sprintf("%.1f", get(part, name, "leakwrap", "tracer_bytes") / \
				(part == "growth-live" ? name : \
				part == "growth-depth" ? 10000 : 64000)))
	}
	finish(title)
}

# Prints the pairs of all threads in a second. If locks of the tracer take time, the quotient falls.
function contention(    i, name, part, two, traced, n, tools, j, base) {
	part = "growth-threads"
	if (!name_count[part])
		return
	n = split("untraced leakwrap lsan", tools, " ")
	head("threads|untraced M pairs/s|leakwrap|of untraced|LSan|of untraced|" \
		"waits in 1000: untraced|leakwrap|LSan")
	for (i = 1; i <= name_count[part]; i++) {
		name = names[part, i]
		base = get(part, name, "untraced", "pairs_per_second")
		start_row()
		cell(name)
		cell(sprintf("%.2f", base / 1e6))
		for (j = 2; j <= n; j++) {
			cell(sprintf("%.2f", get(part, name, tools[j], "pairs_per_second") / 1e6))
			cell(sprintf("%.2f", get(part, name, tools[j], "pairs_per_second") / base))
		}
		for (j = 1; j <= n; j++)
			cell(sprintf("%.4f", get(part, name, tools[j], "waits_per_1000")))
	}
	finish("Threads and throughput, on " cpus " CPUs; waits: voluntary context switches, " \
		"which is what a thread does that waits\n" \
		"for a lock")
	if (has(part, 64, "leakwrap", "pairs_per_second") &&
		has(part, 2, "leakwrap", "pairs_per_second")) {
		two = ratio(part, 2, "leakwrap", "pairs_per_second")
		traced = ratio(part, 64, "leakwrap", "pairs_per_second")
		printf "Contention: with 64 threads leakwrap leaves %.1f%% of the untraced " \
			"throughput, with 2 threads %.1f%%: a factor of %.2f.\n\n",
			100 * traced, 100 * two, traced / two
	}
}

function dumps(    i, name, at) {
	head("live blocks|stacks|held ms|dump_ns says|log MB|tracer MB")
	for (i = 1; i <= name_count["dump"]; i++) {
		name = names["dump", i]
		split(name, at, "/")
		start_row()
		cell(words(at[1]))
		cell(words(at[2]))
		cell(sprintf("%.1f", get("dump", name, "leakwrap", "held_ns") / 1e6))
		cell(sprintf("%.1f", get("dump", name, "leakwrap", "dump_ns") / 1e6))
		cell(sprintf("%.2f", get("dump", name, "leakwrap", "dump_bytes") / 1e6))
		cell(sprintf("%.1f", get("dump", name, "leakwrap", "tracer_bytes") / 1e6))
	}
	finish("A dump on SIGUSR1 to a file: how long the thread that gets the signal is held")
}

function reach(    i, name, at, bytes) {
	head("heap|MB|threads stopped ms|longest gap ms|a fork alone ms|search GB/s|" \
		"own memory, 1 byte for")
	for (i = 1; i <= name_count["reach"]; i++) {
		name = names["reach", i]
		split(name, at, "/")
		bytes = get("reach", name, "leakwrap", "heap_bytes")
		start_row()
		cell(at[1])
		cell(sprintf("%d", bytes / 1e6))
		cell(sprintf("%.1f", get("reach", name, "leakwrap", "pause_ns") / 1e6))
		cell(sprintf("%.1f", get("reach", name, "leakwrap", "gap_ns") / 1e6))
		cell(sprintf("%.1f", get("reach", name, "kernel", "fork_ns") / 1e6))
		cell(sprintf("%.2f", bytes / get("reach", name, "leakwrap", "cpu_ns")))
		cell(sprintf("%d bytes", bytes / (get("reach", name, "leakwrap", "own_bytes") + 1)))
	}
	finish("Lost or reachable: the least of five searches in each round; GB of heap for each " \
		"second of processor time of the copy")
}

# -- the selection of tests/bench/README.md --------------------------------------------------------

function bold_if(bad, text) {
	return bad ? "**" text "**" : text
}

# Returns the smallest and the largest share of live bytes whose stacks reach main.
function shares(tool,    i, name, share, least, most, found) {
	for (i = 1; i <= name_count["programs"]; i++) {
		name = names["programs", i]
		if (!has("programs", name, tool, "reach_main_percent"))
			continue
		share = get("programs", name, tool, "reach_main_percent")
		if (!found++)
			least = most = share
		least = share < least ? share : least
		most = share > most ? share : most
	}
	if (!found)
		return "-"
	least = sprintf("%.0f", least)
	most = sprintf("%.0f", most)
	return least == most ? most " %" : least " to " most " %"
}

function readme_mean(metric, tool,    i, name, part, sum, used) {
	for (i = 1; i <= name_count["programs"]; i++) {
		name = names["programs", i]
		part = has("programs", name, tool, metric) ? "programs" : "slow"
		if (name != "nothing" && has(part, name, tool, metric)) {
			sum += log(ratio(part, name, tool, metric))
			used++
		}
	}
	return used ? exp(sum / used) : 0
}

function readme_programs(    i, j, n, name, part, tools) {
	n = split("leakwrap lsan heaptrack lsan-dwarf gperftools jemalloc valgrind", tools, " ")
	head("whole program|untraced|leakwrap|LeakSanitizer|heaptrack|" \
		"LeakSanitizer, DWARF stacks|gperftools|jemalloc|valgrind")
	for (i = 1; i <= name_count["programs"]; i++) {
		name = names["programs", i]
		if (name == "nothing")
			continue
		start_row()
		cell("`" name "`")
		cell(sprintf("%.2f s", get("programs", name, "untraced", ns) / 1e9))
		for (j = 1; j <= n; j++) {
			part = has("programs", name, tools[j], ns) ? "programs" : "slow"
			faster = ratio(part, name, "lsan", ns)
			cell(bold_if(j == 1 && ratio(part, name, tools[j], ns) > faster,
				sprintf("%.2f", ratio(part, name, tools[j], ns))))
		}
	}
	start_row(); cell("geometric mean"); cell("1")
	for (j = 1; j <= n; j++)
		cell(sprintf("%.2f", readme_mean(ns, tools[j])))
	start_row(); cell("peak memory, the same"); cell("1")
	for (j = 1; j <= n; j++)
		cell(sprintf("%.2f", readme_mean("peak_bytes", tools[j])))
	start_row(); cell("bytes whose stacks reach `main`"); cell("")
	for (j = 1; j <= n; j++)
		cell(shares(tools[j]))
	finish("Whole programs on prebuilt archives, time as a multiple of the untraced program's:")
}

function readme_grid(    i, j, name, at, row, rows, row_known, row_total, n, many, many_known,
	stacks, ours, lsan) {
	for (i = 1; i <= name_count["grid"]; i++) {
		split(names["grid", i], at, "/")
		row = at[1] "/" at[2] "/" at[4]
		if (!(row in row_known)) {
			row_known[row]
			rows[++row_total] = row
		}
		if (!(at[3] in many_known)) {
			many_known[at[3]]
			many[++n] = at[3]
		}
	}
	start_row(); cell("live blocks"); cell("depth"); cell("threads")
	for (j = 1; j <= n; j++)
		cell(words(many[j]) (many[j] == 1 ? " stack" : " stacks"))
	cell("bytes for a block")
	for (i = 1; i <= row_total; i++) {
		split(rows[i], at, "/")
		start_row(); cell(words(at[1])); cell(at[2]); cell(at[3])
		for (j = 1; j <= n; j++) {
			name = at[1] "/" at[2] "/" many[j] "/" at[3]
			ours = adds_in_turns("grid", name, "leakwrap")
			lsan = adds_in_turns("grid", name, "lsan")
			cell(bold_if(ours > lsan, sprintf("%.0f of %.0f", ours, lsan)))
		}
		name = at[1] "/" at[2] "/" many[1] "/" at[3]
		cell_number("%.1f", get("grid", name, "leakwrap", "tracer_bytes") / at[1],
			at[1] >= 100000)
	}
	finish("Random replacement in a live set of blocks of 16 to 271 bytes, nanoseconds that " \
		"leakwrap adds to a malloc and free\n" \
		"pair, of what LeakSanitizer adds:")
}

END {
	if (readme) {
		printf "On %d CPUs, %s, %s, %s:\n\n", cpus, cpu, libc, substr(date, 1, 10)
		if (name_count["programs"]) {
			readme_programs()
			shared()
		}
		if (name_count["sampling"])
			sampling()
		if (name_count["counts"])
			counts()
		if (name_count["grid"])
			readme_grid()
		if (name_count["shapes"])
			shapes()
		if (name_count["allocators"])
			allocators()
		if (name_count["frames"])
			frames()
		if (name_count["dump"])
			dumps()
		if (name_count["reach"])
			reach()
		exit
	}
	printf "%sOn %s, %d CPUs, %d MB, %s, %s, %s; load before %s; medians of %d round%s in " \
		"turns; %s%s\n\n", (markdown ? "" : "\n"),
		cpu, cpus, memory, kernel, libc, compiler, load,
		rounds, (rounds == 1 ? "" : "s"), date,
		(quick ? "; a QUICK pass, whose figures mean little" : "")
	if (name_count["programs"]) {
		programs()
		shared()
	}
	if (name_count["sampling"])
		sampling()
	if (name_count["counts"])
		counts()
	if (name_count["grid"])
		grid()
	if (name_count["shapes"])
		shapes()
	if (name_count["counts-pairs"])
		counts_of_pairs()
	if (name_count["allocators"])
		allocators()
	if (name_count["frames"])
		frames()
	growth("growth-live", "live blocks", "Growth of live blocks, of 16 to 24 bytes: " \
		"nanoseconds of a pair; depth 8, 100 stacks, one thread")
	growth("growth-sites", "call sites", "Growth of call sites, of about 12 frames each; " \
		"100k live blocks, depth 8, one thread")
	growth("growth-depth", "depth", "Growth of depth, all frames kept by both; " \
		"10k live blocks, 100 stacks, one thread")
	growth("growth-threads", "threads", "Growth of threads; 64k live blocks, depth 8, " \
		"1,000 stacks; nanoseconds of a pair of one thread, which also waits for its turn")
	contention()
	if (name_count["dump"])
		dumps()
	if (name_count["reach"])
		reach()
	if (skipped != "" && skipped !~ /"skipped":\[\]/)
		print "Not run: " skipped "\n"
}
