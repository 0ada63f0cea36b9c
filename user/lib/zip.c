// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zip.c - see zip.h.
 */
#include <errno.h>
#include <minizip/unzip.h>
#include <stdlib.h>
#include <string.h>

#include "lib/zip.h"

struct zip {
	unzFile archive;
	bool begun; /* zip_next() was called */
	bool ended; /* the file's last byte was read, and its sum compared */
	char name[ZIP_NAME_MAX];
};

bool zip_recognise(const uint8_t *bytes, size_t n)
{
	return n >= 4 && (!memcmp(bytes, "PK\3\4", 4) || !memcmp(bytes, "PK\5\6", 4));
}

struct zip *zip_open(const char *path)
{
	struct zip *zip = calloc(1, sizeof(*zip));

	if (!zip)
		return NULL;
	zip->archive = unzOpen64(path);
	if (zip->archive)
		return zip;
	free(zip);
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

static ssize_t cookie_read(void *cookie, char *bytes, size_t n)
{
	struct zip *zip = cookie;
	int got;

	if (zip->ended)
		return 0;
	got = unzReadCurrentFile(zip->archive, bytes,
				 n < 1 << 20 ? (unsigned int)n : 1 << 20);
	zip->ended = got <= 0;
	/* The sum is compared when the file is closed. */
	if (got < 0 || (!got && unzCloseCurrentFile(zip->archive) == UNZ_CRCERROR)) {
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
		got = unzReadCurrentFile(zip->archive, prefix + *ret_n,
					 (unsigned int)(size - *ret_n));
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
