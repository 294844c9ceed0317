/* memstream.c - streams that write into memory, and fclose, which hands that memory over.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>.
 *
 * While the stream is open the C library owns its buffer, even after fflush has shown the buffer to
 * the program.  fclose hands it over, so the block is recorded there, at the caller of fclose. */

#include "wrap/entry/define.h"
#include "wrap/entry/open_streams.h"

#ifdef LEAKWRAP_ENTRY_open_memstream
ENTRY_DECLARE(FILE *, open_memstream, (char **buffer, size_t *size));

FILE *__wrap_open_memstream(char **buffer, size_t *size)
{
	ENTRY_PASS_ON_FIRST(__real_open_memstream(buffer, size))
	struct leakwrap_attempt attempt = {.guard = 0};
	if (entry_may_fail() && leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER))
		return NULL;
	FILE *stream = __real_open_memstream(buffer, size);

	leakwrap_end_attempt(&attempt);
	leakwrap_memstream_add(stream,
	                       (struct leakwrap_memstream){(void **)buffer, size, sizeof **buffer});
	return stream;
}
#endif

#ifdef LEAKWRAP_ENTRY_open_wmemstream
ENTRY_DECLARE(FILE *, open_wmemstream, (wchar_t * *buffer, size_t *size));

FILE *__wrap_open_wmemstream(wchar_t **buffer, size_t *size)
{
	ENTRY_PASS_ON_FIRST(__real_open_wmemstream(buffer, size))
	struct leakwrap_attempt attempt = {.guard = 0};
	if (entry_may_fail() && leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER))
		return NULL;
	FILE *stream = __real_open_wmemstream(buffer, size);

	leakwrap_end_attempt(&attempt);
	leakwrap_memstream_add(stream,
	                       (struct leakwrap_memstream){(void **)buffer, size, sizeof **buffer});
	return stream;
}
#endif

#ifdef LEAKWRAP_ENTRY_fclose
ENTRY_DECLARE(int, fclose, (FILE * stream));

int __wrap_fclose(FILE *stream)
{
	ENTRY_PASS_ON_FIRST(__real_fclose(stream))
	struct leakwrap_memstream closed = leakwrap_memstream_take(stream);

	leakwrap_begin_handing_over(closed.buffer ? *closed.buffer : NULL);
	int error = __real_fclose(stream);
	if (closed.buffer)
		leakwrap_record_inner_size(*closed.buffer, (*closed.size + 1) * closed.unit,
		                           LEAKWRAP_CALLER);
	return error;
}
#endif
