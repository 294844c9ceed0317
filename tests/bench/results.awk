# results.awk - from every run (lib.sh says how they are written) to medians: results.json, one result to a line,
# which tables.awk reads again.
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

# As many digits as it has.
function number(value) {
	return value == int(value) ? sprintf("%.0f", value) : sprintf("%.6g", value)
}

$1 == "skipped" {
	skips[++skip_count] = "{\"what\":" quoted($2) ",\"why\":" quoted($3) "}"
	next
}

{
	key = "\"part\":" quoted($1) ",\"case\":" quoted($2) ",\"tool\":" quoted($3) ",\"metric\":" quoted($4)
	if (!(key in count))
		keys[++key_count] = key
	values[key, ++count[key]] = $5 + 0
}

END {
	printf "{\"format\":\"leakwrap-bench\",\"version\":2,\"date\":%s,\"cpu\":%s,\"cpus\":%d,\"memory_mb\":%d,\n", quoted(date),
		quoted(cpu), cpus, memory
	printf "\"load_before\":%s,\"rounds\":%d,\"quick\":%s,\"parts\":%s,\n", load, rounds, quick ? "true" : "false", quoted(parts)
	printf "\"compiler\":%s,\"libc\":%s,\"kernel\":%s,\n\"results\":[\n", quoted(compiler), quoted(libc), quoted(kernel)
	for (i = 1; i <= key_count; i++) {
		key = keys[i]
		all = ""
		for (j = 1; j <= count[key]; j++) {
			list[j] = values[key, j]
			all = all (j > 1 ? "," : "") number(list[j])
		}
		printf "{%s,\"median\":%s,\"runs\":[%s]}%s\n", key, number(median(list, count[key])), all, (i < key_count ? "," : "")
	}
	printf "],\n\"skipped\":["
	for (i = 1; i <= skip_count; i++)
		printf "%s%s", (i > 1 ? "," : ""), skips[i]
	printf "]}\n"
}
