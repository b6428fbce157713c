# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced before the commands of a how-to page, in the empty folder where they will run: Chameleon
# installed as README has it, in ~/chameleon, and a program `app` with its input. BUILD and HERE
# are the build folder and this one.
unset CHAMELEON_LIBRARY
HOME=$PWD/home
mkdir "$HOME"
export HOME
cmake --install "$BUILD" --prefix "$HOME/chameleon" >install.log 2>&1 || {
    cat install.log
    exit 1
}
PATH=$HOME/chameleon/bin:$PATH
mpicc.mpich -g -I"$HOME/chameleon/include" "$HERE/app.c" -o app
echo 200 >input
