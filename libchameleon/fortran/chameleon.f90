! SPDX-License-Identifier: BSD-3-Clause
!> Markers for Fortran: see chameleon/chameleon.h. A program may also compile this file with its
!> own sources; it needs neither the library nor a particular compiler or MPI module.
!>
!>     use chameleon
!>     call chameleon_marker()
module chameleon
  implicit none
  private

  !> The level of MPI_Pcontrol that is a marker: "CHM".
  integer, parameter, public :: CHAMELEON_MARKER_LEVEL = int(z'43484d')

  public :: chameleon_marker

contains

  !> A marker, for example at the end of a time step; to be called by every rank of MPI_COMM_WORLD
  !> equally often, between MPI_Init and MPI_Finalize. Without the tracer it does nothing.
  subroutine chameleon_marker()
    external :: mpi_pcontrol
    call mpi_pcontrol(CHAMELEON_MARKER_LEVEL)
  end subroutine chameleon_marker

end module chameleon
