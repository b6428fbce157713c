! SPDX-License-Identifier: BSD-3-Clause
! A program of a user, in Fortran.
program main
  use chameleon
  implicit none
  include 'mpif.h'
  integer :: step, rank, error

  call MPI_INIT(error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
  do step = 1, 10
    call MPI_BARRIER(MPI_COMM_WORLD, error)
    call chameleon_marker()
  end do
  if (rank == 0) print '(a)', 'consumer: done'
  call MPI_FINALIZE(error)
end program main
