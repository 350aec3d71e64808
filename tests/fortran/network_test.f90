! Networks, contexts and what calls read and write.
module network_test
  use, intrinsic :: iso_fortran_env
  use, intrinsic :: ieee_arithmetic
  use svengine
  use test_support
  implicit none
  private
  public :: test_networks, mlp_of

contains

  subroutine test_networks()
    call test_ports()
    call test_memory()
    call test_options()
    call test_columns()
    call test_active_cells()
    call test_several()
    call test_nan()
    call test_threads()
  end subroutine

  !> What mlp64.onnx computes.
  function mlp_of(x) result(y)
    real(real64), intent(in) :: x(:, :)  ! features, columns
    real(real64) :: y(2, size(x, 2)), w1(4, 3), b1(4), w2(2, 4)
    integer :: i, j
    w1 = reshape([((weight(1, i, j), j=1, 4), i=1, 3)], shape(w1))
    b1 = [(weight(2, 1, j), j=1, 4)]
    w2 = reshape([((weight(3, i, j), j=1, 2), i=1, 4)], shape(w2))
    do i = 1, size(x, 2)
      y(:, i) = matmul(w2, tanh(matmul(w1, x(:, i)) + b1))
    end do
  end function

  function columns(count) result(x)
    integer, intent(in) :: count
    real(real64) :: x(3, count)
    integer :: i
    x = reshape([(sin(real(i, real64)), i=1, size(x))], shape(x))
  end function

  subroutine test_ports()
    type(sv_network) :: network
    type(sv_port) :: port
    integer :: inputs, outputs, status
    character(:), allocatable :: error
    call network%load('look_up.onnx')
    call network%counts(inputs, outputs)
    call check(inputs == 2 .and. outputs == 1, 'counts')
    call network%input(1, port)
    call check(port%name == 'ids' .and. port%type == sv_int64 .and. port%rank == 1, 'the first input')
    call network%input(2, port)
    call check(port%name == 'b' .and. port%type == sv_float32, 'the second input')
    call check(all(port%shape == [-1, 2]) .and. port%shape_names(1) == 'N' .and. port%shape_names(2) == '', 'its shape')
    call network%output(1, port)
    call check(port%name == 'z' .and. port%rank == 2, 'the output')
    call check(len(sv_version()) >= 5, 'the version')
    call sv_load_plugin('no-such-file.so', status, error)
    call check(status == sv_invalid_argument .and. index(error, 'no-such-file.so') > 0, 'a plug-in that is not there')
    call network%load('energy.onnx')
    call network%output(1, port)
    call check(port%rank == 0 .and. size(port%shape) == 0, 'an output of rank 0')
  end subroutine

  subroutine test_memory()
    type(sv_network) :: network
    type(sv_context) :: context
    integer(int8), allocatable :: bytes(:)
    real(real64), target :: x(3, 5), y(2, 5)
    call file_bytes('mlp64.onnx', bytes)
    call network%load(bytes)
    bytes = 0_int8
    deallocate (bytes)
    call context%create(network)
    x = columns(5)
    call context%run(sv_array(x), sv_array(y))
    call check(maxval(abs(y - mlp_of(x))) < 1e-14_real64, 'a network from memory')
  end subroutine

  subroutine test_options()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(3, 5), y(2, 5)
    x = columns(5)
    call network%load('mlp32.onnx  ', kernels='reference', cache='packed ', exact_convolution=.true., convert=.true.)
    call context%create(network, threads=2, keep_denormals=.true.)
    call context%run(sv_array(x), sv_array(y))
    call check(maxval(abs(y - mlp_of(x))) < 1e-6_real64, 'conversion from and to double precision')
    call context%create(network, topology='1x2')
    call context%run(sv_array(x), sv_array(y))
    call check(maxval(abs(y - mlp_of(x))) < 1e-6_real64, 'a context that is created again')
    call check(all(noise_of(7_int64) == noise_of(7_int64)), 'a seed repeats the draws')
    call check(any(noise_of(7_int64) /= noise_of(8_int64)), 'another seed has other draws')
    call check(any(noise_of() /= noise_of()), 'without a seed none are repeated')
  end subroutine

  function noise_of(seed) result(y)
    integer(int64), intent(in), optional :: seed
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(9), y(9)
    x = 0
    call network%load('noise.onnx', seed=seed)
    call context%create(network)
    call context%run(sv_array(x), sv_array(y))
  end function

  subroutine test_columns()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(3, 17), y(2, 17), xs(17, 3), ys(17, 2)
    real(real32), target :: x32(3, 17), y32(2, 17)
    type(sv_tensor) :: output
    real(real64), pointer :: p(:, :)
    call network%load('mlp64.onnx')
    call context%create(network)
    call network%free()  ! contexts go on
    x = columns(17)
    call context%run(sv_array(x), sv_array(y))
    call check(maxval(abs(y - mlp_of(x))) < 1e-14_real64, 'real64')
    xs = transpose(x)
    call context%run(sv_array(xs, same_order=.true.), sv_array(ys, same_order=.true.))
    call check(all(transpose(ys) == y), 'columns along the first dimension')
    call context%run_view(sv_array(x(:, :3)), output)
    call sv_pointer(output, p)
    call check(all(shape(p) == [2, 3]), 'another number of columns')
    call check(maxval(abs(p - y(:, :3))) < 1e-14_real64, 'whose results may be rounded otherwise')
    call network%load('mlp32.onnx')
    call context%create(network)
    x32 = real(x, real32)
    call context%run(sv_array(x32), sv_array(y32))
    call check(maxval(abs(y32 - mlp_of(x))) < 1e-6_real64, 'real32')
  end subroutine

  subroutine test_active_cells()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(3, 9), y(2, 9), xs(9, 3), ys(9, 2)
    real(real64) :: expected(2, 9)
    integer(int64), target :: active(4) = [2_int64, 9_int64, 1_int64, 5_int64]
    call network%load('mlp64.onnx')
    call context%create(network)
    x = columns(9)
    expected = -1
    expected(:, active) = mlp_of(x(:, active))
    y = -1
    call context%run(sv_array(x, rows=active), sv_array(y, rows=active))
    call check(maxval(abs(y - expected)) < 1e-14_real64, 'active cells')
    xs = transpose(x)
    ys = -1
    call context%run(sv_array(xs, rows=active, same_order=.true.), sv_array(ys, rows=active, same_order=.true.))
    call check(all(ys == transpose(y)), 'active cells along the first dimension')
    call context%run(sv_array(x, rows=active(:0)), sv_array(y, rows=active(:0)))
    call check(all(ys == transpose(y)), 'no active cells')
  end subroutine

  subroutine test_several()
    type(sv_network) :: network
    type(sv_context) :: context
    integer(int64), target :: ids(3) = [0_int64, 3_int64, 1_int64]
    real(real32), target :: b(2, 3), z(2, 3)
    type(sv_tensor) :: outputs(1)
    real(real32), pointer :: p(:, :)
    b = 0.5
    call network%load('look_up.onnx')
    call context%create(network)
    call context%run([sv_array(ids), sv_array(b)], [sv_array(z)])
    call check(all(z == reshape([0.5, 1.5, 6.5, 7.5, 2.5, 3.5], [2, 3])), 'two inputs')
    call context%run_view([sv_array(ids), sv_array(b)], outputs)
    call sv_pointer(outputs(1), p)
    call check(all(p == z), 'two inputs, and a view')
  end subroutine

  !> A field of NaN gives NaN, and the next call is as if there had been none.
  subroutine test_nan()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(3, 6), y(2, 6)
    call network%load('mlp64.onnx')
    call context%create(network)
    x = ieee_value(x, ieee_quiet_nan)
    call context%run(sv_array(x), sv_array(y))
    call check(all(ieee_is_nan(y)), 'NaN')
    x = columns(6)
    x(2, 3) = ieee_value(0.0_real64, ieee_quiet_nan)
    call context%run(sv_array(x), sv_array(y))
    call check(all(ieee_is_nan(y(:, 3))), 'a column with NaN')
    call check(maxval(abs(y(:, :2) - mlp_of(x(:, :2)))) < 1e-14_real64, 'the columns before it')
    call check(maxval(abs(y(:, 4:) - mlp_of(x(:, 4:)))) < 1e-14_real64, 'the columns behind it')
  end subroutine

  !> One context for every thread, on one network.
  subroutine test_threads()
    integer, parameter :: threads = 4, calls = 25
    type(sv_network) :: network
    type(sv_context) :: contexts(threads)
    real(real64), target :: x(3, 8, threads), y(2, 8, threads)
    integer :: i, k, status, failed
    call network%load('mlp64.onnx')
    do i = 1, threads
      call contexts(i)%create(network)
      x(:, :, i) = columns(8) + i
    end do
    failed = 0
    !$omp parallel do num_threads(threads) schedule(static, 1) private(k, status) reduction(+: failed)
    do i = 1, threads
      do k = 1, calls
        call contexts(i)%run(sv_array(x(:, :, i)), sv_array(y(:, :, i)), status)
        failed = failed + status
      end do
    end do
    !$omp end parallel do
    call check(failed == 0, 'calls of threads')
    do i = 1, threads
      call check(maxval(abs(y(:, :, i) - mlp_of(x(:, :, i)))) < 1e-14_real64, 'results of threads')
    end do
  end subroutine
end module
