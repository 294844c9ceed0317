# results.awk - makes medians of all runs: results.json, one result in each line. lib.sh describes
# its input. tables.awk reads its output.
#
# Variables: date, cpu, cpus, memory (MB), load, rounds, quick, compiler, libc, kernel, parts.

BEGIN {
	FS = "\t"
}

function median(list, count,    i, j, value) {
	for (i = 2; i <= count; i++) {
		value = list[i]
		for (j = i - 1; j >= 1 && list[j] > value; j--)
			list[j + 1] = list[j]
		list[j + 1] = value
	}
	return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}

function quoted(text) {
	gsub(/[\\"]/, "\\\\&", text)
	gsub(/[^ -~]/, "?", text)
	return "\"" text "\""
}

# Returns the number with as many digits as it has.
function number(value) {
	return value == int(value) ? sprintf("%.0f", value) : sprintf("%.6g", value)
}

$1 == "skipped" {
	skips[++skip_count] = "{\"what\":" quoted($2) ",\"why\":" quoted($3) "}"
	next
}

function key_of(part, name, tool, metric) {
	return "\"part\":" quoted(part) ",\"case\":" quoted(name) \
		",\"tool\":" quoted(tool) ",\"metric\":" quoted(metric)
}

function add(key, value) {
	if (!(key in count))
		keys[++key_count] = key
	values[key, ++count[key]] = value
}

{
	add(key_of($1, $2, $3, $4), $5 + 0)
}

# What a tool adds to a pair in each turn: its time less the untraced program's in the turn beside
# it. ("nofp-leakwrap" is compared with "nofp-untraced".)
$1 ~ /^(grid|shapes|allocators|growth)/ && $4 ~ /^(cpu_)?ns$/ {
	plain = $3
	sub(/[a-z]*$/, "untraced", plain)
	plain = key_of($1, $2, plain, $4)
	key = key_of($1, $2, $3, $4)
	if (count[key] <= count[plain])
		add(key_of($1, $2, $3, "added_" $4), $5 - values[plain, count[key]])
}

END {
	printf "{\"format\":\"leakwrap-bench\",\"version\":2,"
	printf "\"date\":%s,\"cpu\":%s,\"cpus\":%d,\"memory_mb\":%d,\n", quoted(date),
		quoted(cpu), cpus, memory
	printf "\"load_before\":%s,\"rounds\":%d,\"quick\":%s,\"parts\":%s,\n",
		load, rounds, quick ? "true" : "false", quoted(parts)
	printf "\"compiler\":%s,\"libc\":%s,\"kernel\":%s,\n",
		quoted(compiler), quoted(libc), quoted(kernel)
	printf "\"results\":[\n"
	for (i = 1; i <= key_count; i++) {
		key = keys[i]
		all = ""
		for (j = 1; j <= count[key]; j++) {
			list[j] = values[key, j]
			all = all (j > 1 ? "," : "") number(list[j])
		}
		printf "{%s,\"median\":%s,\"runs\":[%s]}%s\n", key,
			number(median(list, count[key])), all, (i < key_count ? "," : "")
	}
	printf "],\n\"skipped\":["
	for (i = 1; i <= skip_count; i++)
		printf "%s%s", (i > 1 ? "," : ""), skips[i]
	printf "]}\n"
}
