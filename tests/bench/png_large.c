/* png_large.c - writes images into buffers that grow by realloc, and reads them back: few and large
 * blocks, from two prebuilt archives. */
#include "workload.h"

#include <png.h>

enum { SIDE = 1500, STEP = 65536 };

struct buffer {
	unsigned char *bytes;
	size_t size, room, read;
};

static void write_bytes(png_struct *png, unsigned char *bytes, size_t size)
{
	struct buffer *buffer = png_get_io_ptr(png);

	while (buffer->room - buffer->size < size) {
		buffer->room += STEP;
		buffer->bytes = realloc(buffer->bytes, buffer->room);
		workload_check(buffer->bytes, "realloc");
	}
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

static void read_bytes(png_struct *png, unsigned char *bytes, size_t size)
{
	struct buffer *buffer = png_get_io_ptr(png);

	workload_check(buffer->size - buffer->read >= size, "a short image");
	memcpy(bytes, buffer->bytes + buffer->read, size);
	buffer->read += size;
}

static void flush(png_struct *png)
{
	(void)png;
}

/* Returns rows of SIDE pixels of three bytes. The caller frees each row and the list. */
static unsigned char **image(unsigned seed)
{
	unsigned char **rows = malloc(SIDE * sizeof(*rows));

	workload_check(rows != NULL, "malloc");
	for (unsigned y = 0; y < SIDE; y++) {
		rows[y] = malloc((size_t)SIDE * 3);
		workload_check(rows[y] != NULL, "malloc");
		for (unsigned x = 0; x < SIDE * 3; x++)
			rows[y][x] = (unsigned char)((x * seed >> 4) + (y & x));
	}
	return rows;
}

static void encode(unsigned char **rows, struct buffer *buffer)
{
	png_struct *png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_info *info = png_create_info_struct(png);

	workload_check(info, "png_create_info_struct");
	png_set_write_fn(png, buffer, write_bytes, flush);
	png_set_compression_level(png, 1);
	png_set_IHDR(png, info, SIDE, SIDE, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
	             PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_rows(png, info, rows);
	png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
	png_destroy_write_struct(&png, &info);
}

static unsigned decode(struct buffer *buffer)
{
	png_struct *png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_info *info = png_create_info_struct(png);
	unsigned sum;

	workload_check(info, "png_create_info_struct");
	png_set_read_fn(png, buffer, read_bytes);
	png_read_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
	sum = png_get_rows(png, info)[SIDE / 2][SIDE];
	png_destroy_read_struct(&png, &info, NULL);
	return sum;
}

int main(int argc, char **argv)
{
	struct workload workload = workload_of(argc, argv);
	size_t sum = 0;

	for (unsigned i = workload_part(&workload, 20); i > 0; i--) {
		unsigned char **rows = image(i);
		struct buffer buffer = {0};

		encode(rows, &buffer);
		if (workload.keep)
			break;
		sum += decode(&buffer) + buffer.size;
		free(buffer.bytes);
		for (unsigned y = 0; y < SIDE; y++)
			free(rows[y]);
		free(rows);
	}
	printf("%zu\n", sum);
	return 0;
}
