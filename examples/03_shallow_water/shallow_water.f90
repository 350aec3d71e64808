! Waves of shallow water in a basin with an island; at every step a network gives the drag of the bottom at the wet cells:
!
!     shallow_water_fortran DRAG.onnx [NX NY STEPS]
!
! Fields are column-major, f(nx, ny), in double precision. Every thread of OpenMP has a context of the one network and calls it for
! its part of the list of wet cells; the fields are read and the rates written where they are. At the end the run is repeated with
! the formula that the network has learnt, and the surfaces are compared.
program shallow_water
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use omp_lib
  use svengine
  implicit none

  real(real64), parameter :: gravity = 9.81_real64, spacing = 500, time_step = 12, pi = acos(-1.0_real64)
  integer :: nx = 200, ny = 150, steps = 400
  character(256) :: model
  type(sv_network) :: network
  type(sv_context), allocatable :: contexts(:)
  integer(int64), allocatable, target :: wet(:)           ! numbers of the wet cells, from 1
  real(real64), allocatable, target :: state(:, :, :), drag(:, :)
  real(real64), pointer :: cells(:, :), rates(:, :)       ! the same memory, with the cells in one dimension
  real(real64), allocatable :: bed(:, :), surface(:, :), u(:, :), v(:, :), by_network(:, :)
  logical, allocatable :: open_u(:, :), open_v(:, :)
  real(real64) :: first_volume, error
  integer :: i

  call read_arguments()
  call make_basin()
  call network%load(model, convert=.true.)                ! the network is float32, the fields are not
  allocate (contexts(omp_get_max_threads()))
  do i = 1, size(contexts)
    call contexts(i)%create(network)
  end do

  first_volume = sum(surface)
  call simulate(with_network=.true.)
  allocate (by_network, source=surface)
  print '(a, es9.2)', 'change of the volume:       ', abs(sum(surface) - first_volume) / (sum(bed))
  call simulate(with_network=.false.)
  error = sqrt(sum((by_network - surface)**2) / sum(surface**2))
  print '(a, f7.3, a)', 'difference from the formula:', 100 * error, ' %'
  if (.not. error < 0.1_real64) error stop 'the network is not the formula'
  ! The variables of a main program last until it has ended, and Fortran frees none of them.
  deallocate (contexts, wet, state, drag, bed, surface, u, v, by_network, open_u, open_v)

contains

  subroutine read_arguments()
    character(16) :: number
    if (command_argument_count() < 1) error stop 'shallow_water_fortran DRAG.onnx [NX NY STEPS]'
    call get_command_argument(1, model)
    if (command_argument_count() < 4) return
    call get_command_argument(2, number)
    read (number, *) nx
    call get_command_argument(3, number)
    read (number, *) ny
    call get_command_argument(4, number)
    read (number, *) steps
  end subroutine

  subroutine make_basin()
    integer :: x, y
    logical, allocatable :: is_wet(:, :)
    allocate (state(nx, ny, 3), drag(nx, ny), bed(nx, ny), surface(nx, ny), u(nx, ny), v(nx, ny), is_wet(nx, ny))
    cells(1:nx * ny, 1:3) => state
    rates(1:nx * ny, 1:1) => drag
    do y = 1, ny
      do x = 1, nx
        bed(x, y) = 9 + 3 * sin(2 * pi * x / nx) * cos(2 * pi * y / ny)
        is_wet(x, y) = hypot(x - 0.6_real64 * nx, y - 0.5_real64 * ny) > 0.12_real64 * ny
      end do
    end do
    wet = pack([(int(x, int64), x=1, nx * ny)], reshape(is_wet, [nx * ny]))
    open_u = is_wet .and. eoshift(is_wet, 1, .false., 1)   ! the face between (x, y) and (x + 1, y)
    open_v = is_wet .and. eoshift(is_wet, 1, .false., 2)
    call start()
  end subroutine

  !> A hill of water at rest.
  subroutine start()
    integer :: x, y
    u = 0
    v = 0
    drag = 0
    do y = 1, ny
      do x = 1, nx
        surface(x, y) = exp(-((x - 0.25_real64 * nx)**2 + (y - 0.4_real64 * ny)**2) / (0.1_real64 * ny)**2)
      end do
    end do
  end subroutine

  subroutine simulate(with_network)
    logical, intent(in) :: with_network
    real(real64) :: began
    integer :: step
    call start()
    began = omp_get_wtime()
    do step = 1, steps
      call observe()
      if (with_network) then
        call call_network()
      else
        drag = 1000 * gravity * 0.03_real64**2 * hypot(state(:, :, 2), state(:, :, 3)) / (10 * state(:, :, 1))**(4.0_real64 / 3)
      end if
      call advance()
    end do
    print '(a, l2, a, f8.3, a, f9.4)', 'by network:', with_network, '   ms a step:', (omp_get_wtime() - began) * 1000 / steps, &
      '   energy left:', energy()
  end subroutine

  !> What the network sees: depth in tens of metres, velocities at the centres of cells.
  subroutine observe()
    integer :: x, y
    !$omp parallel do private(x)
    do y = 1, ny
      do x = 1, nx
        state(x, y, 1) = (bed(x, y) + surface(x, y)) / 10
        state(x, y, 2) = (u(x, y) + u(max(x - 1, 1), y)) / 2
        state(x, y, 3) = (v(x, y) + v(x, max(y - 1, 1))) / 2
      end do
    end do
    !$omp end parallel do
  end subroutine

  !> Every thread calls the network for its part of the wet cells.
  subroutine call_network()
    integer :: thread, threads, first, last
    !$omp parallel private(thread, threads, first, last)
    thread = omp_get_thread_num()
    threads = omp_get_num_threads()
    first = int(size(wet, kind=int64) * thread / threads) + 1
    last = int(size(wet, kind=int64) * (thread + 1) / threads)
    call contexts(thread + 1)%run(sv_array(cells, rows=wet(first:last), same_order=.true.), &
      sv_array(rates, rows=wet(first:last), same_order=.true.))
    !$omp end parallel
  end subroutine

  !> Velocities by the slope of the surface and, implicitly, the drag; then the surface by what flows through the faces.
  subroutine advance()
    integer :: x, y
    real(real64) :: flow
    !$omp parallel private(x, flow)
    !$omp do
    do y = 1, ny
      do x = 1, nx
        if (open_u(x, y)) u(x, y) = (u(x, y) - gravity * time_step / spacing * (surface(x + 1, y) - surface(x, y))) &
          / (1 + time_step * (drag(x, y) + drag(x + 1, y)) / 2000)
        if (open_v(x, y)) v(x, y) = (v(x, y) - gravity * time_step / spacing * (surface(x, y + 1) - surface(x, y))) &
          / (1 + time_step * (drag(x, y) + drag(x, y + 1)) / 2000)
      end do
    end do
    !$omp end do
    !$omp do
    do y = 1, ny
      do x = 1, nx
        flow = 0
        if (open_u(x, y)) flow = flow + u(x, y) * (bed(x, y) + bed(x + 1, y)) / 2
        if (open_v(x, y)) flow = flow + v(x, y) * (bed(x, y) + bed(x, y + 1)) / 2
        if (x > 1) flow = flow - u(x - 1, y) * (bed(x - 1, y) + bed(x, y)) / 2
        if (y > 1) flow = flow - v(x, y - 1) * (bed(x, y - 1) + bed(x, y)) / 2
        surface(x, y) = surface(x, y) - time_step / spacing * flow
      end do
    end do
    !$omp end do
    !$omp end parallel
  end subroutine

  real(real64) function energy()
    energy = sum(gravity * surface**2 + bed * (u**2 + v**2)) / 2 / (nx * ny)
  end function
end program
