! A network learns, inside the time loop, what the fast variables of a model do to its slow ones, and then takes their place:
!
!     online_training NETWORK.onnx TRAINED.onnx [LEARNING_STEPS]
!
! The model is Lorenz's of 1996 with two time scales: 36 slow variables on a ring, each with 10 fast ones. The fast ones need a step
! ten times shorter and most of the time. While both are computed, every step is a batch of 36 samples for the trainer. Then the slow
! variables run with the network alone, in double precision, and without anything; the network's mean and spread have to be closer.
program online_training
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use svengine
  implicit none

  integer, parameter :: slow = 36, fast = 10, substeps = 10, spin_up = 500
  real(real64), parameter :: time_step = 0.01_real64, force = 10, c = 10, b = 10, h = 1
  integer :: learning_steps = 6000
  character(256) :: first_model, trained_model
  character(16) :: number
  real(real64) :: mean(3), spread_of(3)

  if (command_argument_count() < 2) error stop 'online_training NETWORK.onnx TRAINED.onnx [LEARNING_STEPS]'
  call get_command_argument(1, first_model)
  call get_command_argument(2, trained_model)
  if (command_argument_count() > 2) then
    call get_command_argument(3, number)
    read (number, *) learning_steps
  end if

  call learn(mean(1), spread_of(1))
  call go_on(.true., mean(2), spread_of(2))
  call go_on(.false., mean(3), spread_of(3))
  print '(a, 2f9.3)', 'mean and spread with fast variables:', mean(1), spread_of(1)
  print '(a, 2f9.3)', 'with the network in their place:    ', mean(2), spread_of(2)
  print '(a, 2f9.3)', 'with nothing in their place:        ', mean(3), spread_of(3)
  if (.not. distance(2) < 0.7_real64 * distance(3)) error stop 'the network is no better than nothing'

contains

  !> The full model. Every step teaches the network what the fast variables did to the slow ones.
  subroutine learn(mean, spread_of)
    real(real64), intent(out) :: mean, spread_of
    type(sv_trainer) :: trainer
    real(real64) :: x(slow), y(fast * slow), coupling(slow), loss, rate, sums(2)
    real(real32), target :: batch(1, slow), target_of_batch(1, slow)
    integer :: step
    call trainer%load(first_model, loss='mse', optimizer='adam', clip_norm=10.0_real64, threads=1)
    call start(x)
    y = 0.1_real64 * sin([(real(step, real64), step=1, size(y))])
    sums = 0
    do step = 1, spin_up + learning_steps
      call advance_fast(x, y, coupling)
      if (step > spin_up) then
        batch(1, :) = real(x / 10, real32)
        target_of_batch(1, :) = real(coupling, real32)
        rate = 0.01_real64 * (1.01_real64 - real(step - spin_up, real64) / learning_steps)
        call trainer%step(sv_array(batch), sv_array(target_of_batch), rate, loss)
        sums = sums + [sum(x), sum(x**2)]
        if (mod(step - spin_up, learning_steps / 5) == 0) print '(a, i6, a, f8.4)', 'step', step - spin_up, ': loss', loss
      end if
      call advance_slow(x, coupling)
    end do
    call statistics(sums, learning_steps, mean, spread_of)
    call trainer%save(trained_model)
  end subroutine

  !> The slow variables alone.
  subroutine go_on(with_network, mean, spread_of)
    logical, intent(in) :: with_network
    real(real64), intent(out) :: mean, spread_of
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(slow), seen(1, slow), coupling(1, slow)
    real(real64) :: sums(2)
    integer :: step
    call network%load(trained_model, convert=.true.)   ! the network is float32, the model is not
    call context%create(network)
    call start(x)
    coupling = 0
    sums = 0
    do step = 1, spin_up + learning_steps
      seen(1, :) = x / 10
      if (with_network) call context%run(sv_array(seen), sv_array(coupling))
      call advance_slow(x, coupling(1, :))
      if (step > spin_up) sums = sums + [sum(x), sum(x**2)]
    end do
    call statistics(sums, learning_steps, mean, spread_of)
  end subroutine

  subroutine start(x)
    real(real64), intent(out) :: x(slow)
    integer :: i
    x = force + [(sin(real(i, real64)), i=1, slow)]
  end subroutine

  !> Runge and Kutta's fourth order, with the coupling held.
  subroutine advance_slow(x, coupling)
    real(real64), intent(inout) :: x(slow)
    real(real64), intent(in) :: coupling(slow)
    real(real64), dimension(slow) :: k1, k2, k3, k4
    k1 = slow_tendency(x, coupling)
    k2 = slow_tendency(x + time_step / 2 * k1, coupling)
    k3 = slow_tendency(x + time_step / 2 * k2, coupling)
    k4 = slow_tendency(x + time_step * k3, coupling)
    x = x + time_step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
  end subroutine

  function slow_tendency(x, coupling) result(t)
    real(real64), intent(in) :: x(slow), coupling(slow)
    real(real64) :: t(slow)
    t = cshift(x, -1) * (cshift(x, 1) - cshift(x, -2)) - x + force + coupling
  end function

  !> The fast variables through one step of the slow ones; `coupling` is their mean effect.
  subroutine advance_fast(x, y, coupling)
    real(real64), intent(in) :: x(slow)
    real(real64), intent(inout) :: y(fast * slow)
    real(real64), intent(out) :: coupling(slow)
    real(real64) :: middle(fast * slow), drive(fast * slow), dt
    integer :: i
    dt = time_step / substeps
    drive = h * c / b * reshape(spread(x, 1, fast), [fast * slow])
    coupling = 0
    do i = 1, substeps
      middle = y + dt / 2 * fast_tendency(y, drive)
      y = y + dt * fast_tendency(middle, drive)
      coupling = coupling - h * c / b * sum(reshape(y, [fast, slow]), 1) / substeps
    end do
  end subroutine

  function fast_tendency(y, drive) result(t)
    real(real64), intent(in) :: y(fast * slow), drive(fast * slow)
    real(real64) :: t(fast * slow)
    t = c * b * cshift(y, 1) * (cshift(y, -1) - cshift(y, 2)) - c * y + drive
  end function

  !> Of a run's mean and spread from those with fast variables.
  real(real64) function distance(run)
    integer, intent(in) :: run
    distance = hypot(mean(run) - mean(1), spread_of(run) - spread_of(1))
  end function

  subroutine statistics(sums, steps, mean, spread_of)
    real(real64), intent(in) :: sums(2)
    integer, intent(in) :: steps
    real(real64), intent(out) :: mean, spread_of
    mean = sums(1) / (real(slow, real64) * steps)
    spread_of = sqrt(sums(2) / (real(slow, real64) * steps) - mean**2)
  end subroutine
end program
