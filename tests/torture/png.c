/* png.c - an image is written to memory and read again. */
#include <png.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 64 };

static unsigned char file[1 << 16];
static size_t size, at;

static void write_bytes(png_structp png, png_bytep bytes, size_t length)
{
	if (length > sizeof file - size)
		png_error(png, "full");
	memcpy(file + size, bytes, length);
	size += length;
}

static void read_bytes(png_structp png, png_bytep bytes, size_t length)
{
	if (length > size - at)
		png_error(png, "end");
	memcpy(bytes, file + at, length);
	at += length;
}

static void flush(png_structp png)
{
	(void)png;
}

static void be_silent(png_structp png, png_const_charp message)
{
	(void)png, (void)message;
}

static void stop(png_structp png, png_const_charp message)
{
	(void)message;
	png_longjmp(png, 1);
}

static int write_image(void)
{
	static unsigned char row[WIDTH * 3];
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, stop, be_silent);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	png_text text = {0};

	text.compression = PNG_TEXT_COMPRESSION_zTXt;
	text.key = "Title";
	text.text = "A test";
	if (!info || setjmp(png_jmpbuf(png))) {
		png_destroy_write_struct(&png, &info);
		return 1;
	}
	png_set_write_fn(png, NULL, write_bytes, flush);
	png_set_IHDR(png, info, WIDTH, HEIGHT, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
	             PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_text(png, info, &text, 1);
	png_write_info(png, info);
	for (int y = 0; y < HEIGHT; y++) {
		for (int x = 0; x < WIDTH * 3; x++)
			row[x] = (unsigned char)(x * y);
		png_write_row(png, row);
	}
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	return 0;
}

static int read_image(void)
{
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, stop, be_silent);
	png_infop info = png ? png_create_info_struct(png) : NULL;

	if (!info || setjmp(png_jmpbuf(png))) {
		png_destroy_read_struct(&png, &info, NULL);
		return 1;
	}
	png_set_read_fn(png, NULL, read_bytes);
	png_read_png(png, info, PNG_TRANSFORM_EXPAND | PNG_TRANSFORM_BGR, NULL);
	png_destroy_read_struct(&png, &info, NULL);
	return 0;
}

int main(void)
{
	return write_image() || read_image();
}
