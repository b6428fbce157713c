# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the scripts here, in the root of the checkout: what they share.

# install_missing LIST...: installs the packages that these files name and that are missing, if any.
# A line is a package and, maybe, a command that makes it needless.
install_missing() {
    if ! command -v dpkg >/dev/null; then
        echo "not a Debian system: install what these name: $*" >&2
        return 0
    fi
    missing=
    while read -r package command; do
        if [ -z "$package" ] || { [ -n "$command" ] && command -v "$command" >/dev/null; }; then
            continue
        fi
        case $(dpkg -s "$package" 2>/dev/null) in
        *'Status: install ok installed'*) ;;
        *) missing="$missing $package" ;;
        esac
    done <<EOF
$(sed 's/#.*//' "$@")
EOF
    [ -n "$missing" ] || return 0
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    $as_root apt-get update -qq
    wanted=$missing
    missing=
    for package in $wanted; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            missing="$missing $package"
        else
            echo "this system has no package $package: what needs it is left out"
        fi
    done
    [ -n "$missing" ] || return 0
    echo "installing:$missing"
    # shellcheck disable=SC2086  # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing
}

# The cheap build, by a third: less optimized, several files at a time.
# shellcheck disable=SC2034  # of scripts that build
cheap_build='-DCHAMELEON_OPENMPI=OFF -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12'

# build_into FOLDER [TARGET...], with what $configure has of further options for CMake
build_into() {
    folder=$1
    shift
    # No debug information, a fifth of the build, but in programs of which lines are looked up.
    # shellcheck disable=SC2086  # options, or nothing
    cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" ${configure-}
    ninja -C "$folder" -j "$(nproc)" "$@"
}
