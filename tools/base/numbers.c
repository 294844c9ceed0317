/* numbers.c - see numbers.h. */
#include "tools/base/numbers.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void add_up(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum) || *sum > INT64_MAX)
		*sum = INT64_MAX;
}

size_t to_size(uint64_t number)
{
	size_t size;

	return __builtin_add_overflow(number, 0, &size) ? SIZE_MAX : size;
}

static char *text_buffer(size_t *size)
{
	static char buffers[16][32];
	static unsigned next;
	*size = sizeof buffers[0];
	return buffers[next++ % 16];
}

const char *with_commas(uint64_t number)
{
	size_t size;
	char *text = text_buffer(&size);
	char *p = text + size;
	*--p = '\0';
	unsigned digits = 0;
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + number % 10);
		number /= 10;
		digits++;
	} while (number);
	return p;
}

const char *with_unit(uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t size;
	char *text = text_buffer(&size);
	if (bytes < 1024) {
		snprintf(text, size, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
		return text;
	}
	double value = (double)bytes / 1024;
	unsigned unit = 0;
	/* Three digits: a number that is rounded to 1024 has the next unit. */
	for (; value >= 1023.5 && unit < 5; unit++)
		value /= 1024;
	snprintf(text, size, "%.*f %s",
	         value < 9.995   ? 2
	         : value < 99.95 ? 1
	                         : 0,
	         value, units[unit]);
	return text;
}

const char *with_unit_of_time(uint64_t ns)
{
	static const char *const units[] = {"us", "ms", "s"};
	size_t size;
	char *text = text_buffer(&size);
	double value = (double)ns / 1e3;
	unsigned unit = 0;
	for (; value >= 999.5 && unit < 2; unit++)
		value /= 1000;
	snprintf(text, size, value < 999.5 ? "%.3g %s" : "%.0f %s", value, units[unit]);
	return text;
}

bool parse_number(const char *text, uint64_t *number)
{
	unsigned base = 10;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	uint64_t value = 0;
	const char *p = text;
	for (; isxdigit((unsigned char)*p); p++) {
		unsigned digit =
		        *p <= '9' ? (unsigned)(*p - '0') : (unsigned)((*p | 0x20) - 'a' + 10);
		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*number = value;
	return p != text && *p == '\0';
}

bool parse_size(const char *text, uint64_t *bytes)
{
	char digits[32];
	size_t length = strlen(text);
	if (length == 0 || length >= sizeof digits)
		return false;
	memcpy(digits, text, length + 1);

	static const char units[] = "KMGT";
	const char *unit = strchr(units, toupper((unsigned char)digits[length - 1]));
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (unit)
		digits[length - 1] = '\0';
	return parse_number(digits, bytes) &&
	       !__builtin_mul_overflow(*bytes, UINT64_C(1) << shift, bytes);
}

static bool two_digits(const char *text, int *value)
{
	if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1]))
		return false;
	*value = 10 * (text[0] - '0') + text[1] - '0';
	return true;
}

bool parse_time(const char *text, int64_t *seconds)
{
	static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
	if (strlen(text) != sizeof form - 1)
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] != 'd' && text[i] != form[i])
			return false;
	int century, year, month, day, hour, minute, second;
	if (!two_digits(text, &century) || !two_digits(text + 2, &year) ||
	    !two_digits(text + 5, &month) || !two_digits(text + 8, &day) ||
	    !two_digits(text + 11, &hour) || !two_digits(text + 14, &minute) ||
	    !two_digits(text + 17, &second))
		return false;
	year += 100 * century;
	if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
	    second > 60)
		return false;
	/* Days since 1970 of a date whose year starts in March, so that the leap day comes last. */
	int64_t y = month > 2 ? year : year - 1;
	int m = month > 2 ? month - 3 : month + 9;
	int64_t days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
	*seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
	return true;
}
