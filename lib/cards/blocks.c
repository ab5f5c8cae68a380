// SPDX-License-Identifier: LGPL-2.1-or-later
#include "blocks.h"

#include <pthread.h>
#include <signal.h>
#include <sodium.h>

#define THREADS_MAX	64
#define STACK_WIPED	65536	/* more than blocks_work() and what it calls take of a stack */

struct work {
	const struct block_source *source;
	void *context;
	pthread_mutex_t lock;
	pthread_cond_t placed;
	size_t left, taken;		/* blocks: nobody's yet; somebody's */
	size_t turn;			/* the block that is placed next */
	struct dealbox_deal *place;	/* and where */
};

static size_t block_take(struct work *work, void *state)
{
	size_t block = SIZE_MAX;

	pthread_mutex_lock(&work->lock);
	if (work->left) {
		work->left--;
		block = work->taken++;
		work->source->next(work->context, state);
	}
	pthread_mutex_unlock(&work->lock);
	return block;
}

/* Waits until the blocks before it are placed: how many deals they have is known only then. */
static struct dealbox_deal *block_place(struct work *work, size_t block, size_t count)
{
	struct dealbox_deal *deals;

	pthread_mutex_lock(&work->lock);
	while (work->turn != block)
		pthread_cond_wait(&work->placed, &work->lock);
	deals = work->place;
	work->place += count;
	work->turn++;
	pthread_cond_broadcast(&work->placed);
	pthread_mutex_unlock(&work->lock);
	return deals;
}

static void blocks_work(struct work *work)
{
	struct dealbox_number numbers[BLOCK_DRAWS];
	_Alignas(8) uint8_t state[BLOCK_STATE];
	size_t block, count;

	while ((block = block_take(work, state)) != SIZE_MAX) {
		count = work->source->numbers(work->context, state, numbers);
		work->source->deals(numbers, count, block_place(work, block, count));
	}
	sodium_memzero(numbers, sizeof(numbers));
	sodium_memzero(state, sizeof(state));
}

static void *blocks_thread(void *work)
{
	blocks_work(work);
	sodium_stackzero(STACK_WIPED);
	return NULL;
}

size_t blocks_make(const struct block_source *source, void *context, size_t blocks,
		   unsigned int threads, struct dealbox_deal *deals)
{
	struct work work = {
		.source = source, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER,
		.placed = PTHREAD_COND_INITIALIZER, .left = blocks, .place = deals,
	};
	pthread_t others[THREADS_MAX];
	unsigned int count = 0;
	sigset_t all, before;

	/* signals are for the program's own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (count + 1 < threads && count + 1 < blocks && count < THREADS_MAX &&
	       !pthread_create(&others[count], NULL, blocks_thread, &work))
		count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	blocks_work(&work);
	while (count)
		pthread_join(others[--count], NULL);
	return (size_t)(work.place - deals);
}
