# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for dealbox-machine: the options are those of its help
_dealbox_machine()
{
	local cur=${COMP_WORDS[COMP_CWORD]}

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --help | sed -nE 's/^  (--[a-z-]+) .*/\1/p')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -o filenames -F _dealbox_machine dealbox-machine
