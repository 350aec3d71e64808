! Training: a line through points, by every kind of call.
module training_test
  use, intrinsic :: iso_fortran_env
  use svengine
  use test_support
  implicit none
  private
  public :: test_training

contains

  subroutine test_training()
    call test_line()
    call test_optimizers()
    call test_failures()
  end subroutine

  !> 2 x1 - x2 + 0.5 at 16 points.
  subroutine points(x, y)
    real(real32), intent(out) :: x(2, 16), y(1, 16)
    integer :: i
    x = reshape([(sin(real(i)), i=1, 32)], shape(x))
    y(1, :) = 2 * x(1, :) - x(2, :) + 0.5
  end subroutine

  subroutine test_line()
    type(sv_trainer) :: trainer
    type(sv_network) :: network
    type(sv_context) :: context
    real(real32), target :: x(2, 16), y(1, 16), zeros(1, 16), before(1, 16), answer(1, 16)
    real(real64) :: first, last, evaluated
    integer :: i
    call points(x, y)
    call trainer%load('linear.onnx', optimizer='sgd:momentum=0.9', loss='mse', threads=1)
    call trainer%evaluate(sv_array(x), sv_array(y), first)
    call check(abs(first - sum(y**2) / 16) < 1e-6, 'the loss of zeros')
    do i = 1, 300
      call trainer%step(sv_array(x), sv_array(y), 0.05_real64, last)
    end do
    call trainer%evaluate([sv_array(x)], sv_array(y), evaluated)
    call check(evaluated < 1e-8 .and. last < 1e-7, 'what is learnt')
    call trainer%network(network)
    call context%create(network)
    call context%run(sv_array(x), sv_array(before))
    call check(maxval(abs(before - y)) < 1e-3, 'the network of a trainer')
    zeros = 0
    call trainer%step([sv_array(x)], sv_array(zeros), 0.5_real64)
    call context%run(sv_array(x), sv_array(answer))
    call check(all(answer == before), 'later steps do not change it')
    call trainer%save('trained.onnx')
    call network%load('trained.onnx')
    call context%create(network)
    call context%run(sv_array(x), sv_array(answer))
    call check(any(answer /= before), 'what is saved is the present state')
  end subroutine

  subroutine test_optimizers()
    character(24), parameter :: optimizers(6) = [character(24) :: 'sgd:momentum=0.9', 'adam', 'adamw:weight_decay=0.01', &
      'adagrad', 'lars', 'lamb']
    type(sv_trainer) :: trainer
    real(real32), target :: x(2, 16), y(1, 16)
    real(real64) :: first, last
    integer :: i, k
    call points(x, y)
    do i = 1, size(optimizers)
      call trainer%load('linear.onnx', loss='smooth_l1', optimizer=optimizers(i), loss_of='y', clip_norm=10.0_real64, &
        accumulate=2, initialise=.true., seed=7_int64, threads=1, kernels='reference')
      call trainer%evaluate(sv_array(x), sv_array(y), first)
      do k = 1, 20
        call trainer%step(sv_array(x), sv_array(y), 0.01_real64)
      end do
      call trainer%evaluate(sv_array(x), sv_array(y), last)
      call check(last < first, 'the loss falls by '//optimizers(i))
    end do
  end subroutine

  subroutine test_failures()
    type(sv_trainer) :: trainer
    type(sv_network) :: network
    real(real32), target :: x(2, 16), y(1, 16), wrong(3, 16)
    real(real64) :: loss
    integer :: status
    character(:), allocatable :: error
    call points(x, y)
    wrong = 0
    call trainer%step(sv_array(x), sv_array(y), 0.1_real64, loss, status, error)
    call check_failure(status, error, sv_invalid_handle, 'null', 'a step of a trainer that was never loaded')
    call trainer%save('nothing.onnx', status, error)
    call check_failure(status, error, sv_invalid_handle, 'null', 'saving one')
    call trainer%network(network, status=status, error=error)
    call check_failure(status, error, sv_invalid_handle, 'null', 'the network of one')
    call trainer%load('linear.onnx', optimizer='nonsense', status=status, error=error)
    call check_failure(status, error, any_failure, 'nonsense', 'an optimiser that does not exist')
    call trainer%load('linear.onnx', loss='nonsense', status=status, error=error)
    call check_failure(status, error, any_failure, 'nonsense', 'a loss that does not exist')
    call trainer%load('no-such-file.onnx', status=status, error=error)
    call check_failure(status, error, sv_invalid_model, 'no-such-file.onnx', 'a missing file')
    call trainer%load('linear.onnx', threads=1)
    call trainer%step(sv_array(wrong), sv_array(y), 0.1_real64, loss, status, error)
    call check_failure(status, error, any_failure, 'is 3, not 2', 'a batch of another shape')
    call trainer%step(sv_array(x), sv_array(wrong), 0.1_real64, loss, status)
    call check(status /= sv_ok, 'a target of another shape')
    call trainer%save('no-such-folder/trained.onnx', status, error)
    call check_failure(status, error, sv_failed, 'no-such-folder', 'a folder that does not exist')
    call trainer%step(sv_array(x), sv_array(y), 0.1_real64, loss, status, error)
    call check(status == sv_ok .and. .not. allocated(error), 'a step after failures')
  end subroutine
end module
