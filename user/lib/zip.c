// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zip.c - see zip.h.
 */
#include <errno.h>
#include <minizip/unzip.h>
#include <stdlib.h>
#include <string.h>

#include "lib/zip.h"

/*
 * No byte of deflate's stands for more than 1,032. More than that comes out of an archive
 * only if its files overlap.
 */
#define RATIO_MAX 1032

struct zip {
	unzFile archive;
	uint64_t left; /* bytes that may still be unpacked */
	bool begun; /* zip_next() was called */
	bool ended; /* the file's last byte was read, and its sum compared */
	char name[ZIP_NAME_MAX];
};

bool zip_recognise(const uint8_t *bytes, size_t n)
{
	return n >= 4 && (!memcmp(bytes, "PK\3\4", 4) || !memcmp(bytes, "PK\5\6", 4));
}

/* minizip is to open what is open, and its caller closes it. */
static voidpf opened(voidpf opaque, const void *name, int mode)
{
	(void)name;
	(void)mode;
	return opaque;
}

static int closed(voidpf opaque, voidpf stream)
{
	(void)opaque;
	(void)stream;
	return 0;
}

struct zip *zip_open(FILE *file)
{
	struct zip *zip;
	zlib_filefunc64_def functions;
	off_t size;

	if (fseeko(file, 0, SEEK_END)) {
		errno = ESPIPE;
		return NULL;
	}
	size = ftello(file);
	zip = calloc(1, sizeof(*zip));
	if (!zip || size < 0) {
		free(zip);
		errno = ENOMEM;
		return NULL;
	}
	fill_fopen64_filefunc(&functions);
	functions.zopen64_file = opened;
	functions.zclose_file = closed;
	functions.opaque = file;
	zip->left = (uint64_t)size * RATIO_MAX;
	zip->archive = unzOpen2_64("", &functions);
	if (zip->archive)
		return zip;
	free(zip);
	errno = EBADMSG;
	return NULL;
}

void zip_close(struct zip *zip)
{
	if (!zip)
		return;
	unzClose(zip->archive);
	free(zip);
}

/* Step to the next entry of the directory: as zip_next(). */
static int entry_next(struct zip *zip)
{
	unz_global_info64 about;
	int result;

	if (!zip->begun) {
		zip->begun = true;
		if (unzGetGlobalInfo64(zip->archive, &about) != UNZ_OK)
			return -EBADMSG;
		if (!about.number_entry)
			return 0;
		result = unzGoToFirstFile(zip->archive);
	} else {
		result = unzGoToNextFile(zip->archive);
	}
	return result == UNZ_OK ? 1 : result == UNZ_END_OF_LIST_OF_FILE ? 0 : -EBADMSG;
}

int zip_next(struct zip *zip, const char **ret_name)
{
	size_t n;
	int result;

	do {
		result = entry_next(zip);
		if (result != 1)
			return result;
		if (unzGetCurrentFileInfo64(zip->archive, NULL, zip->name,
					    sizeof(zip->name) - 1, NULL, 0, NULL,
					    0) != UNZ_OK)
			return -EBADMSG;
		n = strlen(zip->name);
	} while (n && zip->name[n - 1] == '/');
	for (char *c = zip->name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	*ret_name = zip->name;
	return 1;
}

/* Unpack up to @n bytes: how many, 0 at the end, below 0 if it is damaged. */
static int unpack(struct zip *zip, void *bytes, size_t n)
{
	int got = unzReadCurrentFile(zip->archive, bytes,
				     n < 1 << 20 ? (unsigned int)n : 1 << 20);

	if (got > 0 && (uint64_t)got > zip->left)
		return UNZ_BADZIPFILE;
	zip->left -= got > 0 ? (uint64_t)got : 0;
	return got;
}

static ssize_t cookie_read(void *cookie, char *bytes, size_t n)
{
	struct zip *zip = cookie;
	int got;

	if (zip->ended)
		return 0;
	got = unpack(zip, bytes, n);
	zip->ended = got <= 0;
	/* The sum is compared when the file is closed, but only of all its bytes. */
	if (got < 0 || (!got && (unzeof(zip->archive) == 0 ||
				 unzCloseCurrentFile(zip->archive) == UNZ_CRCERROR))) {
		errno = EBADMSG;
		return -1;
	}
	return got;
}

static int cookie_close(void *cookie)
{
	struct zip *zip = cookie;

	unzCloseCurrentFile(zip->archive);
	return 0;
}

/* Read the beginning of the current file. False: it cannot be unpacked. */
static bool prefix_read(struct zip *zip, uint8_t *prefix, size_t size, size_t *ret_n)
{
	int got = 1;

	*ret_n = 0;
	if (unzOpenCurrentFile(zip->archive) != UNZ_OK)
		return false;
	while (*ret_n < size && got > 0) {
		got = unpack(zip, prefix + *ret_n, size - *ret_n);
		*ret_n += got > 0 ? (size_t)got : 0;
	}
	unzCloseCurrentFile(zip->archive);
	return *ret_n || !got;
}

FILE *zip_file(struct zip *zip, uint8_t *prefix, size_t size, size_t *ret_n)
{
	static const cookie_io_functions_t functions = {
		.read = cookie_read,
		.close = cookie_close,
	};
	FILE *file;

	errno = EBADMSG;
	if (!prefix_read(zip, prefix, size, ret_n) ||
	    unzOpenCurrentFile(zip->archive) != UNZ_OK)
		return NULL;
	zip->ended = false;
	file = fopencookie(zip, "rb", functions);
	if (!file)
		unzCloseCurrentFile(zip->archive);
	return file;
}
