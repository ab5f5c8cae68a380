#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Deals a file by the service: deal.sh club-evening.pbn monday
# Ends when the last board is dealt; Ctrl-C is the emergency stop.
set -eu
[ $# = 2 ] || { echo "usage: $0 FILE SESSION" >&2; exit 2; }

# all of the service's objects, of one kind: machine, job
objects() {
	busctl --system tree --list io.dealbox1 | grep "^/io/dealbox1/$1/" | sort -V
}

property() {
	busctl --system get-property io.dealbox1 "$1" "io.dealbox1.$2" "$3" | cut -d ' ' -f 2-
}

# the deals cross as a descriptor, which busctl cannot pass: dealbox does that, and waits
dealbox deal --session "$2" "$1" &
deal=$!
trap 'busctl --system call io.dealbox1 /io/dealbox1 io.dealbox1.Manager Stop' INT
status=0
wait $deal || status=$?
[ $status = 0 ] || exit $status

job=$(objects job | tail -n 1)
echo "$(property "$job" Job Recorded) boards are recorded, $(property "$job" Job Void) were void"
for machine in $(objects machine); do
	echo "$(property "$machine" Machine Id): $(property "$machine" Machine Instruction)"
done
