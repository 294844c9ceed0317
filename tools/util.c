/* util.c - see util.h. */
#include "tools/util.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- errors ------------------------------------------------------------------------------------ */

static bool progress_shown;
static _Thread_local FILE *complaints; /* NULL: standard error */

void send_complaints(FILE *stream)
{
	complaints = stream;
}

void progress_done(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* Writes START, the message and END to OUT, all at once.  Names from foreign files may be in the
 * message. */
static void put_message(FILE *out, const char *start, const char *format, va_list arguments,
                        const char *end)
{
	char *text = NULL, *line = NULL;
	size_t length;
	FILE *stream = open_memstream(&line, &length);

	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	if (stream) {
		fputs(start, stream);
		put_text(stream, text ? text : format);
		fputs(end, stream);
		fclose(stream);
		fputs(line, out);
	}
	free(line);
	free(text);
}

static void say(const char *format, va_list arguments)
{
	if (complaints) {
		put_message(complaints, "", format, arguments, "\n");
		return;
	}
	progress_done();
	fflush(stdout);
	put_message(stderr, "leakwrap: ", format, arguments, "\n");
}

void complain(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	complaints = NULL;
	say(format, arguments);
	va_end(arguments);
	exit(STATUS_USAGE);
}

void progress(const char *format, ...)
{
	static int terminal = -1;
	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || complaints)
		return;

	va_list arguments;
	va_start(arguments, format);
	put_message(stderr, "\r\033[K", format, arguments, "");
	va_end(arguments);
	fflush(stderr);
	progress_shown = true;
}

/* -- memory ------------------------------------------------------------------------------------ */

void *xmalloc(size_t size)
{
	return xrealloc(NULL, size);
}

void *xrealloc(void *block, size_t size)
{
	void *moved = realloc(block, size ? size : 1);
	if (!moved)
		die("out of memory");
	return moved;
}

void *xzalloc(size_t size)
{
	void *block = calloc(1, size ? size : 1);
	if (!block)
		die("out of memory");
	return block;
}

char *xstrdup(const char *text)
{
	size_t size = strlen(text) + 1;
	return memcpy(xmalloc(size), text, size);
}

void *grow(void *vector, size_t *capacity, size_t needed, size_t size)
{
	if (needed <= *capacity)
		return vector;
	size_t more = *capacity ? *capacity : 16;
	while (more < needed)
		if (__builtin_mul_overflow(more, 2, &more))
			die("out of memory");
	size_t bytes;
	if (__builtin_mul_overflow(more, size, &bytes))
		die("out of memory");
	*capacity = more;
	return xrealloc(vector, bytes);
}

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	max_align_t bytes[];
};

/* Thousands of arenas may hold little: the first chunk is small. */
enum { ARENA_FIRST_CHUNK = 256, ARENA_CHUNK = 64 * 1024 };

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = sizeof(max_align_t);

	if (size > SIZE_MAX - ARENA_CHUNK)
		die("out of memory");
	size = (size + align - 1) / align * align;
	if (!arena->chunk || arena->chunk->size - arena->used < size) {
		size_t room = arena->chunk ? 2 * arena->chunk->size : ARENA_FIRST_CHUNK;
		if (room > ARENA_CHUNK)
			room = ARENA_CHUNK;
		if (room < size)
			room = size;
		struct arena_chunk *chunk = xmalloc(sizeof *chunk + room);
		chunk->next = arena->chunk;
		chunk->size = room;
		arena->chunk = chunk;
		arena->used = 0;
	}
	void *block = (char *)arena->chunk->bytes + arena->used;
	arena->used += size;
	return memset(block, 0, size);
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);
	memcpy(copy, text, length);
	return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = NULL;
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		die("out of memory");
	char *copy = arena_copy(arena, text, (size_t)length);
	free(text);
	return copy;
}

void arena_reset(struct arena *arena)
{
	if (!arena->chunk)
		return;
	while (arena->chunk->next) {
		struct arena_chunk *next = arena->chunk->next;
		free(arena->chunk);
		arena->chunk = next;
	}
	arena->used = 0;
}

void arena_free(struct arena *arena)
{
	arena_reset(arena);
	free(arena->chunk);
	arena->chunk = NULL;
}

/* -- tables ------------------------------------------------------------------------------------ */

struct table_slot {
	uint64_t hash;
	void *entry;
};

static struct table_slot *free_slot(const struct table *table, uint64_t hash)
{
	size_t at = (size_t)hash & (table->size - 1);
	while (table->slots[at].entry)
		at = (at + 1) & (table->size - 1);
	return &table->slots[at];
}

void *table_find(const struct table *table, uint64_t hash, const void *key, table_equal *equal)
{
	if (table->size == 0)
		return NULL;
	for (size_t at = (size_t)hash & (table->size - 1); table->slots[at].entry;
	     at = (at + 1) & (table->size - 1))
		if (table->slots[at].hash == hash && equal(key, table->slots[at].entry))
			return table->slots[at].entry;
	return NULL;
}

void table_add(struct table *table, uint64_t hash, void *entry)
{
	if (table->used >= table->size / 2) {
		struct table bigger = {.size = table->size ? 2 * table->size : 64,
		                       .used = table->used};
		bigger.slots = xzalloc(bigger.size * sizeof *bigger.slots);
		for (size_t i = 0; i < table->size; i++)
			if (table->slots[i].entry)
				*free_slot(&bigger, table->slots[i].hash) = table->slots[i];
		free(table->slots);
		*table = bigger;
	}
	*free_slot(table, hash) = (struct table_slot){hash, entry};
	table->used++;
}

void table_free(struct table *table)
{
	free(table->slots);
	*table = (struct table){0};
}

uint64_t hash_word(uint64_t seed, uint64_t word)
{
	/* The finalizer of splitmix64, whose constants are in the public domain. */
	uint64_t x = seed + word + UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	uint64_t hash = hash_word(seed, size);
	for (; size >= sizeof hash; p += sizeof hash, size -= sizeof hash) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		hash = hash_word(hash, word);
	}
	uint64_t rest = 0;
	memcpy(&rest, p, size);
	return hash_word(hash, rest);
}

struct span {
	const char *text;
	size_t length;
};

static bool same_text(const void *key, const void *entry)
{
	const struct span *span = key;
	const char *text = entry;
	return strncmp(text, span->text, span->length) == 0 && text[span->length] == '\0';
}

const char *intern(struct strings *strings, const char *text, size_t length)
{
	struct span span = {text, strnlen(text, length)};
	uint64_t hash = hash_bytes(0, span.text, span.length);
	char *found = table_find(&strings->table, hash, &span, same_text);
	if (!found) {
		found = arena_copy(strings->arena, span.text, span.length);
		table_add(&strings->table, hash, found);
	}
	return found;
}

const char *intern_text(struct strings *strings, const char *text)
{
	return text ? intern(strings, text, strlen(text)) : NULL;
}

/* -- files ------------------------------------------------------------------------------------- */

int open_regular(const char *path)
{
	struct stat status;

	/* A look first: to open a device may have effects. */
	if (stat(path, &status) != 0)
		return -1;
	if (S_ISREG(status.st_mode)) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
			return fd;
		close(fd);
	}
	errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
	return -1;
}

/* -- files of settings ------------------------------------------------------------------------- */

const char *next_setting(struct setting_lines *lines)
{
	ssize_t length;

	while (errno = 0, (length = getline(&lines->line, &lines->room, lines->stream)) >= 0) {
		lines->number++;
		while (length > 0 && isspace((unsigned char)lines->line[length - 1]))
			lines->line[--length] = '\0';
		const char *text = lines->line + strspn(lines->line, " \t");
		if (*text != '\0' && *text != '#')
			return text;
	}
	return NULL;
}

/* -- numbers ----------------------------------------------------------------------------------- */

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

/* -- text -------------------------------------------------------------------------------------- */

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

/* Returns the length of the UTF-8 sequence at TEXT (RFC 3629, section 4), 0 if there is none. */
static unsigned utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char first, last;     /* the first byte */
		unsigned char lowest, highest; /* the second byte */
		unsigned char length;
	} forms[] = {
	        {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2},
	        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
	        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
	        {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	size_t i = 0;
	while (i < sizeof forms / sizeof *forms &&
	       (*text < forms[i].first || *text > forms[i].last))
		i++;
	if (i == sizeof forms / sizeof *forms)
		return 0;
	unsigned length = forms[i].length;
	if (length > 1 && (text[1] < forms[i].lowest || text[1] > forms[i].highest))
		return 0;
	for (unsigned at = 2; at < length; at++)
		if ((text[at] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* Returns true for C0 and C1 controls, separators of lines and paragraphs, and controls of the
 * direction of text (Unicode Standard Annex 9, table 4). */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

struct character character_at(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned length = utf8_length(bytes);

	if (length == 0)
		return (struct character){1, *bytes, false};
	uint32_t code = length == 1 ? *bytes : *bytes & (0x7fu >> length);
	for (unsigned i = 1; i < length; i++)
		code = code << 6 | (bytes[i] & 0x3fu);
	return (struct character){length, code, !is_control(code)};
}

size_t text_span(const char *text)
{
	const char *at = text;
	while (*at) {
		struct character character = character_at(at);
		if (!character.is_text)
			break;
		at += character.length;
	}
	return (size_t)(at - text);
}

void put_text(FILE *stream, const char *text)
{
	while (*text) {
		size_t span = text_span(text);
		fwrite(text, 1, span, stream);
		text += span;
		if (*text) {
			putc('?', stream);
			text += character_at(text).length;
		}
	}
}

void put_html(FILE *stream, const char *text)
{
	while (*text) {
		const struct character c = character_at(text);

		if (!c.is_text)
			putc('?', stream);
		else if (c.length == 1 && strchr("<>&\"'", (int)c.code))
			fprintf(stream, "&#%u;", (unsigned)c.code);
		else
			fwrite(text, 1, c.length, stream);
		text += c.length;
	}
}

FILE *open_bytes(char **bytes, size_t *size)
{
	FILE *stream = open_memstream(bytes, size);
	if (!stream)
		die("out of memory");
	return stream;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
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
