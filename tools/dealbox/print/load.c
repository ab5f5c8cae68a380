// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dlfcn.h>

#include "load.h"
#include "ui/tool.h"

const struct print_engine *engine_load(void)
{
	/* found by the run path of this program: beside it in a build, else LIBDIR/dealbox */
	void *module = dlopen(ENGINE_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	const struct print_engine *engine = module ? dlsym(module, ENGINE_SYMBOL) : NULL;

	if (!engine) {
		complain("install cairo, pango, librsvg, libqpdf and libqrencode; -o FILE.html "
			 "works without them",
			 "pages cannot be drawn: %s", dlerror());
		return NULL;
	}
	if (engine->version != ENGINE_VERSION) {
		complain("install dealbox again", "pages cannot be drawn: %s is of another dealbox",
			 ENGINE_FILE);
		return NULL;
	}
	return engine;
}
