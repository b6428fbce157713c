# SPDX-License-Identifier: BSD-3-Clause
# For tests of documentation: Debian's Python, which has mpi4py, and Open MPI as root and with more
# ranks than cores.
mkdir -p bin
ln -s /usr/bin/python3 bin/python3
PATH=$PWD/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
