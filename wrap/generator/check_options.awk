# check_options.awk - reads options in the notation of LEAKWRAP_OPTIONS, and refuses what the
# runtime would refuse: one line on standard error, and status 2.  Called by generate.sh.
#
#   awk -v file=OPTIONS -f check_options.awk
#
# The file OPTIONS has a line KEY|VALUES for each option of this runtime, in the words of help=1.
# It also has lines "signal NAME NUMBER" and "limit WHAT NUMBER" (limits.in).  tests/link/baked.sh
# compares this check with the runtime.

function refuse(why) {
	print "leakwrap: options: " why > "/dev/stderr"
	failed = 1
	exit 2
}

# -- numbers.  Texts are compared: a number of awk is not exact from 2^53 on -----------------------

# Returns whether TEXT is a decimal number from LEAST, 0 or 1, to MOST.
function is_number(text, least, most) {
	if (text !~ /^[0-9]+$/)
		return 0
	sub(/^0+/, "", text)
	if (text == "")
		return least == 0
	if (length(text) != length(most))
		return length(text) < length(most)
	return text "" <= most ""
}

# Returns whether TEXT is a number of bytes, which K, M or G may follow.
function is_bytes(text,    power) {
	power = length(text) > 1 ? index("KMG", toupper(substr(text, length(text)))) : 0
	return is_number(power ? substr(text, 1, length(text) - 1) : text, 0, most_units[power + 1])
}

function bytes_of(text) {
	return text * 1024 ^ index("KMG", toupper(substr(text, length(text))))
}

# -- values ---------------------------------------------------------------------------------------

# Returns whether TEXT is not empty, and has room in the place WHAT.
function fits(text, what) {
	return text != "" && (!(what in limit) || length(text) < limit[what])
}

function is_signal(text,    name) {
	if (text == "none")
		return 1
	sub(/^SIG/, "", text)
	for (name in signal)
		if (text == name || is_number(text, 1, 999) && text + 0 == signal[name])
			return 1
	if (text ~ /^RTMIN\+/)
		return is_number(substr(text, 7), 0,
			limit["last_real_time"] - limit["first_real_time"])
	return is_number(text, 1, limit["last_real_time"]) && text + 0 >= limit["first_real_time"]
}

function is_path(text) {
	return fits(text, "log") && text ~ /^([^%]|%[pneh%])+$/
}

function is_cgroup(text) {
	return text == "auto" || text ~ /^\// && fits(text, "cgroup")
}

function is_dump_at(text,    parts, count, i, name, value, has) {
	if (text == "none")
		return 1
	count = split(text, parts, ",")
	for (i = 1; i <= count; i++) {
		name = value = parts[i]
		sub(/:.*/, "", name)
		if (name in has)
			return 0
		has[name] = 1
		if (value == "failure")
			continue
		if (!sub(/^[a-z]*:/, "", value) ||
		    !(name ~ /^(live|rss)$/ && is_bytes(value) && value !~ /^0+[KMGkmg]?$/ ||
		      name == "limit" && is_number(value, 1, 100) ||
		      name == "height" && is_number(value, 1, 1000)))
			return 0
	}
	return count > 0
}

# Returns whether TEXT is SIZE, MIN-, -MAX or MIN-MAX.
function is_range(text,    ends, count) {
	count = split(text, ends, "-")
	if (count > 2 || text !~ /[0-9]/ || ends[1] != "" && !is_number(ends[1], 0, most_units[1]))
		return 0
	return count == 1 || ends[2] == "" ||
		is_number(ends[2], 0, most_units[1]) &&
		(ends[1] == "" || is_number(ends[1], 0, ends[2]))
}

# Returns whether VALUE is a value of the word NAME of the option fail.
function is_value_in_fail(name, value) {
	if (name ~ /^(nth|rate|hit)$/)
		return is_number(value, 1, MOST_64)
	if (name == "seed")
		return is_number(value, 0, MOST_64)
	if (name == "site") {
		sub(/^0x/, "", value)
		sub(/^0+/, "0", value)
		return value ~ /^[0-9a-f]+$/ && length(value) <= 16 + (value ~ /^0/)
	}
	if (name == "size")
		return is_range(value)
	return name ~ /^(below|plan)$/ && fits(value, name)
}

function is_fail(text,    words, count, i, name, has) {
	if (text == "off")
		return 1
	sub(/,$/, "", text)
	count = split(text, words, ",")
	for (i = 1; i <= count; i++) {
		name = words[i]
		sub(/=.*/, "", name)
		if (name in has)
			return 0
		has[name] = 1
		if (words[i] !~ /^(list|sticky)$/ &&
		    !(words[i] ~ /=/ && is_value_in_fail(name, substr(words[i], length(name) + 2))))
			return 0
	}
	return ("nth" in has) + ("rate" in has) + ("site" in has) + ("plan" in has) + \
		("list" in has) == 1 && (!("hit" in has) || "site" in has)
}

# Returns whether VALUE is one of the VALUES of the option KEY.
function is_value(key, value, values,    forms, n, i, form) {
	if (key == "signal")
		return is_signal(value)
	if (key == "log")
		return is_path(value)
	if (key == "cgroup")
		return is_cgroup(value)
	if (key == "dump_at")
		return is_dump_at(value)
	if (key == "fail")
		return is_fail(value)
	if (values ~ /^BYTES, at most /)
		return is_bytes(value) && bytes_of(value) <= bytes_of(substr(values, 16))
	gsub(/ or /, ", ", values)
	n = split(values, forms, /, */)
	for (i = 1; i <= n; i++) {
		form = forms[i]
		if (form ~ /^[0-9]+ to [0-9]+$/) {
			split(form, ends, / to /)
			if (is_number(value, 0, ends[2]) && value + 0 >= ends[1] + 0)
				return 1
		} else if (form == "NUMBER") {
			if (is_number(value, 0, most_units[1]))
				return 1
		} else if (form == "SECONDS") {
			if (is_number(value, 0, 1000000000))
				return 1
		} else if (form == "BYTES") {
			if (is_bytes(value))
				return 1
		} else if (value == form) {
			return 1
		}
	}
	return 0
}

function hint_about(key) {
	if (key == "signal")
		return "; KILL and STOP cannot be caught, SEGV, BUS, FPE, ILL, TRAP and ABRT " \
			"report faults, and those from 32 to below RTMIN+0 are the C library's own"
	if (key == "log")
		return "; PATH is shorter than 1,024 bytes, and in it p, n, e, h or % follows " \
			"each %"
	if (key == "dump_at")
		return "; each of them once at most"
	if (key == "fail")
		return "; each word once at most"
	return allowed[key] ~ /^BYTES/ ? "; K, M and G may follow" : ""
}

# -- the notation ---------------------------------------------------------------------------------

BEGIN {
	while ((getline line < file) > 0) {
		split(line, words, " ")
		if (line ~ /^signal /) {
			signal[words[2]] = words[3] + 0
		} else if (line ~ /^limit /) {
			limit[words[2]] = words[3] + 0
		} else {
			at = index(line, "|")
			allowed[substr(line, 1, at - 1)] = substr(line, at + 1)
		}
	}
	MOST_64 = "18446744073709551615"
	# The most units that a size can count: bytes, K, M, G.
	split(limit["size_bytes"] == 4 ? "4294967295 4194303 4095 3" : \
		MOST_64 " 18014398509481983 17592186044415 17179869183", most_units, " ")
}
{ text = text (NR > 1 ? "\n" : "") $0 }
END {
	if (failed)
		exit 2
	if (text ~ /[\001-\037\177]/)
		refuse("a control character is in them")
	while (text != "") {
		match(text, /^[^=:]*/)
		key = substr(text, 1, RLENGTH)
		text = substr(text, RLENGTH + 1)
		if (key == "" && text ~ /^:/) {
			text = substr(text, 2)
			continue
		}
		if (text !~ /^=/)
			refuse("'" key "' has no value; key=value:key=value is the notation")
		if (text ~ /^="[^"]*"(:|$)/ || text ~ /^='[^']*'(:|$)/) {
			quote = substr(text, 2, 1)
			text = substr(text, 3)
			value = substr(text, 1, index(text, quote) - 1)
			text = substr(text, index(text, quote) + 1)
		} else if (text ~ /^=["']/) {
			refuse("the quotation mark in the value of '" key "' has no end")
		} else {
			match(text, /^=[^:]*/)
			value = substr(text, 2, RLENGTH - 1)
			text = substr(text, RLENGTH + 1)
		}
		if (!(key in allowed))
			refuse("there is no option '" key "'; LEAKWRAP_OPTIONS=help=1 lists all")
		if (!is_value(key, value, allowed[key]))
			refuse("'" value "' is no value of " key "; it takes " allowed[key] \
				hint_about(key))
		sub(/^:/, "", text)
	}
}
