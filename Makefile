# SPDX-License-Identifier: LGPL-2.1-or-later
# What a person types. User space is built by meson, the module by Kbuild.

SET ?= docs/examples/club-evening.pbn
BOARDS ?=
COPIES ?= 2
KERNEL ?= 6.1
PREFIX ?= /usr/local
DESTDIR ?=

help:
	@echo 'make demo      deal a set in a throw-away machine with an emulated dealing machine'
	@echo '               SET=file.pbn BOARDS=1-8 COPIES=3 KERNEL=6.12'
	@echo 'make check     run every test'
	@echo 'make install   user space and the source of the module; DESTDIR, PREFIX=/usr/local'
	@echo 'make clean     remove what was built'
	@echo 'Each installs the Debian packages that it needs.'

check:
	@tests/setup/run 6.1 6.12 harness trixie
	@tests/run

clean:
	rm -rf build

.PHONY: help demo check clean
