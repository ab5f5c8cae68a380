# SPDX-License-Identifier: LGPL-2.1-or-later
# The commands for people. User space is built by meson, the module by Kbuild.

SET ?= docs/examples/club-evening.pbn
BOARDS ?=
COPIES ?= 2
KERNEL ?= 6.1
CARDS ?= 10000
TEST ?=
PART ?=
ROUNDS ?=
SVG ?= build/bench-route/routing.svg
PREFIX ?= /usr/local
DESTDIR ?=
# where Debian's loader looks, whether or not meson can ask dpkg-architecture
LIBDIR ?= lib/$(shell gcc -print-multiarch)
SEED ?= 1
SECONDS ?= 3600

help:
	@echo 'make demo      deal a set in a throw-away machine; what may be given:'
	@echo '               SET=file.pbn BOARDS=1-8 COPIES=3 KERNEL=6.12'
	@echo 'make demo-screen  show the operator'"'"'s screen in a browser, with emulated machines'
	@echo 'make unit      build, and run the unit tests; TEST=plan runs one of them'
	@echo 'make check     run everything that a change can break'
	@echo 'make check-all run every test; PART=lifecycle runs one part of them'
	@echo 'make soak      run without an end: PART=crash SEED=1 SECONDS=3600 ROUNDS=10'
	@echo 'make bench     measure, and print figures'
	@echo 'make bench-route  how soon a card is answered, by the module and by libusb; KERNEL=6.12'
	@echo '               CARDS=10000 SVG=docs/routing.svg'
	@echo 'make verifier  the page on which everybody can verify certificates: build/verifier.html'
	@echo 'make deps      install the Debian packages that building needs, as all of the above do'
	@echo 'make install   user space, and the source of the module for DKMS; PREFIX=/usr/local DESTDIR='
	@echo '               LIBDIR=lib/$$(gcc -print-multiarch), below PREFIX; fetches nothing'
	@echo 'make packages [FOR=13|arm64|13-arm64|armhf]  packages for Debian 12 or 13, in build/packages'
	@echo 'make image     a bootable USB stick that deals: build/dealbox.img (docs/image.md)'
	@echo 'make sbom      the licence of every file, in the form of SPDX: build/dealbox.spdx'
	@echo 'make clean     remove what was built'

# Debian's kernel in a throw-away machine, an emulated dealing machine, a real set
demo:
	@tests/infra/setup/run user-space vm '$(KERNEL)'
	@tests/system/demo/run -k '$(KERNEL)' -b '$(BOARDS)' -c '$(COPIES)' '$(SET)'

# dealboxd with emulated machines on a bus of its own, Cockpit in front of it
demo-screen:
	@tests/infra/setup/run user-space screen
	@mkdir -p build/logs && tests/build user >build/logs/build.log 2>&1 || { cat build/logs/build.log >&2; exit 2; }
	@/usr/bin/python3 tests/system/screen/demo.py build/user/daemon/dealboxd \
		build/user/tools/emulator/dealbox-emulator '$(CURDIR)/build/user/tools/dealbox/dealbox' \
		'$(SET)' build/user/tools/screen/words.js

# the inner loop: from an edit to the result
unit:
	@test -r build/user/build.ninja || { tests/infra/setup/run user-space && tests/build user; }
	@ninja -C build/user --quiet
	@meson test -C build/user --no-rebuild --print-errorlogs $(if $(TEST),$(TEST),--suite unit)

check:
	@tests/infra/setup/run $$(tests/run -n)
	@tests/run

check-all:
	@tests/infra/setup/run $$(tests/run -n $(or $(PART),-a))
	@tests/run $(or $(PART),-a)

soak:
	@tests/infra/soak/run '$(PART)' -s '$(SEED)' -t '$(SECONDS)' $(if $(ROUNDS),-n '$(ROUNDS)')

bench:
	@tests/infra/setup/run user-space bench screen
	@tests/build bench >/dev/null
	@meson test -C build/bench --no-rebuild --benchmark --num-processes 1 --verbose

bench-route:
	@tests/infra/setup/run user-space vm '$(KERNEL)'
	@tests/bench/route/run -k '$(KERNEL)' -n '$(CARDS)' -s '$(SVG)'

verifier:
	@tests/infra/setup/run libsodium-js
	@mkdir -p build && tools/verifier/build "$$(tests/infra/setup/where libsodium-js)" build/verifier.html
	@echo build/verifier.html

# `sudo make install` builds in somebody's checkout: what it builds is his, as it is without sudo
BUILDER = $(if $(filter $(SUDO_USER),$(shell stat -c %U .)),sudo -u '$(SUDO_USER)')

deps:
	@tests/infra/setup/run user-space

# With DESTDIR a package is made: this system is told nothing then.
# A warning of a compiler that we have not met shall not keep anybody from installing.
install:
	@test -r build/install/build.ninja || $(BUILDER) meson setup build/install --buildtype release
	$(BUILDER) meson configure build/install --prefix '$(PREFIX)' --libdir '$(LIBDIR)' -Dwerror=false -Dtests=disabled
	$(BUILDER) ninja -C build/install
	@$(BUILDER) touch build/install/meson-logs/install-log.txt
	DESTDIR='$(DESTDIR)' meson install -C build/install --no-rebuild
ifeq ($(DESTDIR),)
	@$(MAKE) --no-print-directory activate
endif

# Reloads services of the running system; the rules reach machines that are plugged in. A small one has no udev, and a container runs no services.
activate:
	ldconfig
	systemd-sysusers
	if command -v systemd-hwdb >/dev/null; then systemd-hwdb update; fi
	journalctl --update-catalog
	-if command -v udevadm >/dev/null; then \
		udevadm control --reload && \
		udevadm trigger --action=change --subsystem-match=dealbox && \
		udevadm trigger --action=change --property-match='ID_USB_INTERFACES=*:ff440[12]:*'; fi
	-systemctl daemon-reload
	-systemctl reload dbus

packages:
	@tests/infra/setup/run tests packaging$(FOR:%=-%)
	@rm -rf build/packages
	@tests/system/packages/build -d packaging$(FOR:%=-%) build/packages
	@ls build/packages/*.deb

image: packages
	@tests/infra/setup/run image
	@debian/image/build build/packages build/dealbox.img
	@ls -l build/dealbox.img

sbom:
	@tests/infra/setup/run tests
	@mkdir -p build
	@reuse spdx -o build/dealbox.spdx
	@echo build/dealbox.spdx

clean:
	rm -rf build

.PHONY: help demo demo-screen unit check check-all soak bench bench-route verifier deps install activate packages image sbom clean
