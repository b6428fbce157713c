#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test_completion.sh COMPLETION CHAMELEON: verbs and options are offered.
set -eu
. "$1"

offers() {  # WORDS...: completions of the last one
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _chameleon
    echo " ${COMPREPLY[*]} "
}

expect() {  # WORD in OFFERS
    case $2 in
    *" $1 "*) ;;
    *) echo "$1 is not offered:$2" >&2; exit 1 ;;
    esac
}

for verb in run info export compare; do expect "$verb" "$(offers "$2" '')"; done
expect export "$(offers "$2" ex)"
expect --chrome "$(offers "$2" export --c)"
expect --threshold "$(offers "$2" compare --t)"
case $(offers "$2" ex) in *compare*) echo "compare is offered for ex" >&2; exit 1 ;; esac
case $(offers "$2" export "$(dirname "$1")/cham") in
*/chameleon*) ;;
*) echo "no file is offered" >&2; exit 1 ;;
esac
