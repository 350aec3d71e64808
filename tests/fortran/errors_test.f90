! Bad input: an error with the reason, and the next call works.
module errors_test
  use, intrinsic :: iso_fortran_env
  use svengine
  use test_support
  implicit none
  private
  public :: test_errors, test_ends, end_by

contains

  subroutine test_errors()
    call test_files()
    call test_handles()
    call test_shapes()
    call test_layouts()
    call test_counts()
    call test_pointers()
  end subroutine

  subroutine test_files()
    type(sv_network) :: network
    type(sv_context) :: context
    integer(int8), allocatable :: bytes(:)
    integer :: status, inputs, outputs
    character(:), allocatable :: error
    call network%load('no-such-file.onnx', status=status, error=error)
    call check_failure(status, error, sv_invalid_model, 'no-such-file.onnx', 'a missing file')
    call network%load('no-such-file.onnx', error=error)
    call check(allocated(error), 'an error alone is enough')
    call network%load('damaged.onnx', status=status, error=error)
    call check_failure(status, error, sv_invalid_model, 'damaged.onnx', 'a damaged file')
    call network%load('unknown.onnx', status=status, error=error)
    call check_failure(status, error, sv_unimplemented, 'NoSuchOperator', 'an operator that the engine lacks')
    call file_bytes('damaged.onnx', bytes)
    call network%load(bytes, status=status, error=error)
    call check_failure(status, error, sv_invalid_model, '', 'damaged bytes')
    call network%load(bytes(:0), status=status, error=error)
    call check(status /= sv_ok .and. allocated(error), 'no bytes')
    call network%load('mlp32.onnx', kernels='nonsense', status=status, error=error)
    call check_failure(status, error, sv_invalid_argument, 'nonsense', 'kernels that do not exist')
    call network%load('mlp32.onnx')
    call network%load('no-such-file.onnx', status=status)
    call network%counts(inputs, outputs)
    call check(inputs == 1, 'what could not be loaded leaves the network as it was')
    call context%create(network, topology='nonsense', status=status, error=error)
    call check_failure(status, error, sv_invalid_argument, '4x12', 'a topology that cannot be')
    call context%create(network, threads=-1, status=status)
    call check(status == sv_invalid_argument, 'threads that cannot be')
  end subroutine

  subroutine test_handles()
    type(sv_network) :: network, freed
    type(sv_context) :: context, freed_context
    type(sv_port) :: port
    real(real32), target :: x(3, 2), y(2, 2)
    integer :: status, inputs, outputs
    character(:), allocatable :: error
    x = 0
    call context%create(network, status=status, error=error)
    call check_failure(status, error, sv_invalid_handle, 'null', 'a context of a network that was never loaded')
    call context%run(sv_array(x), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_handle, 'null', 'a call of a context that was never created')
    call context%vjp(sv_array(x), sv_array(y), sv_array(x), status=status)
    call check(status == sv_invalid_handle, 'a vjp of a context that was never created')
    call context%jvp(sv_array(x), sv_array(x), sv_array(y), status=status)
    call check(status == sv_invalid_handle, 'a jvp of a context that was never created')
    call network%counts(inputs, outputs, status)
    call check(status == sv_invalid_handle .and. inputs == 0 .and. outputs == 0, 'counts of a network that was never loaded')
    call network%load('mlp32.onnx')
    call context%create(network)
    call network%input(2, port, status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'an input that does not exist')
    call network%output(0, port, status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'an output that does not exist')
    freed%handle = network%handle
    freed_context%handle = context%handle
    call network%free()
    call context%free()
    call network%free(status)
    call check(status == sv_ok, 'what holds nothing may be freed again')
    call freed%free(status, error)
    call check_failure(status, error, sv_invalid_handle, 'freed', 'a network that is freed twice')
    call freed_context%run(sv_array(x), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_handle, 'freed', 'a call of a context that was freed')
    call freed_context%free(status, error)
    call check_failure(status, error, sv_invalid_handle, 'freed', 'a context that is freed twice')
  end subroutine

  subroutine test_shapes()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real32), target :: x(3, 2), y(2, 2), transposed(2, 3), deep(3, 2, 2), long(2, 5)
    real(real64), target :: precise(3, 2)
    integer(int32), target :: whole(3, 2)
    integer :: status
    character(:), allocatable :: error
    x = 0
    transposed = 0
    call network%load('mlp32.onnx')
    call context%create(network)
    call context%run(sv_array(transposed), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_argument, 'dimension 1 is 2, not 3', 'a wrong shape')
    call context%run(sv_array(deep), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'a wrong rank')
    call context%run(sv_array(precise), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_argument, 'float64', 'a wrong precision')
    call context%run(sv_array(whole), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_argument, 'int32', 'a wrong type')
    call context%run(sv_array(x), sv_array(long), status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'an output of another shape')
    call context%run(sv_array(x), sv_array(precise(:2, :)), status, error)
    call check_failure(status, error, sv_invalid_argument, 'float64', 'an output of another precision')
    call context%run(sv_tensor(), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'an input without data')
    call context%run(sv_array(x), sv_array(y), status, error)
    call check(status == sv_ok .and. .not. allocated(error), 'a call after errors')
  end subroutine

  subroutine test_layouts()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real32), target :: x(3, 4), y(2, 4)
    integer(int64), target :: cells(6) = [1_int64, 5_int64, 0_int64, 2_int64, 2_int64, -huge(1_int64)]
    integer :: status
    character(:), allocatable :: error
    x = 0
    call network%load('mlp32.onnx')
    call context%create(network)
    call context%run(sv_array(x, rows=cells(1:2)), sv_array(y, rows=cells(1:2)), status, error)
    call check_failure(status, error, sv_invalid_argument, '5', 'a cell that is too large')
    call context%run(sv_array(x, rows=cells(3:4)), sv_array(y, rows=cells(3:4)), status, error)
    call check_failure(status, error, sv_invalid_argument, '0', 'a cell that is too small')
    call context%run(sv_array(x, rows=cells(6:6)), sv_array(y, rows=cells(1:1)), status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'a cell far away')
    call context%run(sv_array(x, rows=cells(1:3:2)), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_argument, 'contiguous', 'a list with gaps')
    call context%run(sv_array(x, rows=cells(1:1)), sv_array(y), status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'one cell to four')
    call context%run(sv_array(x), sv_array(y), status)
    call check(status == sv_ok, 'a call after errors of layout')
  end subroutine

  subroutine test_counts()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real32), target :: x(3, 4), y(2, 4)
    type(sv_tensor) :: none(0)
    integer :: status
    character(:), allocatable :: error
    x = 0
    call network%load('mlp32.onnx')
    call context%create(network)
    call context%run(none, [sv_array(y)], status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'no inputs')
    call context%run([sv_array(x), sv_array(x)], [sv_array(y)], status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'too many inputs')
    call context%run([sv_array(x)], none, status, error)
    call check_failure(status, error, sv_invalid_argument, '', 'no outputs')
    call context%vjp([sv_array(x)], none, [sv_array(x)], status=status, error=error)
    call check_failure(status, error, sv_invalid_argument, 'as many', 'no gradients of outputs')
    call context%vjp([sv_array(x)], [sv_array(y)], none, status=status, error=error)
    call check_failure(status, error, sv_invalid_argument, 'as many', 'no gradients of inputs')
    call context%jvp([sv_array(x)], none, [sv_array(y)], status=status, error=error)
    call check_failure(status, error, sv_invalid_argument, 'as many', 'no tangents of inputs')
    call context%jvp([sv_array(x)], [sv_array(x)], none, status=status, error=error)
    call check_failure(status, error, sv_invalid_argument, 'as many', 'no tangents of outputs')
    call context%jvp([sv_array(x)], [sv_array(x)], [sv_array(y)], none, status, error)
    call check_failure(status, error, sv_invalid_argument, 'as many', 'no outputs of a jvp')
    call context%run(sv_array(x), sv_array(y), status)
    call check(status == sv_ok, 'a call after errors of counts')
  end subroutine

  subroutine test_pointers()
    type(sv_tensor) :: nothing
    real(real64), target :: x(3, 4)
    real(real64), pointer :: p(:, :), q(:)
    real(real32), pointer :: r(:, :)
    integer :: status
    character(:), allocatable :: error
    call sv_pointer(nothing, p, status, error)
    call check_failure(status, error, sv_invalid_argument, 'another type', 'a pointer to nothing')
    call check(.not. associated(p), 'which is null')
    call sv_pointer(sv_array(x), q, status, error)
    call check_failure(status, error, sv_invalid_argument, 'another type or rank', 'a pointer of another rank')
    call sv_pointer(sv_array(x), r, status, error)
    call check_failure(status, error, sv_invalid_argument, 'another type or rank', 'a pointer of another type')
    call sv_pointer(sv_array(x(:2, :)), p, status, error)
    call check_failure(status, error, sv_invalid_argument, 'not dense', 'a pointer to a section')
    call sv_pointer(sv_array(x), p)
    call check(associated(p, x), 'a pointer to an array')
  end subroutine

  !> Handles are freed when variables go.
  subroutine test_ends()
    type(sv_network) :: network, freed
    type(sv_context) :: context
    type(sv_trainer), allocatable :: trainer
    integer :: status, inputs, outputs
    character(:), allocatable :: error
    call leave_network(freed)
    call freed%counts(inputs, outputs, status, error)
    call check_failure(status, error, sv_invalid_handle, 'freed', 'a network goes with its variable')
    call leave_contexts(status)
    call check(status == sv_invalid_handle, 'contexts go with their array')
    call network%load('linear.onnx')
    call context%create(network)
    allocate (trainer)
    call trainer%load('linear.onnx', threads=1)
    call keep_trainer(trainer, status)
    call check(status == sv_invalid_handle, 'a trainer goes with its variable')
  end subroutine

  subroutine leave_network(freed)
    type(sv_network), intent(inout) :: freed
    type(sv_network) :: network
    call network%load('mlp32.onnx')
    freed%handle = network%handle
  end subroutine

  subroutine leave_contexts(status)
    integer, intent(out) :: status
    type(sv_network) :: network
    type(sv_context), allocatable :: contexts(:)
    type(sv_context) :: second
    real(real32), target :: x(3, 1), y(2, 1)
    integer :: i
    x = 0
    call network%load('mlp32.onnx')
    allocate (contexts(3))
    do i = 1, 3
      call contexts(i)%create(network)
    end do
    second%handle = contexts(2)%handle
    deallocate (contexts)
    call second%run(sv_array(x), sv_array(y), status)
  end subroutine

  subroutine keep_trainer(trainer, status)
    type(sv_trainer), allocatable, intent(inout) :: trainer
    integer, intent(out) :: status
    type(sv_trainer) :: second
    second%handle = trainer%handle
    deallocate (trainer)
    call second%save('linear_again.onnx', status)
  end subroutine

  !> Ends the program, for want of status and error.
  subroutine end_by(name)
    character(*), intent(in) :: name
    type(sv_network) :: network, other
    type(sv_context) :: context
    real(real32), target :: x(2, 2), y(2, 2)
    x = 0
    if (name == 'end_of_load') call network%load('no-such-file.onnx')
    call network%load('mlp32.onnx')
    call context%create(network)
    if (name == 'end_of_run') call context%run(sv_array(x), sv_array(y))
    if (name == 'end_of_copy') other = network
  end subroutine
end module
