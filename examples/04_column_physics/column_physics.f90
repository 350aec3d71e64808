! The physics of a weather model's columns by a network, in single and in double precision:
!
!     column_physics FLOAT32.onnx FLOAT64.onnx [COLUMNS]
!
! A column's numbers lie one after the other, columns(number, column), as weather models keep their physics; the network calls that
! [columns, numbers], so nothing is copied. The second part repeats the calls from blocks of columns, as such models are cut for
! their threads: one context a thread, blocks of 64 columns.
program column_physics
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use omp_lib
  use svengine
  implicit none

  integer, parameter :: ins = 191, outs = 126, block_size = 64, calls = 5
  real(real64), parameter :: multiply_adds = 191 * 122 + 4 * 122 * 122 + 122 * 126
  integer :: columns = 8192
  character(256) :: single_model, double_model
  character(16) :: number
  real(real64), allocatable, target :: state(:, :), drag(:, :), drag_of_blocks(:, :)
  real(real32), allocatable, target :: single_state(:, :), single_drag(:, :)
  real(real64) :: difference
  integer :: i

  if (command_argument_count() < 2) error stop 'column_physics FLOAT32.onnx FLOAT64.onnx [COLUMNS]'
  call get_command_argument(1, single_model)
  call get_command_argument(2, double_model)
  if (command_argument_count() > 2) then
    call get_command_argument(3, number)
    read (number, *) columns
  end if
  allocate (state(ins, columns), drag(outs, columns), drag_of_blocks(outs, columns))
  call random_seed(put=[(42, i=1, 64)])
  call random_number(state)
  single_state = real(state, real32)
  allocate (single_drag(outs, columns))

  call all_at_once(single_model, sv_array(single_state), sv_array(single_drag), 'real32')
  call all_at_once(double_model, sv_array(state), sv_array(drag), 'real64')
  difference = maxval(abs(single_drag - drag)) / maxval(abs(drag))
  print '(a, es9.2)', 'single against double precision:', difference
  if (.not. difference < 1e-5_real64) error stop 'single and double precision do not agree'

  call by_blocks(double_model)
  print '(a, es9.2)', 'blocks against all at once:     ', maxval(abs(drag_of_blocks - drag))
  if (any(drag_of_blocks /= drag)) error stop 'blocks of columns give other numbers'
  ! The variables of a main program last until it has ended, and Fortran frees none of them.
  deallocate (state, drag, drag_of_blocks, single_state, single_drag)

contains

  subroutine all_at_once(model, input, output, name)
    character(*), intent(in) :: model, name
    type(sv_tensor), intent(in) :: input, output
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64) :: began, best
    integer :: i
    call network%load(model)
    call context%create(network)
    best = huge(best)
    do i = 1, calls
      began = omp_get_wtime()
      call context%run(input, output)
      best = min(best, omp_get_wtime() - began)
    end do
    call say(name//', one thread', best)
  end subroutine

  subroutine by_blocks(model)
    character(*), intent(in) :: model
    type(sv_network) :: network
    type(sv_context), allocatable :: contexts(:)
    real(real64) :: began, best
    integer :: i, first, last
    call network%load(model)
    allocate (contexts(0:omp_get_max_threads() - 1))
    do i = 0, ubound(contexts, 1)
      call contexts(i)%create(network)
    end do
    best = huge(best)
    do i = 1, calls
      began = omp_get_wtime()
      !$omp parallel do schedule(static) private(last)
      do first = 1, columns, block_size
        last = min(first + block_size - 1, columns)
        call contexts(omp_get_thread_num())%run(sv_array(state(:, first:last)), sv_array(drag_of_blocks(:, first:last)))
      end do
      !$omp end parallel do
      best = min(best, omp_get_wtime() - began)
    end do
    call say('real64, blocks of 64, all threads', best)
  end subroutine

  subroutine say(what, seconds)
    character(*), intent(in) :: what
    real(real64), intent(in) :: seconds
    print '(a, t36, f10.3, a, f9.2, a)', what, seconds * 1000, ' ms', 2 * multiply_adds * columns / seconds / 1e9_real64, ' GFLOP/s'
  end subroutine
end program
