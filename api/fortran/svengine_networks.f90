! Networks and their options. Programs use module svengine, which offers them.
module svengine_networks
  use, intrinsic :: iso_fortran_env, only: int8, int64
  use svengine_c
  use svengine_tensors
  implicit none
  private
  public :: sv_network, sv_port, sv_version, sv_load_plugin, abi_code, options_of, take_network, no_copies

  !> An input or output as the network declares it, in the network's order of dimensions.
  type :: sv_port
    character(:), allocatable :: name
    integer :: type = sv_unknown
    integer :: rank = -1                                 ! -1: not known
    integer(int64), allocatable :: shape(:)              ! -1: decided by each call
    character(:), allocatable :: shape_names(:)          ! '' where there is none; equal names are equal sizes
  end type

  !> Read once; any number of threads may use it at once.
  type :: sv_network
    type(c_ptr) :: handle = c_null_ptr  ! C's, for calls of what is not here
  contains
    procedure, private :: load_file, load_memory, assign_network
    generic :: load => load_file, load_memory
    procedure :: counts => network_counts
    procedure :: input => network_input
    procedure :: output => network_output
    procedure :: free => network_free
    generic :: assignment(=) => assign_network
    final :: finish_network
  end type

contains

  function sv_version() result(text)
    character(:), allocatable :: text
    text = text_at(svengine_version())
  end function

  !> Operators that ONNX has not, from a shared library (svengine/operators.h): for all networks of the program.
  subroutine sv_load_plugin(path, status, error)
    character(*), intent(in) :: path
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = abi_code()
    if (code == sv_ok) code = svengine_load_plugin(trim(path)//c_null_char)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  !> A network that was loaded before is freed when this one can be loaded.
  subroutine load_file(self, path, kernels, cache, exact_convolution, convert, seed, status, error)
    class(sv_network), intent(inout) :: self
    character(*), intent(in) :: path
    character(*), intent(in), optional :: kernels, cache
    logical, intent(in), optional :: exact_convolution, convert
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    character(kind=c_char), allocatable, target :: set(:), folder(:)
    type(c_options) :: options
    type(c_ptr) :: handle
    integer :: code
    options = options_of(kernels, cache, exact_convolution, convert, seed, set, folder)
    code = abi_code()
    if (code == sv_ok) code = svengine_network_load(trim(path)//c_null_char, options, handle)
    if (code == sv_ok) call take_network(self, handle)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  !> Of an ONNX file's bytes, which need not stay.
  subroutine load_memory(self, bytes, kernels, cache, exact_convolution, convert, seed, status, error)
    class(sv_network), intent(inout) :: self
    integer(int8), intent(in) :: bytes(:)
    character(*), intent(in), optional :: kernels, cache
    logical, intent(in), optional :: exact_convolution, convert
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    character(kind=c_char), allocatable, target :: set(:), folder(:)
    type(c_options) :: options
    type(c_ptr) :: handle
    integer :: code
    options = options_of(kernels, cache, exact_convolution, convert, seed, set, folder)
    code = abi_code()
    if (code == sv_ok) code = svengine_network_load_memory(bytes, size(bytes, kind=c_size_t), options, handle)
    if (code == sv_ok) call take_network(self, handle)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  integer function abi_code()
    abi_code = merge(sv_ok, abi_problem, svengine_abi() == abi_of_module)
  end function

  function options_of(kernels, cache, exact_convolution, convert, seed, set, folder) result(options)
    character(*), intent(in), optional :: kernels, cache
    logical, intent(in), optional :: exact_convolution, convert
    integer(int64), intent(in), optional :: seed
    character(kind=c_char), allocatable, target, intent(out) :: set(:), folder(:)
    type(c_options) :: options
    options%size = c_sizeof(options)
    options%kernels = string_of(kernels, set)
    options%cache = string_of(cache, folder)
    options%exact_convolution = number_of(exact_convolution, options%exact_convolution)
    options%convert = number_of(convert, options%convert)
    options%seeded = merge(1_c_int32_t, 0_c_int32_t, present(seed))
    if (present(seed)) options%seed = seed
  end function

  subroutine take_network(self, handle)
    class(sv_network), intent(inout) :: self
    type(c_ptr), intent(in) :: handle
    integer :: freed
    call self%free(freed)
    self%handle = handle
  end subroutine

  subroutine network_counts(self, inputs, outputs, status, error)
    class(sv_network), intent(in) :: self
    integer, intent(out) :: inputs, outputs
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer(c_int32_t) :: ins, outs
    integer :: code
    ins = 0
    outs = 0
    code = svengine_network_counts(self%handle, ins, outs)
    inputs = ins
    outputs = outs
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  !> Input `index`, counted from 1.
  subroutine network_input(self, index, port, status, error)
    class(sv_network), intent(in) :: self
    integer, intent(in) :: index
    type(sv_port), intent(out) :: port
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    type(c_port) :: found
    integer :: code
    code = svengine_network_input(self%handle, int(index - 1, c_int32_t), found)
    if (code == sv_ok) call describe(found, port)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  !> Output `index`, counted from 1.
  subroutine network_output(self, index, port, status, error)
    class(sv_network), intent(in) :: self
    integer, intent(in) :: index
    type(sv_port), intent(out) :: port
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    type(c_port) :: found
    integer :: code
    code = svengine_network_output(self%handle, int(index - 1, c_int32_t), found)
    if (code == sv_ok) call describe(found, port)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  subroutine describe(from, port)
    type(c_port), intent(in) :: from
    type(sv_port), intent(inout) :: port
    integer(c_int64_t), pointer :: shape(:)
    type(c_ptr), pointer :: names(:)
    integer :: i
    port%name = text_at(from%name)
    port%type = from%type
    port%rank = from%rank
    allocate (port%shape(max(0, port%rank)))
    if (port%rank <= 0) then
      allocate (character(0) :: port%shape_names(0))
      return
    end if
    call c_f_pointer(from%shape, shape, [port%rank])
    call c_f_pointer(from%shape_names, names, [port%rank])
    port%shape(:) = shape
    allocate (character(maxval([(len(text_at(names(i))), i=1, port%rank)])) :: port%shape_names(port%rank))
    do i = 1, port%rank
      port%shape_names(i) = text_at(names(i))
    end do
  end subroutine

  !> Its contexts may go on. What holds nothing is freed without an error.
  subroutine network_free(self, status, error)
    class(sv_network), intent(inout) :: self
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = svengine_network_free(self%handle)
    self%handle = c_null_ptr
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  impure elemental subroutine finish_network(self)
    type(sv_network), intent(inout) :: self
    integer :: status
    call self%free(status)
  end subroutine

  subroutine assign_network(self, other)
    class(sv_network), intent(inout) :: self
    class(sv_network), intent(in) :: other
    call no_copies(self%handle, other%handle)
  end subroutine

  !> A copy would be freed twice.
  subroutine no_copies(one, other)
    type(c_ptr), intent(in) :: one, other
    if (c_associated(one) .or. c_associated(other)) call finish(copy_problem, .false.)
  end subroutine
end module
