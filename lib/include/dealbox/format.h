/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deal files: one object per format, readers and writers behind one table.
 *
 * A reader adds the complete deals of a file to a set, and the errors to a report. A bad game does
 * not affect the next one. Several files may be read into one set; then call dealbox_set_check().
 */
#ifndef DEALBOX_FORMAT_H
#define DEALBOX_FORMAT_H

#include <dealbox/set.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dealbox_format;

/* The largest file that is accepted, in bytes; no set of deals is that large. */
#define DEALBOX_FILE_MAX	((uint64_t)512 << 20)

/* Returns the format with that index, from 0; NULL beyond the last. Static. */
DEALBOX_API const struct dealbox_format *dealbox_format_get(size_t index);

/* Returns the format of that short name ("pbn", in either case), or NULL if there is none. */
DEALBOX_API const struct dealbox_format *dealbox_format_find(const char *name);

/* Returns the format for the suffix of that file name, or NULL if it is unknown. */
DEALBOX_API const struct dealbox_format *dealbox_format_by_suffix(const char *path);

/* Returns the short name, which is also the usual suffix of files: "pbn". Static. */
DEALBOX_API const char *dealbox_format_name(const struct dealbox_format *format);

/* Returns the name for people: "Portable Bridge Notation 1.0 to 2.1". Static. */
DEALBOX_API const char *dealbox_format_title(const struct dealbox_format *format);

/* Returns true if the format has a writer. Every format has a reader. */
DEALBOX_API bool dealbox_format_writable(const struct dealbox_format *format);

/*
 * Detects the format of a file, by its content first and then by its name (which may be NULL). data
 * may be just the beginning of the file: size is the length of data, total the size of the file.
 * Returns NULL if the format is unknown.
 */
DEALBOX_API const struct dealbox_format *
dealbox_format_recognise(const void *data, size_t size, uint64_t total,
			 const char *path);

/* Counts of a reader. A game may have no deal at all. */
struct dealbox_format_tally {
	size_t games;		/* games, records */
	size_t complete;	/* deals that went into the set */
	size_t partial;		/* deals with hands or cards not given */
	size_t invalid;		/* invalid deals: a card twice, an unknown rank .. */
	uint32_t reserved[4];	/* 0 */
};

/*
 * Reads a file into the set. If format is NULL, it is detected. The path "-" has no special
 * meaning: pass descriptor 0 to dealbox_format_read_fd() instead. The name of the file goes into
 * set and report. tally and report may be NULL. A file compressed with gzip is unpacked.
 *
 * Returns 0 if the file was read; the report has the findings. On an error nothing was added to the
 * set, and the report has the reason: -ENOENT and others from the system, -EFBIG larger than
 * DEALBOX_FILE_MAX (also after unpacking), -ENODATA empty, -EPROTONOSUPPORT unknown format,
 * -EBADMSG damaged gzip file, -EISDIR, -ENOMEM.
 */
DEALBOX_API int dealbox_format_read_file(const struct dealbox_format *format,
					 const char *path, struct dealbox_set *set,
					 struct dealbox_report *report,
					 struct dealbox_format_tally *tally);

/* The same from an open descriptor, to its end; name is used as the file's name. */
DEALBOX_API int dealbox_format_read_fd(const struct dealbox_format *format, int fd,
				       const char *name, struct dealbox_set *set,
				       struct dealbox_report *report,
				       struct dealbox_format_tally *tally);

/* The same from memory. Nothing points into data afterwards. */
DEALBOX_API int dealbox_format_read_memory(const struct dealbox_format *format,
					   const void *data, size_t size,
					   const char *name, struct dealbox_set *set,
					   struct dealbox_report *report,
					   struct dealbox_format_tally *tally);

/*
 * Gives a board tags of PBN, which PBN files written from the set then have. They replace the tags
 * of the same names that the board has, with their sections. tags: complete lines, each ending with
 * a line feed: "[Name "value"]", and behind it the rows of its section if it has one. Names of the
 * mandatory tags (PBN 2.1, 3.4) are not allowed. -ENOENT: there is no such board. -ENOMEM.
 */
DEALBOX_API int dealbox_pbn_put_tags(struct dealbox_set *set, size_t index, const char *tags);

/*
 * Checks that the format can express the set. Returns 0, or -ENOTSUP with the reasons in the report
 * (no writer, board numbers that do not fit, boards without a number).
 */
DEALBOX_API int dealbox_format_can_write(const struct dealbox_format *format,
					 const struct dealbox_set *set,
					 struct dealbox_report *report);

/*
 * Writes the set to a descriptor. Calls dealbox_format_can_write() before the first byte. Returns
 * 0; -ENOTSUP: the format cannot express the set; or the error of write(2), which is also in the
 * report.
 */
DEALBOX_API int dealbox_format_write_fd(const struct dealbox_format *format,
					const struct dealbox_set *set, int fd,
					const char *name,
					struct dealbox_report *report);

/*
 * Writes the set to a file, whole or not at all: to a temporary file in the same folder, which is
 * synced and then renamed. Same errors. A new file is readable and writable by its owner only; a
 * replaced file keeps its mode.
 */
DEALBOX_API int dealbox_format_write_file(const struct dealbox_format *format,
					  const struct dealbox_set *set,
					  const char *path,
					  struct dealbox_report *report);

#ifdef __cplusplus
}
#endif
#endif
