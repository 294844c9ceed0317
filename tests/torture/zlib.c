/* zlib.c - text is compressed and expanded, by streams and through a file in memory. */
#include <string.h>
#include <zlib.h>

int main(void)
{
	static unsigned char text[20000], packed[30000], unpacked[20000];
	uLongf length = sizeof packed, whole = sizeof unpacked;
	z_stream stream = {0};
	int failed;

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (unsigned char)(i * i / 7 % 61);
	failed = compress2(packed, &length, text, sizeof text, 9) != Z_OK ||
	         uncompress(unpacked, &whole, packed, length) != Z_OK;
	if (!failed && deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
		z_stream copy = {0};

		stream.next_in = text;
		stream.avail_in = sizeof text;
		stream.next_out = packed;
		stream.avail_out = sizeof packed;
		failed = deflate(&stream, Z_NO_FLUSH) != Z_OK;
		if (deflateCopy(&copy, &stream) == Z_OK)
			deflateEnd(&copy);
		else
			failed = 1;
		failed |= deflate(&stream, Z_FINISH) != Z_STREAM_END;
		deflateEnd(&stream);
	} else {
		failed = 1;
	}
	return failed || memcmp(text, unpacked, sizeof text) != 0;
}
