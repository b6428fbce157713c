! SPDX-License-Identifier: BSD-3-Clause
! What a tracer easily gets wrong in Fortran, one source for three interfaces: mpif.h, `use mpi`
! (-DUSE_MPI), `use mpi_f08` (-DUSE_MPI_F08). Indices count from 1, logicals, strings without a
! terminating zero, MPI_STATUS_IGNORE, MPI_IN_PLACE, MPI_BOTTOM, callbacks. Ends with status 3 if
! all is well, and says what is not. With the word `sections` mpi_f08 sends every second element.
#ifdef USE_MPI_F08
#define REQUEST_HANDLE type(MPI_Request)
#define DATATYPE_HANDLE type(MPI_Datatype)
#define OP_HANDLE type(MPI_Op)
#define COMM_HANDLE type(MPI_Comm)
#define INFO_HANDLE type(MPI_Info)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define FIELD(status, field) status%field
#define FIELD_OF(statuses, i, field) statuses(i)%field
#else
#define REQUEST_HANDLE integer
#define DATATYPE_HANDLE integer
#define OP_HANDLE integer
#define COMM_HANDLE integer
#define INFO_HANDLE integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define FIELD(status, field) status(field)
#define FIELD_OF(statuses, i, field) statuses(field, i)
#endif

module calls
#if defined USE_MPI_F08
  use mpi_f08
#elif defined USE_MPI
  use mpi
#endif
  implicit none
#if !defined USE_MPI_F08 && !defined USE_MPI
  include 'mpif.h'
#endif
  integer, parameter :: n = 4
  integer :: rank, ranks, next, previous, base, failures = 0, deleted = 0, ierror

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    failures = failures + 1
    write (*, '(a, i0, 2a)') 'rank ', rank, ': wrong: ', what
  end subroutine

  subroutine post(requests, received)
    REQUEST_HANDLE, intent(out) :: requests(2*n)
    integer, intent(inout), asynchronous :: received(n)
    integer, save, asynchronous :: sent(n)
    integer :: i
    sent = [(100*rank + i, i = 1, n)]
    received = -1
    do i = 1, n
      call MPI_Irecv(received(i), 1, MPI_INTEGER, previous, i, MPI_COMM_WORLD, requests(i), ierror)
    end do
    do i = 1, n
      call MPI_Isend(sent(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, requests(n + i), ierror)
    end do
  end subroutine

  ! Indices count from 1; in mpi_f08 of MPICH 4.0.2 from 0. The tracer is to change neither.
  subroutine find_base()
    REQUEST_HANDLE :: requests(1)
    integer, asynchronous :: received
    call MPI_Irecv(received, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, ierror)
    call MPI_Waitany(1, requests, base, MPI_STATUS_IGNORE, ierror)
    call check(base == 0 .or. base == 1, 'the first index')
    if (rank == 0) write (*, '(a, i0)') 'first index: ', base
  end subroutine

  ! Every request is reported once, by its place, with a status that is its own.
  subroutine some(waits)
    logical, intent(in) :: waits
    REQUEST_HANDLE :: requests(2*n)
    STATUSES(statuses, 2*n)
    integer, asynchronous :: received(n)
    integer :: indices(2*n), count, i, k, done(2*n)
    call post(requests, received)
    done = 0
    do
      if (waits) then
        call MPI_Waitsome(2*n, requests, count, indices, statuses, ierror)
      else
        call MPI_Testsome(2*n, requests, count, indices, statuses, ierror)
      end if
      if (count == MPI_UNDEFINED) exit
      do i = 1, count
        k = indices(i) - base + 1
        call check(k >= 1 .and. k <= 2*n, 'an index of some')
        if (k < 1 .or. k > 2*n) return
        done(k) = done(k) + 1
        if (k > n) cycle
        call check(FIELD_OF(statuses, i, MPI_SOURCE) == previous, 'a source of some')
        call check(FIELD_OF(statuses, i, MPI_TAG) == k, 'a tag of some')
      end do
    end do
    call check(all(done == 1), 'what some reports')
    call check(all(received == [(100*previous + i, i = 1, n)]), 'what some receives')
  end subroutine

  subroutine completions()
    REQUEST_HANDLE :: requests(2*n)
    STATUS(status)
    integer, asynchronous :: received(n)
    integer :: i, index, count
    logical :: flag
    call post(requests, received)
    do i = 1, 2*n
      call MPI_Waitany(2*n, requests, index, status, ierror)
      index = index - base + 1
      call check(index >= 1 .and. index <= 2*n, 'an index of any')
      if (index <= n) call check(FIELD(status, MPI_TAG) == index, 'a tag of any')
    end do
    call MPI_Waitany(2*n, requests, index, MPI_STATUS_IGNORE, ierror)
    if (rank == 0) write (*, '(a, l1)') 'none left: ', index == MPI_UNDEFINED
    call post(requests, received)
    call MPI_Waitall(2*n, requests, MPI_STATUSES_IGNORE, ierror)
    call post(requests, received)
    do i = 1, 2*n
      if (modulo(i, 2) == 0) then
        call MPI_Wait(requests(i), MPI_STATUS_IGNORE, ierror)
      else
        flag = .false.
        do while (.not. flag)
          call MPI_Test(requests(i), flag, status, ierror)
        end do
      end if
    end do
    call check(all(received == [(100*previous + i, i = 1, n)]), 'what one by one receives')

    call MPI_Isend(rank, 1, MPI_INTEGER, next, 9, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
    call check(FIELD(status, MPI_SOURCE) == previous, 'the source of a probe')
    call MPI_Iprobe(previous, 9, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
    call check(flag, 'the flag of a probe')
    call MPI_Recv(received, n, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, &
                  ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call check(count == 1 .and. received(1) == previous, 'a count')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  end subroutine

  subroutine combine(input, output, length, datatype)
#ifdef USE_MPI_F08
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
#endif
    integer :: length
#ifdef USE_MPI_F08
    type(c_ptr), value :: input, output
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), out(:)
    call c_f_pointer(input, in, [length])
    call c_f_pointer(output, out, [length])
    out = out + 2*in
#else
    integer :: input(length), output(length), datatype
    output = output + 2*input
#endif
    if (.false.) call use_type(datatype)
  end subroutine

  subroutine use_type(datatype)
    DATATYPE_HANDLE :: datatype
    call MPI_Type_commit(datatype, ierror)
  end subroutine

  subroutine special_addresses()
    DATATYPE_HANDLE :: pair
    OP_HANDLE :: op
    integer, volatile :: both(2), sums(2)
    integer(MPI_ADDRESS_KIND) :: places(2)
    both = [rank, 1]
    call MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check(all(both == [ranks*(ranks - 1)/2, ranks]), 'MPI_IN_PLACE')
    call MPI_Get_address(both(1), places(1), ierror)
    call MPI_Get_address(sums(2), places(2), ierror)
    call MPI_Type_create_hindexed(2, [1, 1], places, MPI_INTEGER, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    if (rank == 0) both(1) = 47
    if (rank == 0) sums(2) = 48
    call MPI_Bcast(MPI_BOTTOM, 1, pair, 0, MPI_COMM_WORLD, ierror)
    call check(both(1) == 47 .and. sums(2) == 48, 'MPI_BOTTOM')
    call MPI_Type_free(pair, ierror)
    call MPI_Op_create(combine, .false., op, ierror)
    both = 1
    call MPI_Reduce(both, sums, 2, MPI_INTEGER, op, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) call check(sums(1) > ranks .or. ranks == 1, 'an operation of its own')
    call MPI_Op_free(op, ierror)
  end subroutine

  ! Arrays that are not there, and an end without a partner.
  subroutine sentinels()
    COMM_HANDLE :: graph
    integer, asynchronous :: taken(2)
    integer :: degrees(2), sources(1), targets(1), weights(2)
    logical :: weighted
    STATUS(status)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [previous], MPI_UNWEIGHTED, 1, [next], &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, degrees(1), degrees(2), weighted, ierror)
    call check(all(degrees == 1) .and. .not. weighted, 'MPI_UNWEIGHTED')
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, &
                                  ierror)
    call check(sources(1) == previous .and. targets(1) == next, 'neighbours')
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, taken, 1, MPI_INTEGER, graph, ierror)
    call check(taken(1) == previous, 'what a neighbour gives')
    call MPI_Comm_free(graph, ierror)
    weights = [3, 4]
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [previous], weights, 1, [next], &
                                        weights(2:), MPI_INFO_NULL, .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, degrees(1), degrees(2), weighted, ierror)
    call check(weighted, 'weights')
    call MPI_Comm_free(graph, ierror)
    taken = rank
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, taken, 1, MPI_INTEGER, 0, MPI_COMM_SELF, &
                    ierror)
    call check(taken(1) == rank, 'a gather in place')
    call MPI_Recv(taken, 1, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
    call check(FIELD(status, MPI_SOURCE) == MPI_PROC_NULL, 'MPI_PROC_NULL')
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 5, taken, 1, MPI_INTEGER, previous, 5, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call check(taken(1) == previous, 'an exchange')
  end subroutine

  subroutine forget(comm, keyval, value, extra, error)
    COMM_HANDLE :: comm
    integer :: keyval, error
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + int(value) + int(extra)
    error = MPI_SUCCESS
    if (.false.) call MPI_Comm_free_keyval(keyval, error)
    if (.false.) call MPI_Comm_free(comm, error)
  end subroutine

  subroutine communicators()
    COMM_HANDLE :: ring, row, half
    INFO_HANDLE :: info
    integer :: sides(2), place(2), length, keyval
    logical :: around(2), flag
    character(len=20) :: text
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer(MPI_ADDRESS_KIND) :: value
    sides = [ranks, 1]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, sides, [.true., .false.], .true., ring, ierror)
    call MPI_Cart_get(ring, 2, sides, around, place, ierror)
    call check(around(1) .and. .not. around(2), 'logicals')
    call MPI_Cart_sub(ring, [.true., .false.], row, ierror)
    call MPI_Comm_set_name(row, 'a row  ', ierror)
    call MPI_Comm_get_name(row, name, length, ierror)
    call check(name == 'a row' .and. length == 5, 'a string')
    call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), -rank, half, ierror)
    call MPI_Barrier(half, ierror)
    value = 5
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, keyval, 2_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(half, keyval, value, ierror)
    call MPI_Comm_get_attr(half, keyval, value, flag, ierror)
    call check(flag .and. value == 5, 'an attribute')
    call MPI_Comm_free(half, ierror)
    call check(deleted == 7, 'a callback')
    call MPI_Comm_free_keyval(keyval, ierror)
    call MPI_Comm_free(row, ierror)
    call MPI_Comm_free(ring, ierror)
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'key', 'what it says', ierror)
    call MPI_Info_get(info, 'key', 20, text, flag, ierror)
    call check(flag .and. text == 'what it says', 'an info')
    call MPI_Info_free(info, ierror)
  end subroutine

#ifdef USE_MPI_F08
  subroutine sections()
    integer :: all_of_it(9), every_second(5)
    type(MPI_Request) :: request
    every_second = 0
    all_of_it = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    call MPI_Irecv(every_second, 5, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, request)
    call MPI_Send(all_of_it(1:9:2), 5, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(every_second == [1, 3, 5, 7, 9]), 'every second element')
  end subroutine
#endif

end module

program fortran_calls
  use calls
  implicit none
  character(len=8) :: word
  integer :: all_failures
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  call get_command_argument(1, word)
  if (word == 'sections') then
#ifdef USE_MPI_F08
    call sections()
#endif
  else
    call find_base()
    call some(.true.)
    if (word == 'tests') call some(.false.)
    call completions()
    call special_addresses()
    call sentinels()
    call communicators()
  end if
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) write (*, '(a, i0)') 'wrong: ', all_failures
  call MPI_Finalize(ierror)
  if (all_failures == 0) stop 3
  stop 4
end program
