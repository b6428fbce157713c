! SPDX-License-Identifier: BSD-3-Clause
! The ring in Fortran, by the `mpi_f08` module: every rank passes a vector to the next rank and
! takes one from the rank before; the sum over all ranks stays the same. All ranks behave alike.

program ring_mpi_f08
  use mpi_f08
  use chameleon
  implicit none
  character(len=*), parameter :: name = 'ring_mpi_f08'
  integer, parameter :: dp = kind(1.0d0), long = selected_int_kind(18)
  integer :: iterations = 100, n = 1024, rank, ranks, next, previous, step, i, origin
  type(MPI_Status) :: status
  logical :: show_time = .false., good = .true.
  real(dp) :: microseconds = 0, total, begin, seconds, failures, all_failures
  real(dp), allocatable :: mine(:), taken(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call parse()
  if (.not. good) then
    if (rank == 0) write (0, '(3a)') 'usage: ', name, &
      ' [--iterations N] [--size N] [--compute MICROSECONDS] [--time]'
    call MPI_Finalize()
    stop 2
  end if
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  allocate (mine(n), taken(n))
  mine = [(rank + 0.5_dp*i, i = 0, n - 1)]
  failures = 0

  call MPI_Barrier(MPI_COMM_WORLD)
  begin = MPI_Wtime()
  do step = 1, iterations
    call compute()
    call MPI_Sendrecv(mine, n, MPI_DOUBLE_PRECISION, next, 1, taken, n, MPI_DOUBLE_PRECISION, &
                      previous, 1, MPI_COMM_WORLD, status)
    mine = taken
    call MPI_Allreduce(mine, taken, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    total = taken(1)
    if (abs(total - 0.5_dp*ranks*(ranks - 1)) > 1e-9_dp*ranks*ranks) failures = failures + 1
    call end_of_timestep()
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  begin = MPI_Wtime() - begin
  call MPI_Reduce(begin, seconds, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD)

  origin = modulo(rank - iterations, ranks)
  do i = 1, n
    if (abs(mine(i) - origin - 0.5_dp*(i - 1)) > 0) failures = failures + 1
  end do
  taken(1) = failures
  call MPI_Allreduce(taken, mine, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  all_failures = mine(1)
  if (rank == 0) then
    if (show_time) call print_time()
    if (all_failures < 0.5_dp) then
      write (*, '(2a)') name, ': verified'
    else
      write (*, '(2a, i0, a)') name, ': FAILED (', int(all_failures), ' checks)'
    end if
  end if
  call MPI_Finalize()
  if (all_failures > 0.5_dp) stop 1

contains

  subroutine end_of_timestep()
    call chameleon_marker()
  end subroutine

  subroutine print_time()
    character(len=32) :: text
    write (text, '(f20.6)') seconds
    write (*, '(3a)') 'time: ', trim(adjustl(text)), ' s'
  end subroutine

  ! Works on the vector for about that many microseconds, without changing it.
  subroutine compute()
    integer(long) :: now, first, rate
    real(dp), volatile :: value
    integer :: k
    if (microseconds <= 0) return
    call system_clock(first, rate)
    value = 1
    do
      do k = 1, 256
        value = 0.5_dp*value + mine(1 + modulo(k, n))
      end do
      call system_clock(now)
      if (real(now - first, dp)/rate >= microseconds*1e-6_dp) exit
    end do
  end subroutine

  subroutine parse()
    character(len=64) :: option, text
    real(dp) :: value
    integer :: argument, error
    argument = 1
    do while (argument <= command_argument_count())
      call get_command_argument(argument, option)
      argument = argument + 1
      if (option == '--time') then
        show_time = .true.
        cycle
      end if
      call get_command_argument(argument, text)
      argument = argument + 1
      read (text, *, iostat=error) value
      good = good .and. error == 0
      if (.not. good) return
      good = value >= 0 .and. value <= 1e9_dp
      select case (option)
      case ('--iterations')
        iterations = int(value)
      case ('--size')
        good = good .and. value >= 1
        n = int(value)
      case ('--compute')
        microseconds = value
      case default
        good = .false.
      end select
    end do
  end subroutine

end program
