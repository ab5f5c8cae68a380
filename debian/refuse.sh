#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# preinst of several packages: rules copies it.
set -e

# What `make install` left would be found before the files of the packages, or `ninja uninstall`
# would remove theirs later. It is removed by whoever installed it.
if [ "$1" = install ]; then
	left='' before=''
	# No package has anything in /usr/local.
	for pattern in 'bin/dealbox*' 'sbin/dealbox*' 'libexec/dealbox*' 'lib/libdealbox.*' 'lib/*/libdealbox.*' \
		lib/dealbox 'lib/*/dealbox' 'lib/pkgconfig/libdealbox.pc' 'lib/*/pkgconfig/libdealbox.pc' \
		'lib/python3*/dist-packages/dealbox*' include/dealbox include/linux/dealbox.h \
		share/dealbox share/doc/dealbox share/cockpit/dealbox 'share/man/man*/*dealbox*' \
		'share/bash-completion/completions/dealbox*' 'share/zsh/site-functions/_dealbox*' \
		'lib/systemd/system/dealbox*' 'lib/udev/*/*dealbox*'; do
		for path in /usr/local/$pattern; do
			[ -e "$path" ] || [ -L "$path" ] || continue
			left="$left /usr/local/$pattern"
			break
		done
	done
	for path in /usr/lib/systemd/system/dealbox* /usr/lib/udev/*/*dealbox* \
		/usr/lib/sysusers.d/dealbox* /usr/lib/pam.d/dealbox* /usr/lib/systemd/catalog/dealbox* \
		/usr/share/dbus-1/*/io.dealbox1* /usr/share/polkit-1/*/*dealbox* /usr/src/dealbox-*; do
		[ -e "$path" ] || [ -L "$path" ] || continue
		# Debian 12 names /usr/lib and /lib, which are the same
		[ -z "$(dpkg-query -S "$path" "${path#/usr}" 2>/dev/null)" ] || continue
		left="$left $path"
		case $path in
		*/dealboxd.service) before="systemctl stop dealboxd; $before" ;;
		/usr/src/*) before="${before}dkms remove dealbox/${path#/usr/src/dealbox-} --all; " ;;
		esac
	done
	if [ -n "$left" ]; then
		cat >&2 <<-END
		dealbox was installed by make install, without a package, and would be used instead of
		the packages. This removes it, and keeps ledger and settings:

		  ${before}rm -rf$left

		END
		exit 1
	fi
fi

# An older program cannot read a ledger, or the record of a machine, that a newer one has written.
if [ "$1" = upgrade ] && dpkg --compare-versions "$2" gt "$3"; then
	cat >&2 <<-END
	$DPKG_MAINTSCRIPT_PACKAGE $2 is installed, and $3 may not be able to read the records that it has
	written. Nothing was changed. Keep $2, or remove the packages first: the records stay.
	END
	exit 1
fi

#DEBHELPER#
