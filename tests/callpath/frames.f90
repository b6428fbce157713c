! SPDX-License-Identifier: BSD-3-Clause
! A frame of the Fortran compiler, with an automatic array, that calls back.
subroutine chameleon_test_fortran(callback, with, n) bind(c)
  use iso_c_binding
  implicit none
  interface
    subroutine callback(with) bind(c)
      import c_ptr
      type(c_ptr), value :: with
    end subroutine
  end interface
  type(c_ptr), value :: with
  integer(c_int), intent(in) :: n
  double precision :: room(n)
  room = 1.0d0
  call callback(with)
  if (sum(room) < 0) print *, room(1)
end subroutine
