# SPDX-License-Identifier: BSD-3-Clause
# Completion for fish: verbs, the options of a verb, files. What there is to offer is read from
# `chameleon --help`, so that it is always that of the command which is installed.

function __chameleon_verbs
    set -l words (commandline -opc)
    $words[1] --help 2>/dev/null |
        sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __chameleon_options
    set -l words (commandline -opc)
    $words[1] $words[2] --help 2>/dev/null |
        grep -oE '^ +-[^ =]*' | tr ', ' '\n\n' | grep '^-'
end

function __chameleon_wants_verb
    test (count (commandline -opc)) -eq 1
end

complete -c chameleon -n __chameleon_wants_verb -f -a '(__chameleon_verbs)'
complete -c chameleon -n 'not __chameleon_wants_verb; and string match -q -- "-*" (commandline -ct)' \
    -a '(__chameleon_options)'
