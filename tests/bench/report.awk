# report.awk - from the runs to medians and ratios: a table on the terminal, and a JSON file.

function median(key,    count, i, j, value, list) {
	count = split(runs[key], list, " ")
	for (i = 2; i <= count; i++) {
		value = list[i] + 0
		for (j = i - 1; j >= 1 && list[j] + 0 > value; j--)
			list[j + 1] = list[j]
		list[j + 1] = value
	}
	if (count % 2)
		return list[(count + 1) / 2] + 0
	return (list[count / 2] + list[count / 2 + 1]) / 2
}

function add(key, value) {
	runs[key] = runs[key] " " value
}

$1 == "pairs" {
	cell = $3 " " $4 " " $5 " " $6
	if (!(cell in seen_cell)) {
		seen_cell[cell]
		cells[++cell_count] = cell
	}
	add(cell " ns " $2, $7)
	add(cell " peak " $2, $8)
	add(cell " tracer " $2, $9)
}

$1 == "program" {
	if (!($3 in seen_program)) {
		seen_program[$3]
		programs[++program_count] = $3
	}
	if (!($2 in seen_variant)) {
		seen_variant[$2]
		variants[++variant_count] = $2
	}
	add($3 " ns " $2, $4)
	add($3 " peak " $2, $5)
}

END {
	printf "{\"format\":\"leakwrap-bench\",\"version\":1,\"date\":\"%s\",\"cpu\":\"%s\",\"cpus\":%d,\"load_before\":%s,\"rounds\":%d,\n",
		date, cpu, cpus, load, rounds >json
	printf "\"pairs\":[" >json

	print "malloc+free pairs: medians of " rounds " runs in turns, nanoseconds of a pair; x: ratio to untraced; added:"
	print "the tracer's share of what LeakSanitizer adds; B/block: tracer memory for each live block, as the dump"
	print "says it and as the peak of resident memory shows it.  " cpus " CPUs, " cpu ", load before " load ", " date
	print ""
	print "   live depth stacks thr | untraced  traced     x    lsan     x  added |  MB: untr.  traced    lsan | B/block:  dump    peak"
	for (i = 1; i <= cell_count; i++) {
		cell = cells[i]
		split(cell, part, " ")
		plain = median(cell " ns untraced")
		ours = median(cell " ns traced")
		lsan = median(cell " ns lsan")
		peak_plain = median(cell " peak untraced")
		peak_ours = median(cell " peak traced")
		peak_lsan = median(cell " peak lsan")
		by_dump = median(cell " tracer traced") / part[1]
		by_peak = (peak_ours - peak_plain) / part[1]
		printf "%7d %5d %6d %3d | %8.1f %7.1f %5.2f %7.1f %5.2f %5.0f%% | %9.1f %7.1f %7.1f | %13.1f %7.1f\n",
			part[1], part[2], part[3], part[4], plain, ours, ours / plain, lsan, lsan / plain,
			(lsan > plain ? 100 * (ours - plain) / (lsan - plain) : 0),
			peak_plain / 1e6, peak_ours / 1e6, peak_lsan / 1e6, by_dump, by_peak
		printf "%s\n {\"live\":%d,\"depth\":%d,\"stacks\":%d,\"threads\":%d,", (i > 1 ? "," : ""), part[1], part[2], part[3],
			part[4] >json
		printf "\"untraced\":{\"ns\":%.2f,\"peak_bytes\":%.0f},", plain, peak_plain >json
		printf "\"traced\":{\"ns\":%.2f,\"peak_bytes\":%.0f,\"ratio\":%.3f,\"tracer_bytes\":%.0f},", ours, peak_ours,
			ours / plain, median(cell " tracer traced") >json
		printf "\"lsan\":{\"ns\":%.2f,\"peak_bytes\":%.0f,\"ratio\":%.3f}}", lsan, peak_lsan, lsan / plain >json
	}

	printf "],\n\"programs\":[" >json
	print ""
	print "whole programs on prebuilt archives: medians of wall time, and of the peak of resident memory"
	print ""
	print "  program        tool        seconds      x      MB      x"
	for (i = 1; i <= program_count; i++) {
		name = programs[i]
		plain = median(name " ns untraced")
		peak_plain = median(name " peak untraced")
		printf "%s\n {\"name\":\"%s\"", (i > 1 ? "," : ""), name >json
		for (j = 1; j <= variant_count; j++) {
			ours = median(name " ns " variants[j])
			peak_ours = median(name " peak " variants[j])
			printf "  %-14s %-10s %8.3f %6.2f %7.1f %6.2f\n", name, variants[j], ours / 1e9, ours / plain,
				peak_ours / 1e6, peak_ours / peak_plain
			printf ",\"%s\":{\"ns\":%.0f,\"peak_bytes\":%.0f,\"ratio\":%.3f}", variants[j], ours, peak_ours,
				ours / plain >json
		}
		printf "}" >json
	}
	printf "]}\n" >json
}
