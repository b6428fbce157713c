# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced before the commands of docs/how-to/slurm.md under a real Slurm: as under the stand-ins for
# it, but that the job with a limit of a minute needs more than a minute.
HERE=$(cd "$HERE/../install/how_to" && pwd)
. "$HERE/prepare.sh"
sbatch() {
    case "$*" in
    *--time=1*) echo 20000 >input ;;
    esac
    command sbatch "$@"
}
