// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/format.h>

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "formats.h"

/* Every format, in the order in which they are tried: format_pbn .. */
#define FORMATS(format) \
	format(pbn) format(dup) format(dlm) format(lin) format(bri) format(dge) format(csv) \
	format(ber) format(bhg) format(rzd) format(cds) format(rbn) format(zrd)

#define FORMAT_DECLARE(name)	extern const struct dealbox_format format_##name;
FORMATS(FORMAT_DECLARE)

static const struct dealbox_format *const formats[] = {
#define FORMAT_ROW(name)	&format_##name,
	FORMATS(FORMAT_ROW)
};

#define HEAD	16384	/* bytes used to recognise a format */
#define COUNT	(sizeof(formats) / sizeof(*formats))

const struct dealbox_format *dealbox_format_get(size_t index)
{
	return index < COUNT ? formats[index] : NULL;
}

const struct dealbox_format *dealbox_format_find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strcasecmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const struct dealbox_format *dealbox_format_by_suffix(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && !strchr(dot, '/') ? dealbox_format_find(dot + 1) : NULL;
}

const char *dealbox_format_name(const struct dealbox_format *format)
{
	return format->name;
}

const char *dealbox_format_title(const struct dealbox_format *format)
{
	return format->title;
}

bool dealbox_format_writable(const struct dealbox_format *format)
{
	return format->write;
}

/* Return true for UTF-16 text: with a byte order mark, or with zeroes between ASCII characters. */
static bool is_utf16(const uint8_t *data, size_t size)
{
	unsigned int even = 0, odd = 0;

	if (size >= 2 && (!memcmp(data, "\xff\xfe", 2) || !memcmp(data, "\xfe\xff", 2)))
		return true;
	if (size < 16)
		return false;
	for (size_t i = 0; i < 16; i += 2) {
		even += !data[i] && data[i + 1];
		odd += data[i] && !data[i + 1];
	}
	return even == 8 || odd == 8;
}

/* Return the size of a byte order mark in UTF-8, which is not part of the text. */
static size_t mark_size(const uint8_t *data, size_t size)
{
	return size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* The same, ignoring a suffix .gz. */
static const struct dealbox_format *by_packed_suffix(const char *path)
{
	const struct dealbox_format *format = NULL;
	size_t size = strlen(path);
	char *name;

	if (size < 3 || strcasecmp(path + size - 3, ".gz"))
		return dealbox_format_by_suffix(path);
	name = strndup(path, size - 3);
	if (name)
		format = dealbox_format_by_suffix(name);
	free(name);
	return format;
}

const struct dealbox_format *dealbox_format_recognise(const void *data, size_t size,
						      uint64_t total, const char *path)
{
	const struct dealbox_format *named = path ? by_packed_suffix(path) : NULL;
	const struct dealbox_format *best = NULL;
	uint8_t head[HEAD + READER_PADDING] = { 0 };
	size_t mark = mark_size(data, size);
	int best_score = 0;

	size = size - mark < HEAD ? size - mark : HEAD;
	memcpy(head, (const uint8_t *)data + mark, size);
	total -= mark;
	for (size_t i = 0; i < COUNT && best_score < 100; i++) {
		int score = formats[i]->recognise(head, size, total);

		if (score > best_score ||
		    (score && score == best_score && formats[i] == named)) {
			best = formats[i];
			best_score = score;
		}
	}
	explicit_bzero(head, sizeof(head));
	return best ? best : named;
}

/* -- reading ----------------------------------------------------------------- */

static int refuse(struct dealbox_report *report, const char *name, uint16_t code, int err)
{
	struct dealbox_problem problem = SAY(.code = code, .file = name);

	problem.severity = (uint8_t)dealbox_code_severity(code);
	problem.count = (uint32_t)(DEALBOX_FILE_MAX >> 20);
	snprintf(problem.text, sizeof(problem.text), "%s", strerror(-err));
	dealbox_report_add(report, &problem);
	return err;
}

/* Returns true if the text has exactly one game, with that deal, and was understood completely. */
static bool is_game(const struct dealbox_format *format, const char *text, size_t size,
		    const struct dealbox_board *board)
{
	/* these are of the board, not of its text */
	const uint64_t allowed = 1ULL << DEALBOX_CODE_BOARD_MISSING |
				 1ULL << DEALBOX_CODE_DEALER_CONTRADICTS |
				 1ULL << DEALBOX_CODE_VULNERABLE_CONTRADICTS;
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	const struct dealbox_problem *problem;
	struct dealbox_board read;
	bool good;

	good = report && set &&
	       !dealbox_format_read_memory(format, text, size, "", set, report, NULL) &&
	       dealbox_set_count(set) == 1 && !dealbox_set_get(set, 0, &read) &&
	       !memcmp(&read.deal, &board->deal, sizeof(read.deal)) &&
	       read.number == board->number;
	for (size_t i = 0; good && (problem = dealbox_report_get(report, i)); i++)
		good = problem->severity != DEALBOX_SEVERITY_PROBLEM ||
		       allowed >> problem->code & 1;
	dealbox_set_free(set);
	dealbox_report_free(report);
	return good;
}

/* A text that would be read as anything else than its game is not kept. */
static void check_text(const struct dealbox_format *format, struct reader *reader, size_t index)
{
	struct set_text *kept = set_text(reader->set, index);
	struct found found = FOUND_INIT;
	struct dealbox_board board;
	char *text;
	size_t size = 0;

	dealbox_set_get(reader->set, index, &board);
	text = format->kept_game(kept, &board, &size);
	if (!text) {
		reader->error = -ENOMEM;
	} else if (!is_game(format, text, size, &board)) {
		found.number = board.number;
		found.where = board.line;
		reader_say(reader, &found, 0, SAY(.code = DEALBOX_CODE_NOT_CARRIED));
		set_text_free(kept);
		reader->error = set_text_put(reader->set, index, NULL);
	}
	if (text)
		explicit_bzero(text, size);
	free(text);
	dealbox_deal_wipe(&board.deal);
}

/* READER_PADDING zero bytes follow data. */
static int read_padded(const struct dealbox_format *format, const uint8_t *data,
		       size_t size, const char *name, struct dealbox_set *set,
		       struct dealbox_report *report, struct dealbox_format_tally *tally)
{
	struct reader reader = {
		.data = data, .size = size, .name = name, .set = set, .report = report,
	};
	size_t index = dealbox_set_count(set);

	if (!size)
		return refuse(report, name, DEALBOX_CODE_FILE_EMPTY, -ENODATA);
	if (!format)
		format = dealbox_format_recognise(data, size, size, name);
	if ((!format || !format->binary) && is_utf16(data, size))
		return refuse(report, name, DEALBOX_CODE_FILE_UTF16, -EPROTONOSUPPORT);
	if (!format)
		return refuse(report, name, DEALBOX_CODE_FORMAT_UNKNOWN, -EPROTONOSUPPORT);
	reader.binary = format->binary;
	reader.file = set_file(set, name, format->binary);
	if (reader.file < 0)
		return reader.file;

	if (!format->binary && mark_size(data, size)) {
		reader_say(&reader, NULL, 1, SAY(.code = DEALBOX_CODE_BYTE_ORDER_MARK));
		reader.data += mark_size(data, size);
		reader.size -= mark_size(data, size);
	}
	format->read(&reader);
	if (format->kept_game && set_keeps_text(set))
		for (; index < dealbox_set_count(set) && !reader.error; index++)
			check_text(format, &reader, index);
	if (reader.error)
		return reader.error;
	if (reader.more && set_keeps_text(set))
		reader_say(&reader, NULL, 0, SAY(.code = DEALBOX_CODE_NOT_CARRIED));
	if (!reader.tally.complete)
		reader_say(&reader, NULL, 0, SAY(.code = DEALBOX_CODE_NO_DEALS));
	if (tally)
		*tally = reader.tally;
	return 0;
}

/*
 * A separate mapping for input. It is unmapped after use, so that no cards remain in the process's
 * memory.
 */
struct input {
	uint8_t *data;
	size_t size, room;
};

static int input_grow(struct input *input, size_t room)
{
	void *data;

	if (input->data)
		data = mremap(input->data, input->room, room, MREMAP_MAYMOVE);
	else
		data = mmap(NULL, room, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return -ENOMEM;
	input->data = data;
	input->room = room;
	madvise(data, room, MADV_HUGEPAGE);	/* only a hint */
	return 0;
}

static void input_free(struct input *input)
{
	if (input->data)
		munmap(input->data, input->room);
}

static int input_read(struct input *input, int fd)
{
	struct stat st;
	size_t room = 65536;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode)) {
		if ((uint64_t)st.st_size > DEALBOX_FILE_MAX)
			return -EFBIG;
		room = (size_t)st.st_size + READER_PADDING + 1;
	}
	err = input_grow(input, room);
	while (!err) {
		size_t left = input->room - READER_PADDING - input->size;
		ssize_t got;

		if (!left) {
			err = input_grow(input, input->room * 2);
			continue;
		}
		got = read(fd, input->data + input->size, left);
		if (got == 0)
			break;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		input->size += (size_t)got;
		if (input->size > DEALBOX_FILE_MAX)
			return -EFBIG;
	}
	return err;
}

/* -- compressed files ---------------------------------------------------------- */

static bool is_gzip(const uint8_t *data, size_t size)
{
	return size > 2 && data[0] == 0x1f && data[1] == 0x8b && data[2] == 8;
}

/* zlib's memory contains unpacked cards, so wipe it on free. The size is stored in front of it. */
static void *wiped_alloc(void *context, unsigned int count, unsigned int size)
{
	size_t *memory = calloc(1, 2 * sizeof(max_align_t) + (size_t)count * size);

	(void)context;
	if (!memory)
		return NULL;
	*memory = (size_t)count * size;
	return (char *)memory + sizeof(max_align_t);
}

static void wiped_free(void *context, void *memory)
{
	size_t *begin = (void *)((char *)memory - sizeof(max_align_t));

	(void)context;
	explicit_bzero(memory, *begin);
	free(begin);
}

#define UNPACK_STEP	((size_t)1 << 20)	/* unpacks at most so much beyond the limit */

/* Unpack all members of a gzip file in sequence (RFC 1952, 2.2). */
static int unpack_members(struct input *out, z_stream *stream)
{
	int ret = Z_OK;

	while (ret != Z_STREAM_END || stream->avail_in) {
		size_t left = out->room - READER_PADDING - out->size;

		if (!left) {
			if (input_grow(out, out->room * 2))
				return -ENOMEM;
			continue;
		}
		/* Ignore trailing zeroes, which fill the last block of a tape. */
		if (ret == Z_STREAM_END && !*stream->next_in) {
			stream->next_in++;
			stream->avail_in--;
			continue;
		}
		if (ret == Z_STREAM_END)
			inflateReset(stream);
		left = left < UNPACK_STEP ? left : UNPACK_STEP;
		stream->next_out = out->data + out->size;
		stream->avail_out = (unsigned int)left;
		ret = inflate(stream, Z_NO_FLUSH);
		out->size += left - stream->avail_out;
		if (out->size > DEALBOX_FILE_MAX)
			return -EFBIG;
		if (ret == Z_MEM_ERROR)
			return -ENOMEM;
		if (ret != Z_OK && ret != Z_STREAM_END)
			return -EBADMSG;
	}
	return 0;
}

static int unpack(struct input *out, const uint8_t *data, size_t size)
{
	z_stream stream = {
		.next_in = (uint8_t *)data, .avail_in = (unsigned int)size,
		.zalloc = wiped_alloc, .zfree = wiped_free,
	};
	const size_t most = (size_t)DEALBOX_FILE_MAX;
	int err = input_grow(out, (size < most / 4 ? 4 * size : most) + 65536);

	if (err)
		return err;
	if (inflateInit2(&stream, 15 + 16) != Z_OK)	/* gzip, 32 KiB window */
		return -ENOMEM;
	err = unpack_members(out, &stream);
	inflateEnd(&stream);
	return err;
}

/* READER_PADDING zero bytes follow data, whose size is at most DEALBOX_FILE_MAX. */
static int read_packed(const struct dealbox_format *format, const uint8_t *data, size_t size,
		       const char *name, struct dealbox_set *set, struct dealbox_report *report,
		       struct dealbox_format_tally *tally)
{
	struct input plain = { NULL, 0, 0 };
	int err;

	if (!is_gzip(data, size))
		return read_padded(format, data, size, name, set, report, tally);
	err = unpack(&plain, data, size);
	if (err)
		refuse(report, name, err == -EFBIG ? DEALBOX_CODE_FILE_TOO_LARGE : err == -ENOMEM ?
		       DEALBOX_CODE_FILE_UNREADABLE : DEALBOX_CODE_GZIP_BROKEN, err);
	else
		err = read_padded(format, plain.data, plain.size, name, set, report, tally);
	input_free(&plain);
	return err;
}

int dealbox_format_read_fd(const struct dealbox_format *format, int fd, const char *name,
			   struct dealbox_set *set, struct dealbox_report *report,
			   struct dealbox_format_tally *tally)
{
	struct input input = { NULL, 0, 0 };
	int err = input_read(&input, fd);

	if (err == -EFBIG)
		refuse(report, name, DEALBOX_CODE_FILE_TOO_LARGE, err);
	else if (err)
		refuse(report, name, DEALBOX_CODE_FILE_UNREADABLE, err);
	else
		err = read_packed(format, input.data, input.size, name, set, report,
				  tally);
	input_free(&input);
	return err;
}

int dealbox_format_read_file(const struct dealbox_format *format, const char *path,
			     struct dealbox_set *set, struct dealbox_report *report,
			     struct dealbox_format_tally *tally)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return refuse(report, path, DEALBOX_CODE_FILE_UNREADABLE, -errno);
	err = dealbox_format_read_fd(format, fd, path, set, report, tally);
	close(fd);
	return err;
}

int dealbox_format_read_memory(const struct dealbox_format *format, const void *data,
			       size_t size, const char *name, struct dealbox_set *set,
			       struct dealbox_report *report,
			       struct dealbox_format_tally *tally)
{
	uint8_t *padded;
	int err;

	if (size > DEALBOX_FILE_MAX)
		return refuse(report, name, DEALBOX_CODE_FILE_TOO_LARGE, -EFBIG);
	padded = malloc(size + READER_PADDING);
	if (!padded)
		return refuse(report, name, DEALBOX_CODE_FILE_UNREADABLE, -ENOMEM);
	if (size)
		memcpy(padded, data, size);
	memset(padded + size, 0, READER_PADDING);
	err = read_packed(format, padded, size, name, set, report, tally);
	explicit_bzero(padded, size);
	free(padded);
	return err;
}

/* -- writing ----------------------------------------------------------------- */

/* Report data of the set that only PBN can store. */
static void say_not_written(const struct dealbox_set *set, struct dealbox_report *report)
{
	struct dealbox_problem note = SAY(.code = DEALBOX_CODE_NOT_WRITTEN,
					  .text = "names, results or comments");
	bool more = false;

	for (size_t i = 0; !more && i < dealbox_set_count(set); i++)
		more = set_text(set, i) && set_text(set, i)->more;
	if (more)
		dealbox_report_add(report, &note);
	snprintf(note.text, sizeof(note.text), "the mark of unplayed deals");
	if (dealbox_set_marks(set) & DEALBOX_MARK_UNPLAYED)
		dealbox_report_add(report, &note);
}

int dealbox_format_can_write(const struct dealbox_format *format,
			     const struct dealbox_set *set, struct dealbox_report *report)
{
	int err;

	if (!format->write)
		return cannot_express(report, NULL, "there is no writer for it");
	if (dealbox_set_pack(set) != dealbox_pack_bridge())
		return cannot_express(report, NULL, "a pack that is not bridge's");
	if (format != &format_pbn && dealbox_set_marks(set) & DEALBOX_MARK_RESTRICTED)
		return cannot_express(report, NULL, "that deals are restricted");
	err = format->can_write ? format->can_write(set, report) : 0;
	if (!err && format != &format_pbn)
		say_not_written(set, report);
	return err;
}

static int failed(struct dealbox_report *report, const char *name, int err)
{
	return err ? refuse(report, name, DEALBOX_CODE_WRITE_FAILED, err) : 0;
}

static int write_all(const struct dealbox_format *format, const struct dealbox_set *set,
		     int fd)
{
	struct writer writer = { .fd = fd };

	format->write(&writer, set);
	return writer_end(&writer);
}

int dealbox_format_write_fd(const struct dealbox_format *format,
			    const struct dealbox_set *set, int fd, const char *name,
			    struct dealbox_report *report)
{
	int err = dealbox_format_can_write(format, set, report);

	return err ? err : failed(report, name, write_all(format, set, fd));
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

/*
 * Create an unnamed file in the folder of path, so that a process that is killed leaves nothing
 * behind. Returns -1 if the file system does not support that.
 */
static int unnamed_file(const char *path)
{
	char *folder = folder_of(path);
	int fd = -1;

	if (folder && !access("/proc/self/fd", X_OK))
		fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(folder);
	return fd;
}

/* Give the file a name made from pattern, as for mkstemp(). Returns 0 or -errno. */
static int name_give(int fd, char *pattern)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	char *end = pattern + strlen(pattern), self[32];
	uint8_t chance[6];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	do {
		if (getrandom(chance, sizeof(chance), 0) != sizeof(chance))
			return -errno;
		for (size_t i = 0; i < sizeof(chance); i++)
			end[(ptrdiff_t)i - (ptrdiff_t)sizeof(chance)] = letters[chance[i] % 32];
		if (!linkat(AT_FDCWD, self, AT_FDCWD, pattern, AT_SYMLINK_FOLLOW))
			return 0;
	} while (errno == EEXIST);
	return -errno;
}

static int sync_folder(const char *path)
{
	char *folder = folder_of(path);
	int fd, err = 0;

	if (!folder)
		return -ENOMEM;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (fd < 0)
		return -errno;
	/* EINVAL: the file system does not support fsync(). */
	if (fsync(fd) && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}

/*
 * Write atomically: an unnamed or temporary file, synced and renamed. mode 0 = mode of a new file.
 */
static int write_whole(const struct dealbox_format *format, const struct dealbox_set *set,
		       const char *path, mode_t mode)
{
	bool named = false;
	char *temporary;
	int fd, err;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = unnamed_file(path);
	if (fd < 0) {
		fd = mkostemp(temporary, O_CLOEXEC);
		named = true;
	}
	if (fd < 0) {
		err = -errno;
		free(temporary);
		return err;
	}
	err = write_all(format, set, fd);
	if (!err && mode && fchmod(fd, mode & 07777))
		err = -errno;
	if (!err && fsync(fd))
		err = -errno;
	if (!err && !named) {
		err = name_give(fd, temporary);
		named = !err;
	}
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err && named)
		unlink(temporary);
	if (!err)
		err = sync_folder(path);
	free(temporary);
	return err;
}

int dealbox_format_write_file(const struct dealbox_format *format,
			      const struct dealbox_set *set, const char *path,
			      struct dealbox_report *report)
{
	int err = dealbox_format_can_write(format, set, report);
	struct stat st;
	char *real;

	if (err)
		return err;
	if (stat(path, &st))
		return failed(report, path, errno == ENOENT ?
			      write_whole(format, set, path, 0) : -errno);
	if (!S_ISREG(st.st_mode)) {
		/* Write directly to a device or pipe. */
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			return failed(report, path, -errno);
		err = write_all(format, set, fd);
		if (close(fd) && !err)
			err = -errno;
		return failed(report, path, err);
	}
	/* Replace the target of a symbolic link, not the link. */
	real = realpath(path, NULL);
	if (!real)
		return failed(report, path, -errno);
	err = write_whole(format, set, real, st.st_mode);
	free(real);
	return failed(report, path, err);
}
