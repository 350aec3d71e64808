! Every type and rank of arrays.
#define ELEMENT real(real32)
#define NAME 'float32'
module test_float32
#include "arrays_test.inc"
end module
#undef ELEMENT
#undef NAME

#define ELEMENT real(real64)
#define NAME 'float64'
module test_float64
#include "arrays_test.inc"
end module
#undef ELEMENT
#undef NAME

#define ELEMENT integer(int32)
#define NAME 'int32'
module test_int32
#include "arrays_test.inc"
end module
#undef ELEMENT
#undef NAME

#define ELEMENT integer(int64)
#define NAME 'int64'
module test_int64
#include "arrays_test.inc"
end module

module arrays_test
  use, intrinsic :: iso_fortran_env
  use svengine
  use test_support
  use test_float32, only: test_ranks_of_float32 => test_ranks
  use test_float64, only: test_ranks_of_float64 => test_ranks
  use test_int32, only: test_ranks_of_int32 => test_ranks
  use test_int64, only: test_ranks_of_int64 => test_ranks
  implicit none
  private
  public :: test_arrays

contains

  subroutine test_arrays()
    call test_ranks_of_float32()
    call test_ranks_of_float64()
    call test_ranks_of_int32()
    call test_ranks_of_int64()
    call test_sections()
    call test_parts_of_types()
    call test_no_elements()
  end subroutine

  !> Every second column, backwards, and a part of every column.
  subroutine test_sections()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real64), target :: x(5, 8), y(4, 7)
    integer :: i
    x = reshape([(real(i, real64), i=1, size(x))], shape(x))
    y = -1
    call network%load('reverse_float64_2.onnx')
    call context%create(network)
    call context%run(sv_array(x(2:4, 7:1:-2)), sv_array(y(1:4, 2:6:2)))
    call check(all(y(1:4, 2:6:2) == transpose(x(2:4, 7:1:-2))), 'sections')
    call check(all(y(:, 1:7:2) == -1), 'what is beside a section stays')
  end subroutine

  subroutine test_parts_of_types()
    type :: cell
      real(real64) :: temperature, wind
    end type
    type(sv_network) :: network
    type(sv_context) :: context
    type(cell), target :: cells(6)
    real(real64), target :: y(6)
    integer :: i
    cells%temperature = [(real(i, real64), i=1, 6)]
    cells%wind = -1
    call network%load('reverse_float64_1.onnx')
    call context%create(network)
    call context%run(sv_array(cells%temperature), sv_array(y))
    call check(all(y == cells%temperature), 'a part of a type')
  end subroutine

  subroutine test_no_elements()
    type(sv_network) :: network
    type(sv_context) :: context
    real(real32), target :: x(3, 0), y(2, 0)
    call network%load('mlp32.onnx')
    call context%create(network)
    call context%run(sv_array(x), sv_array(y))
    call check(.true., 'no columns')
  end subroutine
end module
