! svengine/svengine.h as Fortran sees it. Programs use module svengine, which stands on this one.
module svengine_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int32_t), parameter :: abi_of_module = 2

  type, bind(C) :: c_tensor
    integer(c_int) :: type = 0
    integer(c_int32_t) :: rank = 0
    type(c_ptr) :: shape = c_null_ptr, strides = c_null_ptr, rows = c_null_ptr
    integer(c_int64_t) :: extent = 0, first_row = 0
    type(c_ptr) :: data = c_null_ptr
  end type

  type, bind(C) :: c_options
    integer(c_size_t) :: size = 0
    type(c_ptr) :: kernels = c_null_ptr, cache = c_null_ptr
    integer(c_int32_t) :: exact_convolution = 0, convert = 0, seeded = 0
    integer(c_int64_t) :: seed = 0
  end type

  type, bind(C) :: c_context_options
    integer(c_size_t) :: size = 0
    integer(c_int32_t) :: threads = 1
    type(c_ptr) :: topology = c_null_ptr
    integer(c_int32_t) :: keep_denormals = 0
  end type

  type, bind(C) :: c_trainer_options
    integer(c_size_t) :: size = 0
    type(c_ptr) :: loss = c_null_ptr, optimizer = c_null_ptr, loss_of = c_null_ptr
    real(c_double) :: clip_norm = 0
    integer(c_int64_t) :: accumulate = 1
    integer(c_int32_t) :: initialise = 0
    integer(c_int64_t) :: seed = 1
    integer(c_int32_t) :: threads = 0
    type(c_ptr) :: kernels = c_null_ptr
  end type

  type, bind(C) :: c_port
    type(c_ptr) :: name
    integer(c_int) :: type
    integer(c_int32_t) :: rank
    type(c_ptr) :: shape, shape_names
  end type

  interface
    function svengine_version() bind(C)
      import
      type(c_ptr) :: svengine_version
    end function
    function svengine_abi() bind(C)
      import
      integer(c_int32_t) :: svengine_abi
    end function
    function svengine_last_error() bind(C)
      import
      type(c_ptr) :: svengine_last_error
    end function

    function svengine_load_plugin(path) bind(C)
      import
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: svengine_load_plugin
    end function

    function svengine_network_load(path, options, network) bind(C)
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: network
      integer(c_int) :: svengine_network_load
    end function
    function svengine_network_load_memory(bytes, count, options, network) bind(C)
      import
      integer(c_int8_t), intent(in) :: bytes(*)
      integer(c_size_t), value :: count
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: network
      integer(c_int) :: svengine_network_load_memory
    end function
    function svengine_network_free(network) bind(C)
      import
      type(c_ptr), value :: network
      integer(c_int) :: svengine_network_free
    end function
    function svengine_network_counts(network, inputs, outputs) bind(C)
      import
      type(c_ptr), value :: network
      integer(c_int32_t), intent(inout) :: inputs, outputs
      integer(c_int) :: svengine_network_counts
    end function
    function svengine_network_input(network, index, port) bind(C)
      import
      type(c_ptr), value :: network
      integer(c_int32_t), value :: index
      type(c_port), intent(out) :: port
      integer(c_int) :: svengine_network_input
    end function
    function svengine_network_output(network, index, port) bind(C)
      import
      type(c_ptr), value :: network
      integer(c_int32_t), value :: index
      type(c_port), intent(out) :: port
      integer(c_int) :: svengine_network_output
    end function

    function svengine_context_create(network, options, context) bind(C)
      import
      type(c_ptr), value :: network
      type(c_context_options), intent(in) :: options
      type(c_ptr), intent(out) :: context
      integer(c_int) :: svengine_context_create
    end function
    function svengine_context_free(context) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_int) :: svengine_context_free
    end function
    function svengine_run(context, inputs, input_count, outputs, output_count) bind(C)
      import
      type(c_ptr), value :: context
      type(c_tensor), intent(in) :: inputs(*)
      type(c_tensor), intent(inout) :: outputs(*)
      integer(c_int32_t), value :: input_count, output_count
      integer(c_int) :: svengine_run
    end function
    function svengine_run_vjp(context, inputs, input_count, output_gradients, outputs, output_count, input_gradients) bind(C)
      import
      type(c_ptr), value :: context
      type(c_tensor), intent(in) :: inputs(*), output_gradients(*)
      type(c_tensor), intent(inout) :: outputs(*), input_gradients(*)
      integer(c_int32_t), value :: input_count, output_count
      integer(c_int) :: svengine_run_vjp
    end function
    function svengine_run_jvp(context, inputs, input_count, input_tangents, outputs, output_count, output_tangents) bind(C)
      import
      type(c_ptr), value :: context
      type(c_tensor), intent(in) :: inputs(*), input_tangents(*)
      type(c_tensor), intent(inout) :: outputs(*), output_tangents(*)
      integer(c_int32_t), value :: input_count, output_count
      integer(c_int) :: svengine_run_jvp
    end function

    function svengine_trainer_load(path, options, trainer) bind(C)
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_trainer_options), intent(in) :: options
      type(c_ptr), intent(out) :: trainer
      integer(c_int) :: svengine_trainer_load
    end function
    function svengine_trainer_free(trainer) bind(C)
      import
      type(c_ptr), value :: trainer
      integer(c_int) :: svengine_trainer_free
    end function
    function svengine_trainer_step(trainer, inputs, input_count, target, rate, loss) bind(C)
      import
      type(c_ptr), value :: trainer
      type(c_tensor), intent(in) :: inputs(*), target
      integer(c_int32_t), value :: input_count
      real(c_double), value :: rate
      real(c_double), intent(out) :: loss
      integer(c_int) :: svengine_trainer_step
    end function
    function svengine_trainer_evaluate(trainer, inputs, input_count, target, loss) bind(C)
      import
      type(c_ptr), value :: trainer
      type(c_tensor), intent(in) :: inputs(*), target
      integer(c_int32_t), value :: input_count
      real(c_double), intent(out) :: loss
      integer(c_int) :: svengine_trainer_evaluate
    end function
    function svengine_trainer_save(trainer, path) bind(C)
      import
      type(c_ptr), value :: trainer
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: svengine_trainer_save
    end function
    function svengine_trainer_network(trainer, options, network) bind(C)
      import
      type(c_ptr), value :: trainer
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: network
      integer(c_int) :: svengine_trainer_network
    end function
    function c_length(text) bind(C, name='strlen')
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: c_length
    end function
  end interface

contains

  function text_at(place) result(text)
    type(c_ptr), intent(in) :: place
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer(c_size_t) :: length
    integer :: i
    length = 0
    if (c_associated(place)) length = c_length(place)
    allocate (character(length) :: text)
    call c_f_pointer(place, letters, [length])
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  !> C's string of an optional argument, in `letters`; null where it is not given.
  function string_of(text, letters) result(place)
    character(*), intent(in), optional :: text
    character(kind=c_char), allocatable, target, intent(out) :: letters(:)
    type(c_ptr) :: place
    integer :: i
    place = c_null_ptr
    if (.not. present(text)) return
    allocate (letters(len_trim(text) + 1))
    do i = 1, len_trim(text)
      letters(i) = text(i:i)
    end do
    letters(size(letters)) = c_null_char
    place = c_loc(letters)
  end function

  integer(c_int32_t) function number_of(flag, otherwise)
    logical, intent(in), optional :: flag
    integer(c_int32_t), intent(in) :: otherwise
    number_of = otherwise
    if (present(flag)) number_of = merge(1_c_int32_t, 0_c_int32_t, flag)
  end function
end module
