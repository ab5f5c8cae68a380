# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# For tests that are shell scripts and print the Test Anything Protocol. Source it, `check` each
# thing, and end with `done_testing`.

tap_count=0 tap_bad=0

# check <name> <command...>: passes if the command does; shows its output if not
check()
{
	local name=$1 output
	shift

	tap_count=$((tap_count + 1))
	if output=$("$@" 2>&1); then
		echo "ok $tap_count - $name"
	else
		echo "not ok $tap_count - $name"
		tap_bad=$((tap_bad + 1))
		printf '%s\n' "$output" | tail -n 40 | sed 's/^/#   /'
	fi
}

done_testing()
{
	echo "1..$tap_count"
	[ "$tap_bad" = 0 ]
}
