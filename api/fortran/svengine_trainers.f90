! Training. Programs use module svengine, which offers it.
module svengine_trainers
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use svengine_c
  use svengine_tensors
  use svengine_networks
  implicit none
  private
  public :: sv_trainer

  type :: sv_trainer
    type(c_ptr) :: handle = c_null_ptr  ! C's, for calls of what is not here
    type(c_tensor), allocatable, private :: inputs(:)
  contains
    procedure :: load => trainer_load
    procedure, private :: step_one, step_several, evaluate_one, evaluate_several, assign_trainer
    generic :: step => step_one, step_several
    generic :: evaluate => evaluate_one, evaluate_several
    procedure :: save => trainer_save
    procedure :: network => trainer_network
    procedure :: free => trainer_free
    generic :: assignment(=) => assign_trainer
    final :: finish_trainer
  end type

contains

  !> Reads a network to train all of its weights. The options are those of `svengine train`: optimizer='adamw:weight_decay=0.1'.
  subroutine trainer_load(self, path, loss, optimizer, loss_of, clip_norm, accumulate, initialise, seed, threads, kernels, &
    status, error)
    class(sv_trainer), intent(inout) :: self
    character(*), intent(in) :: path
    character(*), intent(in), optional :: loss, optimizer, loss_of, kernels
    real(real64), intent(in), optional :: clip_norm
    integer, intent(in), optional :: accumulate, threads
    logical, intent(in), optional :: initialise
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    character(kind=c_char), allocatable, target :: of_loss(:), of_optimizer(:), of_output(:), of_kernels(:)
    type(c_trainer_options) :: options
    type(c_ptr) :: handle
    integer :: code
    integer :: freed
    options%size = c_sizeof(options)
    if (present(loss)) options%loss = string_of(loss, of_loss)
    if (present(optimizer)) options%optimizer = string_of(optimizer, of_optimizer)
    options%loss_of = string_of(loss_of, of_output)
    options%kernels = string_of(kernels, of_kernels)
    if (present(clip_norm)) options%clip_norm = clip_norm
    if (present(accumulate)) options%accumulate = accumulate
    if (present(seed)) options%seed = seed
    if (present(threads)) options%threads = int(threads, c_int32_t)
    options%initialise = number_of(initialise, options%initialise)
    code = abi_code()
    if (code == sv_ok) code = svengine_trainer_load(trim(path)//c_null_char, options, handle)
    if (code == sv_ok) then
      call self%free(freed)
      self%handle = handle
    end if
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  !> One batch forward, backward, and into the weights. An array's last dimension, the network's first, counts samples.
  subroutine step_several(self, inputs, target, rate, loss, status, error)
    class(sv_trainer), intent(inout) :: self
    type(sv_tensor), intent(in) :: inputs(:), target
    real(real64), intent(in) :: rate
    real(real64), intent(out), optional :: loss
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = step_code(self, inputs, target, rate, loss)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  subroutine step_one(self, input, target, rate, loss, status, error)
    class(sv_trainer), intent(inout) :: self
    type(sv_tensor), intent(in) :: input, target
    real(real64), intent(in) :: rate
    real(real64), intent(out), optional :: loss
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = step_code(self, [input], target, rate, loss)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  integer function step_code(self, inputs, target, rate, loss) result(code)
    class(sv_trainer), intent(inout) :: self
    type(sv_tensor), intent(in), target :: inputs(:), target
    real(real64), intent(in) :: rate
    real(real64), intent(out), optional :: loss
    type(c_tensor) :: answer
    real(c_double) :: found
    code = sv_ok
    found = 0
    call list_of(inputs, self%inputs, code)
    call listed(target, answer, code)
    if (code == sv_ok) code = svengine_trainer_step(self%handle, self%inputs, size(inputs, kind=c_int32_t), answer, rate, found)
    if (present(loss)) loss = found
  end function

  !> The loss in inference mode; changes nothing.
  subroutine evaluate_several(self, inputs, target, loss, status, error)
    class(sv_trainer), intent(inout) :: self
    type(sv_tensor), intent(in) :: inputs(:), target
    real(real64), intent(out) :: loss
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = evaluate_code(self, inputs, target, loss)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  subroutine evaluate_one(self, input, target, loss, status, error)
    class(sv_trainer), intent(inout) :: self
    type(sv_tensor), intent(in) :: input, target
    real(real64), intent(out) :: loss
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = evaluate_code(self, [input], target, loss)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  integer function evaluate_code(self, inputs, target, loss) result(code)
    class(sv_trainer), intent(inout) :: self
    type(sv_tensor), intent(in), target :: inputs(:), target
    real(real64), intent(out) :: loss
    type(c_tensor) :: answer
    code = sv_ok
    loss = 0
    call list_of(inputs, self%inputs, code)
    call listed(target, answer, code)
    if (code == sv_ok) code = svengine_trainer_evaluate(self%handle, self%inputs, size(inputs, kind=c_int32_t), answer, loss)
  end function

  !> Writes the network with its present weights, in inference mode.
  subroutine trainer_save(self, path, status, error)
    class(sv_trainer), intent(inout) :: self
    character(*), intent(in) :: path
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = svengine_trainer_save(self%handle, trim(path)//c_null_char)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  !> The network with its present weights, to be run; later steps do not change it.
  subroutine trainer_network(self, network, kernels, cache, exact_convolution, convert, seed, status, error)
    class(sv_trainer), intent(inout) :: self
    class(sv_network), intent(inout) :: network
    character(*), intent(in), optional :: kernels, cache
    logical, intent(in), optional :: exact_convolution, convert
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    character(kind=c_char), allocatable, target :: set(:), folder(:)
    type(c_ptr) :: handle
    integer :: code
    code = svengine_trainer_network(self%handle, options_of(kernels, cache, exact_convolution, convert, seed, set, folder), handle)
    if (code == sv_ok) call take_network(network, handle)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  subroutine trainer_free(self, status, error)
    class(sv_trainer), intent(inout) :: self
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = svengine_trainer_free(self%handle)
    self%handle = c_null_ptr
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  impure elemental subroutine finish_trainer(self)
    type(sv_trainer), intent(inout) :: self
    integer :: status
    call self%free(status)
  end subroutine

  subroutine assign_trainer(self, other)
    class(sv_trainer), intent(inout) :: self
    class(sv_trainer), intent(in) :: other
    call no_copies(self%handle, other%handle)
  end subroutine
end module
