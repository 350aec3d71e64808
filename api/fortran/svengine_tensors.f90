! What arrays become on their way into a call, and how errors come out. Programs use module svengine, which offers it.
module svengine_tensors
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  use svengine_c
  implicit none
  private
  public :: sv_tensor, described, match, list_of, listed, returned, finish, explain

  integer, parameter, public :: sv_ok = 0, sv_invalid_handle = 1, sv_invalid_argument = 2, sv_invalid_model = 3, sv_failed = 4, &
    sv_out_of_memory = 5, sv_unimplemented = 6
  !> The numbers are those of ONNX.
  integer, parameter, public :: sv_unknown = 0, sv_float32 = 1, sv_uint8 = 2, sv_int8 = 3, sv_uint16 = 4, sv_int16 = 5, &
    sv_int32 = 6, sv_int64 = 7, sv_bool = 9, sv_float16 = 10, sv_float64 = 11, sv_uint32 = 12, sv_uint64 = 13, sv_bfloat16 = 16
  integer, parameter, public :: sv_max_rank = 7

  !> Where the elements of an array lie; the array, with attribute target, has to be there until the call that takes the tensor is
  !> done. As it comes, nothing is known of it: as an output it is memory of the context, as a gradient or tangent it is zeros.
  type :: sv_tensor
    integer :: type = sv_unknown
    integer :: rank = 0
    integer(int64) :: shape(sv_max_rank) = 0  ! in the network's order
    integer(int64) :: strides(sv_max_rank) = 0
    logical :: dense = .true.
    type(c_ptr) :: rows = c_null_ptr
    integer(int64) :: extent = 0
    type(c_ptr) :: data = c_null_ptr
    integer :: problem = 0
  end type

  !> What is refused on this side. (gfortran keeps elements aligned to their size; compilers that pack SEQUENCE types may not.)
  integer, parameter, public :: uneven_problem = -1, rows_problem = -2, count_problem = -3, pointer_problem = -4, &
    copy_problem = -5, abi_problem = -6
  character(*), parameter :: problems(6) = [character(96) :: &
    'the elements of an array do not lie whole numbers of elements apart', 'the list of rows is not contiguous', &
    'gradients and tangents have to be as many as the inputs or outputs of the network', &
    'the tensor has another type or rank than the pointer, or is not dense', &
    'a network, context or trainer that holds something cannot be assigned: pass it as an argument', &
    'the library has another binary interface than the Fortran module']
  integer(c_int8_t), target, save :: nothing = 0  ! where arrays without elements are

contains

  !> The tensor of an array with element (1, 1, ..) at at(1), and the second one along dimension k at at(k + 1).
  function described(type, bytes, shape, at, rows, same_order) result(t)
    integer, intent(in) :: type, bytes
    integer(int64), intent(in) :: shape(:)
    type(c_ptr), intent(in) :: at(:)
    integer(int64), intent(in), optional, target :: rows(:)
    logical, intent(in), optional :: same_order
    type(sv_tensor) :: t
    integer(int64) :: distance, dense_stride
    integer :: k, dimension
    logical :: reverse
    reverse = .true.
    if (present(same_order)) reverse = .not. same_order
    t%type = type
    t%rank = size(shape)
    t%data = at(1)
    if (product(shape) == 0) t%data = c_loc(nothing)
    do k = 1, t%rank
      dimension = merge(t%rank + 1 - k, k, reverse)
      t%shape(dimension) = shape(k)
      distance = address(at(k + 1)) - address(at(1))
      if (mod(distance, int(bytes, int64)) /= 0) t%problem = uneven_problem
      t%strides(dimension) = distance / bytes
    end do
    dense_stride = 1
    do k = t%rank, 1, -1
      if (t%shape(k) <= 1) t%strides(k) = dense_stride
      if (t%strides(k) /= dense_stride) t%dense = .false.
      dense_stride = dense_stride * t%shape(k)
    end do
    if (present(rows)) call choose(t, rows)
  end function

  subroutine choose(t, rows)
    type(sv_tensor), intent(inout) :: t
    integer(int64), intent(in), target :: rows(:)
    if (.not. is_contiguous(rows)) t%problem = rows_problem
    t%extent = t%shape(1)
    t%shape(1) = size(rows)
    t%rows = c_loc(nothing)
    if (size(rows) > 0) t%rows = c_loc(rows(1))
  end subroutine

  pure integer(int64) function address(place)
    type(c_ptr), intent(in) :: place
    address = transfer(place, 0_c_intptr_t)
  end function

  !> C's tensors of ours, in an array that is kept so that later calls allocate nothing.
  subroutine list_of(tensors, list, problem)
    type(sv_tensor), intent(in), target :: tensors(:)
    type(c_tensor), allocatable, intent(inout) :: list(:)
    integer, intent(inout) :: problem
    integer :: i
    if (allocated(list)) then
      if (size(list) < size(tensors)) deallocate (list)
    end if
    if (.not. allocated(list)) allocate (list(size(tensors)))
    do i = 1, size(tensors)
      call listed(tensors(i), list(i), problem)
    end do
  end subroutine

  subroutine listed(tensor, c, problem)
    type(sv_tensor), intent(in), target :: tensor
    type(c_tensor), intent(out) :: c
    integer, intent(inout) :: problem
    c%type = tensor%type
    c%rank = tensor%rank
    c%shape = c_loc(tensor%shape)
    if (.not. tensor%dense) c%strides = c_loc(tensor%strides)
    c%rows = tensor%rows
    c%extent = tensor%extent
    c%first_row = 1
    c%data = tensor%data
    if (tensor%problem /= 0) problem = tensor%problem
  end subroutine

  !> What a call has filled in.
  function returned(from) result(t)
    type(c_tensor), intent(in) :: from
    type(sv_tensor) :: t
    integer(c_int64_t), pointer :: shape(:)
    integer :: rank
    t%type = from%type
    t%rank = from%rank
    t%data = from%data
    rank = min(t%rank, sv_max_rank)
    call c_f_pointer(from%shape, shape, [rank])
    t%shape(:rank) = shape
  end function

  !> Whether a pointer to an array of this type and rank can point to the tensor.
  pure integer function match(tensor, type, rank)
    type(sv_tensor), intent(in) :: tensor
    integer, intent(in) :: type, rank
    match = pointer_problem
    if (tensor%type == type .and. tensor%rank == rank .and. tensor%dense .and. .not. c_associated(tensor%rows)) match = sv_ok
  end function

  !> The end of every call. Without status or error what has failed ends the program. (gfortran 12 loses the length of an `error`
  !> that is passed on as an optional argument, so it is explain() that sets it.)
  subroutine finish(code, has_error, status)
    integer, intent(in) :: code
    logical, intent(in) :: has_error
    integer, intent(out), optional :: status
    if (present(status)) status = merge(code, sv_invalid_argument, code >= 0)
    if (code == sv_ok .or. has_error .or. present(status)) return
    write (error_unit, '(2a)') 'svengine: ', reason_of(code)
    error stop 1
  end subroutine

  subroutine explain(code, error)
    integer, intent(in) :: code
    character(:), allocatable, intent(inout) :: error
    if (code /= sv_ok) error = reason_of(code)
  end subroutine

  function reason_of(code) result(text)
    integer, intent(in) :: code
    character(:), allocatable :: text
    if (code < 0) then
      text = trim(problems(-code))
    else
      text = text_at(svengine_last_error())
    end if
  end function
end module
