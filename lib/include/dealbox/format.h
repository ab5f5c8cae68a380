/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deal files: one object per format, readers and writers behind one table.
 *
 * A reader adds the complete deals of a file to a set, and what was wrong to a report.
 * One bad game does not cost the next one. Several files may be read into one set; then
 * call dealbox_set_check().
 */
#ifndef DEALBOX_FORMAT_H
#define DEALBOX_FORMAT_H

#include <dealbox/set.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dealbox_format;

/* Larger files are refused: no set of deals is that large. */
#define DEALBOX_FILE_MAX	((uint64_t)512 << 20)

/* All formats by index from 0; NULL beyond the last. Static. */
DEALBOX_API const struct dealbox_format *dealbox_format_get(size_t index);

/* The format of that short name ("pbn", in either case), NULL if there is none. */
DEALBOX_API const struct dealbox_format *dealbox_format_find(const char *name);

/* The format that files of that name have by their suffix, NULL if unknown. */
DEALBOX_API const struct dealbox_format *dealbox_format_by_suffix(const char *path);

/* Short name, also the usual suffix of files: "pbn". Static. */
DEALBOX_API const char *dealbox_format_name(const struct dealbox_format *format);

/* For people: "Portable Bridge Notation 1.0 to 2.1". Static. */
DEALBOX_API const char *dealbox_format_title(const struct dealbox_format *format);

/* Is there a writer? (There is a reader for every format.) */
DEALBOX_API bool dealbox_format_writable(const struct dealbox_format *format);

/*
 * The format of a file, by its content first and then by its name (which may be NULL).
 * data may be the beginning of the file; size is how much of it is there, total how large
 * the file is. NULL = none that we know.
 */
DEALBOX_API const struct dealbox_format *
dealbox_format_recognise(const void *data, size_t size, uint64_t total,
			 const char *path);

/* What a reader saw, for those who ask; a game may have no deal at all. */
struct dealbox_format_tally {
	size_t games;		/* games, records */
	size_t complete;	/* deals that went into the set */
	size_t partial;		/* deals with hands or cards not given */
	size_t invalid;		/* deals that are none: a card twice, a rank unknown .. */
};

/*
 * Reads a file into the set. format NULL = recognise it. path "-" is no special
 * name here: give descriptor 0 to dealbox_format_read_fd(). The name of the file goes into
 * set and report. tally may be NULL, report may be NULL. A file that is compressed with gzip
 * is unpacked on the way.
 *
 * 0 = it was read, see the report for what was found. -errno = nothing was added to the
 * set, and the report says why: -ENOENT and the like from the system, -EFBIG larger than
 * DEALBOX_FILE_MAX (unpacked, too), -ENODATA empty, -EPROTONOSUPPORT no format that we know,
 * -EBADMSG compressed and damaged, -EISDIR, -ENOMEM.
 */
DEALBOX_API int dealbox_format_read_file(const struct dealbox_format *format,
					 const char *path, struct dealbox_set *set,
					 struct dealbox_report *report,
					 struct dealbox_format_tally *tally);

/* The same from an open descriptor, to its end; name stands for the file's name. */
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
 * Can the format express the set? 0, or -ENOTSUP with the reasons in the report (no
 * writer, board numbers beyond what fits, boards without a number).
 */
DEALBOX_API int dealbox_format_can_write(const struct dealbox_format *format,
					 const struct dealbox_set *set,
					 struct dealbox_report *report);

/*
 * Writes the set to a descriptor. Asks dealbox_format_can_write() before the first byte.
 * 0; -ENOTSUP: the format cannot express the set; or what write(2) said, which is also in
 * the report.
 */
DEALBOX_API int dealbox_format_write_fd(const struct dealbox_format *format,
					const struct dealbox_set *set, int fd,
					const char *name,
					struct dealbox_report *report);

/*
 * Writes the set to a file, whole or not at all: to a temporary name in the same
 * folder, which is synced and then renamed. Same errors. A new file may be read and
 * written by its owner only, one that is replaced keeps its mode.
 */
DEALBOX_API int dealbox_format_write_file(const struct dealbox_format *format,
					  const struct dealbox_set *set,
					  const char *path,
					  struct dealbox_report *report);

#ifdef __cplusplus
}
#endif
#endif
