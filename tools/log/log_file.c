/* log_file.c - see log_file.h.
 *
 * Files of gzip and of zstd may consist of several members, one behind the other: logrotate and
 * zcat-like tools append them.
 */
#include "tools/log/log_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>
#if __has_include(<zstd.h>)
#include <zstd.h>
#define HAS_ZSTD 1
#else
#define HAS_ZSTD 0
#endif

#include "tools/base/memory.h"
#include "tools/base/messages.h"

enum { INPUT_SIZE = 64 * 1024, MAGIC_SIZE = 10 };

struct log_file {
	int fd;
	enum { CODING_UNKNOWN, CODING_NONE, CODING_GZIP, CODING_ZSTD } coding;
	unsigned char *input; /* bytes of the file that are not decoded yet */
	size_t at, filled;
	bool at_end;    /* of the file */
	bool in_member; /* of a compressed file: its end has not come */
	const char *error;
	z_stream gzip;
#if HAS_ZSTD
	ZSTD_DStream *zstd;
#endif
};

struct log_file *log_file_start(int fd)
{
	struct log_file *file = xzalloc(sizeof *file);
	file->fd = fd;
	file->input = xmalloc(INPUT_SIZE);
	return file;
}

static ssize_t fail(struct log_file *file, const char *error)
{
	file->error = error;
	return -1;
}

/* Reads up to SIZE bytes of the file itself.  Returns as log_file_read. */
static ssize_t read_raw(struct log_file *file, void *bytes, size_t size)
{
	ssize_t got;
	do
		got = read(file->fd, bytes, size);
	while (got < 0 && errno == EINTR);
	file->at_end = got == 0;
	return got < 0 ? fail(file, strerror(errno)) : got;
}

/* Reads input until there are at least LEAST bytes, or the file ends.  Returns false after an
 * error. */
static bool fill(struct log_file *file, size_t least)
{
	if (file->at == file->filled)
		file->at = file->filled = 0;
	while (file->filled - file->at < least && !file->at_end) {
		ssize_t got = read_raw(file, file->input + file->filled, INPUT_SIZE - file->filled);
		if (got < 0)
			return false;
		file->filled += (size_t)got;
	}
	return true;
}

/* Returns what is wrong if the first bytes of the log are of a coding that this tool does not read,
 * otherwise NULL.  (.xz file format 1.2.1, section 2.1.1.1; bzip2 has no document: "BZh", a digit,
 * and the magic of the first block, or of the end; Unicode, section 23.8.) */
static const char *find_foreign_coding(const struct log_file *file)
{
	static const unsigned char xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};
	static const unsigned char block[] = {0x31, 0x41, 0x59, 0x26, 0x53, 0x59},
	                           end[] = {0x17, 0x72, 0x45, 0x38, 0x50, 0x90};
	const unsigned char *magic = file->input;

	if (file->filled >= sizeof xz && memcmp(magic, xz, sizeof xz) == 0)
		return "it is compressed by xz; xz -dc LOG | leakwrap report - reads it";
	if (file->filled >= MAGIC_SIZE && memcmp(magic, "BZh", 3) == 0 &&
	    (memcmp(magic + 4, block, sizeof block) == 0 ||
	     memcmp(magic + 4, end, sizeof end) == 0))
		return "it is compressed by bzip2; bzip2 -dc LOG | leakwrap report - reads it";
	if (file->filled >= 4 && ((magic[0] == 0xff && magic[1] == 0xfe && magic[3] == 0) ||
	                          (magic[0] == 0xfe && magic[1] == 0xff && magic[2] == 0)))
		return "it is in UTF-16; iconv -f UTF-16 -t UTF-8 LOG | leakwrap report - reads it";
	return NULL;
}

/* Finds out by the first bytes how the log is coded (RFC 1952, section 2.3.1; RFC 8878, section
 * 3.1.1).  Returns false after an error. */
static bool find_coding(struct log_file *file)
{
	static const unsigned char gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	if (!fill(file, MAGIC_SIZE))
		return false;
	file->coding = CODING_NONE;
	file->error = find_foreign_coding(file);
	if (file->error)
		return false;
	if (file->filled >= sizeof gzip && memcmp(file->input, gzip, sizeof gzip) == 0) {
		file->coding = CODING_GZIP;
		/* 16 more window bits ask for a gzip header (zlib.h, inflateInit2). */
		if (inflateInit2(&file->gzip, MAX_WBITS + 16) != Z_OK)
			die("zlib: cannot start");
	} else if (file->filled >= sizeof zstd && memcmp(file->input, zstd, sizeof zstd) == 0) {
		file->coding = CODING_ZSTD;
#if HAS_ZSTD
		file->zstd = ZSTD_createDStream();
		if (!file->zstd)
			die("zstd: cannot start");
#endif
	}
	return true;
}

/* Decode input into BYTES.  Return the number of bytes, or -1 after an error. */
static ssize_t decode_gzip(struct log_file *file, char *bytes, size_t size)
{
	z_stream *gzip = &file->gzip;
	gzip->next_in = file->input + file->at;
	gzip->avail_in = (uInt)(file->filled - file->at);
	gzip->next_out = (unsigned char *)bytes;
	gzip->avail_out = (uInt)size;
	if (!file->in_member)
		inflateReset(gzip);
	int state = inflate(gzip, Z_NO_FLUSH);
	file->at = file->filled - gzip->avail_in;
	if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
		return fail(file, "its compressed data is damaged");
	file->in_member = state != Z_STREAM_END;
	return (ssize_t)(size - gzip->avail_out);
}

static ssize_t decode_zstd(struct log_file *file, char *bytes, size_t size)
{
#if HAS_ZSTD
	ZSTD_inBuffer in = {file->input, file->filled, file->at};
	ZSTD_outBuffer out = {bytes, size, 0};
	size_t left = ZSTD_decompressStream(file->zstd, &out, &in);
	file->at = in.pos;
	if (ZSTD_isError(left))
		return fail(file, "its compressed data is damaged");
	file->in_member = left != 0;
	return (ssize_t)out.pos;
#else
	(void)bytes, (void)size;
	return fail(file, "it is compressed by zstd, and this leakwrap was built without libzstd");
#endif
}

ssize_t log_file_read(struct log_file *file, char *bytes, size_t size)
{
	if (file->error || (file->coding == CODING_UNKNOWN && !find_coding(file)))
		return -1;
	if (size > INT32_MAX)
		size = INT32_MAX;
	if (file->coding == CODING_NONE && file->at == file->filled)
		return read_raw(file, bytes, size);
	if (file->coding == CODING_NONE) {
		size_t count = file->filled - file->at < size ? file->filled - file->at : size;
		memcpy(bytes, file->input + file->at, count);
		file->at += count;
		return (ssize_t)count;
	}
	for (;;) {
		if (file->at == file->filled && !fill(file, 1))
			return -1;
		bool empty = file->at == file->filled;
		if (empty && !file->in_member)
			return 0;
		/* Without input the decoder may still have output. */
		ssize_t got = file->coding == CODING_GZIP ? decode_gzip(file, bytes, size)
		                                          : decode_zstd(file, bytes, size);
		if (got != 0)
			return got;
		if (empty)
			return fail(file, "its compressed data has no end");
	}
}

const char *log_file_error(const struct log_file *file)
{
	return file->error;
}

void log_file_end(struct log_file *file)
{
	if (file->coding == CODING_GZIP)
		inflateEnd(&file->gzip);
#if HAS_ZSTD
	ZSTD_freeDStream(file->zstd);
#endif
	free(file->input);
	free(file);
}
