# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The locations of the set-up. Sourced by tests/infra/setup/run and tests/infra/setup/where.

# depmod and modprobe, for a normal user
PATH=$PATH:/usr/sbin:/sbin

cache=${DEALBOX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dealbox}

say()
{
	echo "set-up: $*"
}

die()
{
	echo "set-up: $*" >&2
	exit 2
}

# checked_version <debug|race>: changes with the configuration of the kernel and how it is built
checked_version()
{
	cat "$here"/../../kernel/debug-kernel/{config,"config-$1",build,vhci.cocci} | sha256sum | cut -c 1-12
}

# changes with the packages that are installed beside image and headers of 7.2
backport_version()
{
	packages backport | sha256sum | cut -c 1-12
}

# kernel_dir <series>: the folder with image, modules, release and version
kernel_dir()
{
	case $1 in
	debug | race) echo "$cache/linux-$1-$(checked_version "$1")" ;;
	7.2) echo "$cache/kernel-7.2-$(backport_version)" ;;
	*) echo "$cache/kernel-$1" ;;
	esac
}

# cross_root <series-arch>: the folder whose usr/src has headers for that architecture, and the
# name of their release; for 7.2 it is a Debian 13 with the compilers
cross_root()
{
	case $1 in
	7.2-*) echo "$cache/cross-7.2-$(packages cross | sha256sum | cut -c 1-12)" ;;
	*) echo "$cache/headers-$1" ;;
	esac
}

cross_release()
{
	echo "$(cross_root "$1")/usr/src/release-${1#*-}"
}

# the folder for `make -C` when a module is built
kernel_headers()
{
	local headers

	case $1 in
	debug | race) echo "$(kernel_dir "$1")/build" ;;
	*-*) echo "$(cross_root "$1")/usr/src/linux-headers-$(<"$(cross_release "$1")")" ;;
	7.2) echo "$(kernel_dir 7.2)/debian/usr/src/linux-headers-$(<"$(kernel_dir 7.2)/release")" ;;
	*)
		headers=usr/src/linux-headers-$(<"$(kernel_dir "$1")/release")
		# in an old cache there are none, because they were installed then
		[ ! -d "$(kernel_dir "$1")/$headers" ] || headers=$(kernel_dir "$1")/$headers
		echo "/${headers#/}"
		;;
	esac
}

# true if image, modules and headers are there
kernel_ready()
{
	local dir release

	dir=$(kernel_dir "$1")
	[ -r "$dir/release" ] || return 1
	release=$(<"$dir/release")
	[ -r "$dir/boot/vmlinuz-$release" ] &&
		[ -r "$dir/lib/modules/$release/modules.dep" ] &&
		[ -e "$(kernel_headers "$1")/Module.symvers" ]
}

# true if the headers for another architecture are there; the build's own programs are this one's
headers_ready()
{
	local headers

	[ -r "$(cross_release "$1")" ] || return 1
	headers=$(kernel_headers "$1")
	[ -r "$headers/Module.symvers" ] && [ -x "$headers/scripts/mod/modpost" ]
}

# the files of the source package of 6.12 that the tests use
harness_files=(
	tools/testing/selftests/kselftest.h tools/testing/selftests/kselftest_harness.h
	scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch
	scripts/get_abi.pl scripts/kernel-doc scripts/coccicheck scripts/coccinelle
)

harness_ready()
{
	local file

	for file in "${harness_files[@]}"; do
		[ -r "$cache/linux-source/$file" ] || return
	done
}

# the npm packages of the page that verifies certificates
libsodium_js_list=$here/../../../tools/verifier/libsodium

libsodium_js_dir()
{
	echo "$cache/libsodium-js-$(sha256sum <"$libsodium_js_list" | cut -c 1-12)"
}

libsodium_js_ready()
{
	local dir

	dir=$(libsodium_js_dir)
	[ -r "$dir/libsodium-sumo.js" ] && [ -r "$dir/libsodium-wrappers.js" ] && [ -r "$dir/LICENSE" ]
}

# packages <section>: names
packages()
{
	sed -n "/^# $1:/,/^\$/ { /^#/d; /^\$/d; s/ .*//; p }" "$here/packages"
}

# least_version <package>: 0 if any version will do
least_version()
{
	sed -n "s/^$1 //p; \$ s/.*/0/p" "$here/packages" | head -n 1
}

# axe-core, which checks pages for people who see or move little: a package of npm
axe_version=4.10.3
axe_sha512=5e6edba515e70d25f6604d9815f064d859c5d1ea7ab661bbc4f87c88779ef0c21cae0abbeb636471ef39e9d62d2582e4b88a1866f19f4ecfcf6d986275e4dc12

axe_file()
{
	echo "$cache/axe-core-$axe_version.min.js"
}

axe_ready()
{
	[ -r "$(axe_file)" ]
}

# debian_packages <release>: the packages of such a Debian, from a section of the list
debian_packages()
{
	case $1 in
	trixie | i386) packages user-space ;;
	bare) packages user-space && echo make ;;
	cockpit-*) packages bookworm && packages cockpit ;;
	packaged) packages bookworm && echo libusbredirparser1 ;;
	packaging-*arm*)
		packages packaging | sed "s/dev\$/&:${1##*-}/"
		echo "crossbuild-essential-${1##*-}"
		echo "pkgconf:${1##*-}"
		;;
	packaging) packages packaging && echo piuparts ;;
	# linux-kbuild needs pahole
	packaging-13) packages packaging && echo pahole ;;
	*) packages "$1" ;;
	esac
}

# debian_suite <release>: the suite of the packages
debian_suite()
{
	case $1 in
	trixie | cockpit-13 | packaging-13*) echo trixie ;;
	*) echo bookworm ;;
	esac
}

# debian_architectures <release>: the processor's own first
debian_architectures()
{
	case $1 in
	packaging-*arm*) echo "$(dpkg --print-architecture),${1##*-}" ;;
	i386) echo i386 ;;
	*) dpkg --print-architecture ;;
	esac
}

# debian_archive <release>: the name contains a hash of the list of packages
debian_archive()
{
	echo "$cache/$1-$(debian_packages "$1" | sha256sum | cut -c 1-12).tar.zst"
}

debian_ready()
{
	[ -r "$(debian_archive "$1")" ]
}
