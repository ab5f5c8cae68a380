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

# checked_version <debug|race>: such a kernel is another one when its configuration is, or how it
# is built
checked_version()
{
	cat "$here"/../../kernel/debug-kernel/{config,"config-$1",build,vhci.cocci} | sha256sum | cut -c 1-12
}

# image and headers of 7.2 come together: what there is with them makes it another one
backport_version()
{
	packages backport | sha256sum | cut -c 1-12
}

# kernel_dir <series>: image, modules, release and version
kernel_dir()
{
	case $1 in
	debug | race) echo "$cache/linux-$1-$(checked_version "$1")" ;;
	7.2) echo "$cache/kernel-7.2-$(backport_version)" ;;
	*) echo "$cache/kernel-$1" ;;
	esac
}

# cross_root <series-arch>: usr/src has headers for another computer, and the name of
# their release; for 7.2 within a Debian 13 that has the compilers
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

# what `make -C` takes to build a module
kernel_headers()
{
	local headers

	case $1 in
	debug | race) echo "$(kernel_dir "$1")/build" ;;
	*-*) echo "$(cross_root "$1")/usr/src/linux-headers-$(<"$(cross_release "$1")")" ;;
	7.2) echo "$(kernel_dir 7.2)/debian/usr/src/linux-headers-$(<"$(kernel_dir 7.2)/release")" ;;
	*)
		headers=usr/src/linux-headers-$(<"$(kernel_dir "$1")/release")
		# a cache that is older than this line has none: they were installed
		[ ! -d "$(kernel_dir "$1")/$headers" ] || headers=$(kernel_dir "$1")/$headers
		echo "/${headers#/}"
		;;
	esac
}

# image, modules and headers are there
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

# headers for another computer; what runs while building is of this one
headers_ready()
{
	local headers

	[ -r "$(cross_release "$1")" ] || return 1
	headers=$(kernel_headers "$1")
	[ -r "$headers/Module.symvers" ] && [ -x "$headers/scripts/mod/modpost" ]
}

# of the source package of 6.12, what the tests use
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

# packages <section>: names
packages()
{
	sed -n "/^# $1:/,/^\$/ { /^#/d; /^\$/d; s/ .*//; p }" "$here/packages"
}

# least_version <package>: 0 if every one will do
least_version()
{
	sed -n "s/^$1 //p; \$ s/.*/0/p" "$here/packages" | head -n 1
}

# the packages that a Debian of ours has: a section
debian_packages()
{
	case $1 in
	trixie) packages user-space ;;
	bare) packages user-space && echo make ;;
	*) packages "$1" ;;
	esac
}

# debian_archive <release>: named by what is in it, another list is another archive
debian_archive()
{
	echo "$cache/$1-$(debian_packages "$1" | sha256sum | cut -c 1-12).tar.zst"
}

debian_ready()
{
	[ -r "$(debian_archive "$1")" ]
}
