# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Where the set-up puts things. Sourced by tests/setup/run and tests/setup/where.

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

# image, modules and headers of one and the same version are there
kernel_ready()
{
	local dir=$cache/kernel-$1 release

	[ -r "$dir/release" ] || return 1
	release=$(<"$dir/release")
	[ -r "$dir/boot/vmlinuz-$release" ] &&
		[ -r "$dir/lib/modules/$release/modules.dep" ] &&
		[ -e "/usr/src/linux-headers-$release/Module.symvers" ] &&
		[ "$(dpkg-query -W -f '${Version}' "linux-headers-$release" 2>/dev/null)" = "$(<"$dir/version")" ]
}

harness_ready()
{
	[ -r "$cache/linux-source/tools/testing/selftests/kselftest_harness.h" ] &&
		[ -r "$cache/linux-source/scripts/checkpatch.pl" ]
}

# packages <section>
packages()
{
	sed -n "/^# $1:/,/^\$/ { /^#/d; /^\$/d; p }" "$here/packages"
}

# named by what is in it: another list is another archive
trixie_archive()
{
	echo "$cache/trixie-$(packages user-space | sha256sum | cut -c 1-12).tar.zst"
}

trixie_ready()
{
	[ -r "$(trixie_archive)" ]
}
