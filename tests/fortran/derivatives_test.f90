! Gradients with respect to inputs, against differences and formulas.
module derivatives_test
  use, intrinsic :: iso_fortran_env
  use svengine
  use test_support
  use network_test, only: mlp_of
  implicit none
  private
  public :: test_derivatives

  real(real64), parameter :: step = 1e-6_real64, tolerance = 1e-8_real64

contains

  subroutine test_derivatives()
    call test_products()
    call test_same_order()
    call test_forces()
    call test_integers()
  end subroutine

  subroutine fill(a, phase)
    real(real64), intent(out) :: a(:, :)
    real(real64), intent(in) :: phase
    integer :: i
    a = reshape([(sin(phase + i), i=1, size(a))], shape(a))
  end subroutine

  !> u . (J v) is what differences say, and is (J^T u) . v.
  subroutine test_products()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(3, 7), v(3, 7), gradient(3, 7), u(2, 7), y(2, 7), tangent(2, 7)
    real(real64) :: differences(2, 7)
    call fill(x, 0.0_real64)
    call fill(v, 0.5_real64)
    call fill(u, 0.25_real64)
    call network%load('mlp64.onnx')
    call context%create(network)
    call context%jvp(sv_array(x), sv_array(v), sv_array(tangent), sv_array(y))
    differences = (mlp_of(x + step * v) - mlp_of(x - step * v)) / (2 * step)
    call check(maxval(abs(tangent - differences)) < tolerance, 'jvp against differences')
    call check(maxval(abs(y - mlp_of(x))) < 1e-14_real64, 'jvp gives the outputs, too')
    y = 0
    call context%vjp(sv_array(x), sv_array(u), sv_array(gradient), sv_array(y))
    call check(abs(sum(u * differences) - sum(gradient * v)) < tolerance, 'vjp against differences')
    call check(maxval(abs(y - mlp_of(x))) < 1e-14_real64, 'vjp gives the outputs, too')
    gradient = 0
    call context%vjp(sv_array(x), sv_array(u), sv_array(gradient))
    call check(abs(sum(u * tangent) - sum(gradient * v)) < 1e-13_real64, 'vjp without outputs')
    tangent = 0
    call context%jvp(sv_array(x), sv_array(v), sv_array(tangent))
    call check(maxval(abs(tangent - differences)) < tolerance, 'jvp without outputs')
  end subroutine

  subroutine test_same_order()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(3, 7), u(2, 7), gradient(3, 7), xs(7, 3), us(7, 2), gradients(7, 3)
    integer(int64), target :: active(2) = [6_int64, 3_int64]
    call fill(x, 0.0_real64)
    call fill(u, 0.25_real64)
    call network%load('mlp64.onnx')
    call context%create(network)
    call context%vjp(sv_array(x), sv_array(u), sv_array(gradient))
    xs = transpose(x)
    us = transpose(u)
    call context%vjp(sv_array(xs, same_order=.true.), sv_array(us, same_order=.true.), sv_array(gradients, same_order=.true.))
    call check(maxval(abs(transpose(gradients) - gradient)) < 1e-15_real64, 'vjp with columns along the first dimension')
    gradients = 0
    call context%vjp(sv_array(x, rows=active), sv_array(u, rows=active), sv_array(gradients, rows=active, same_order=.true.))
    call check(maxval(abs(gradients(active, :) - transpose(gradient(:, active)))) < 1e-15_real64, 'vjp of active cells')
    call check(all(gradients([1, 2, 4, 5, 7], :) == 0), 'other cells stay')
  end subroutine

  !> The gradient of an energy, an output of rank 0; the other output's is zeros.
  subroutine test_forces()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(3, 4), gradient(3, 4), one, energy, more(3, 4)
    real(real64) :: w(3)
    integer :: i
    call fill(x, 0.0_real64)
    w = [(weight(4, i, 1), i=1, 3)]
    one = 1
    call network%load('energy.onnx')
    call context%create(network)
    call context%vjp([sv_array(x)], [sv_array(one), sv_tensor()], [sv_array(gradient)], [sv_array(energy), sv_array(more)])
    call check(abs(energy - sum(matmul(w, x * x))) < 1e-14_real64 .and. all(more == x + 1), 'energy')
    call check(maxval(abs(gradient - 2 * x * spread(w, 2, 4))) < 1e-14_real64, 'forces')
    call context%vjp([sv_array(x)], [sv_tensor(), sv_array(x)], [sv_array(gradient)])
    call check(all(gradient == x), 'the gradient of the other output')
  end subroutine

  subroutine test_integers()
    type(sv_network) :: network
    type(sv_context) :: context
    integer(int64), target :: ids(3) = [0_int64, 3_int64, 1_int64]
    real(real32), target :: b(2, 3), u(2, 3), gradient(2, 3), tangent(2, 3)
    b = 0.5
    u = reshape([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape(u))
    call network%load('look_up.onnx')
    call context%create(network)
    call context%vjp([sv_array(ids), sv_array(b)], [sv_array(u)], [sv_tensor(), sv_array(gradient)])
    call check(all(gradient == u), 'an input of integers has no gradient')
    call context%jvp([sv_array(ids), sv_array(b)], [sv_tensor(), sv_array(u)], [sv_array(tangent)])
    call check(all(tangent == u), 'an input of integers has no tangent')
  end subroutine
end module
