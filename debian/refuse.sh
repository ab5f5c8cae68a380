#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# preinst of several packages: rules copies it.
set -e

# Files left by `make install` would be found before those of the packages, and a later
# `ninja uninstall` would remove the packages' files. Whoever installed them must remove them.
if [ "$1" = install ]; then
	left='' before=''
	# No package has anything in /usr/local.
	# Names are exact: somebody may have written a program that he named after dealbox.
	for pattern in bin/dealbox bin/dealbox-compliance bin/dealbox-emulator bin/dealbox-fixture-gpio \
		sbin/dealbox-machine libexec/dealboxd libexec/dealbox-double-dummy libexec/dealbox-kiosk \
		libexec/dealbox-machine-usb 'lib/libdealbox.*' 'lib/*/libdealbox.*' \
		lib/dealbox 'lib/*/dealbox' 'lib/pkgconfig/libdealbox.pc' 'lib/*/pkgconfig/libdealbox.pc' \
		'lib/python3*/dist-packages/dealbox' include/dealbox include/linux/dealbox.h \
		share/dealbox share/doc/dealbox share/cockpit/dealbox share/man/man1/dealbox.1 \
		share/man/man1/dealbox-certificate.1 share/man/man1/dealbox-compliance.1 \
		share/man/man1/dealbox-emulator.1 share/man/man1/dealbox-event.1 \
		share/man/man1/dealbox-fixture-gpio.1 share/man/man1/dealbox-law.1 \
		share/man/man1/dealbox-ledger.1 share/man/man1/dealbox-log.1 share/man/man1/dealbox-square.1 \
		'share/man/man3/dealbox_*.3' share/man/man4/dealbox.4 share/man/man5/dealbox-machine.conf.5 \
		share/man/man5/dealboxd.conf.5 share/man/man8/dealbox-machine.8 share/man/man8/dealboxd.8 \
		share/bash-completion/completions/dealbox.bash share/zsh/site-functions/_dealbox \
		share/bash-completion/completions/dealbox-compliance \
		share/bash-completion/completions/dealbox-machine lib/systemd/system/dealboxd.service \
		lib/systemd/system/dealbox-machine.service lib/systemd/system/dealbox-kiosk.service \
		lib/udev/rules.d/61-dealboxd.rules lib/udev/rules.d/70-dealbox.rules \
		lib/udev/hwdb.d/70-dealbox.hwdb; do
		for path in /usr/local/$pattern; do
			[ -e "$path" ] || [ -L "$path" ] || continue
			case $pattern in
			# there are hundreds
			*/man3/*) left="$left /usr/local/$pattern"; break ;;
			*) left="$left $path" ;;
			esac
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
