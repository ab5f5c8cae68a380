// SPDX-License-Identifier: LGPL-2.1-or-later
/* log CERTIFICATES HEAD: tells whether certificates still continue a head that was published. */
#include <stdio.h>

#include <dealbox/log.h>

static size_t load(const char *path, char *data, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(data, 1, size, file) : 0;

	if (file)
		fclose(file);
	return got;
}

int main(int argc, char **argv)
{
	static char data[1 << 20], note[DEALBOX_NOTE_MAX];
	struct dealbox_checkpoint head;
	struct dealbox_log_key key;
	struct dealbox_error error;
	struct dealbox_log *log;
	size_t size;
	int64_t at;
	int status = 1;

	if (argc != 3)
		return 2;
	if (dealbox_log_parse(data, load(argv[1], data, sizeof(data)), &log, &error)) {
		fprintf(stderr, "%s: line %u: %s\n", argv[1], error.line, error.what);
		return 1;
	}
	dealbox_log_get_key(log, &key);
	size = load(argv[2], note, sizeof(note));
	if (dealbox_checkpoint_parse(note, size, &head, &error))
		fprintf(stderr, "%s: %s\n", argv[2], error.what);
	else if (dealbox_checkpoint_verify(note, size, &key, &at))
		fprintf(stderr, "%s: not signed by the key of the certificates\n", argv[2]);
	else if (!dealbox_log_continues(log, &head))
		printf("the past was rewritten\n");
	else
		status = printf("the first %llu certificates are those of the head\n",
				(unsigned long long)head.size) < 0;
	dealbox_log_free(log);
	return status;
}
