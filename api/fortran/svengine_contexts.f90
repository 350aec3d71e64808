! Contexts: calls of networks. Programs use module svengine, which offers them.
module svengine_contexts
  use svengine_c
  use svengine_tensors
  use svengine_networks
  implicit none
  private
  public :: sv_context

  !> What calls of one thread need: one for every thread of the program, or one with a team of threads.
  type :: sv_context
    type(c_ptr) :: handle = c_null_ptr  ! C's, for calls of what is not here
    integer(c_int32_t), private :: ins = 0, outs = 0    ! of the network
    type(c_tensor), allocatable, private :: inputs(:), outputs(:), given(:), found(:)
  contains
    procedure :: create => context_create
    procedure, private :: run_one, run_several, run_view_one, run_view_several, assign_context
    procedure, private :: vjp_one, vjp_several, jvp_one, jvp_several
    generic :: run => run_one, run_several
    generic :: run_view => run_view_one, run_view_several
    generic :: vjp => vjp_one, vjp_several
    generic :: jvp => jvp_one, jvp_several
    procedure :: free => context_free
    generic :: assignment(=) => assign_context
    final :: finish_context
  end type

contains

  !> threads = 1, the default: the calling thread alone, also inside its parallel regions; 0: OMP_NUM_THREADS, or every cpu.
  subroutine context_create(self, network, threads, topology, keep_denormals, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_network), intent(in) :: network
    integer, intent(in), optional :: threads
    character(*), intent(in), optional :: topology
    logical, intent(in), optional :: keep_denormals
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    character(kind=c_char), allocatable, target :: groups(:)
    type(c_context_options) :: options
    type(c_ptr) :: handle
    integer :: code
    integer :: freed
    options%size = c_sizeof(options)
    if (present(threads)) options%threads = int(threads, c_int32_t)
    options%topology = string_of(topology, groups)
    options%keep_denormals = number_of(keep_denormals, options%keep_denormals)
    code = svengine_context_create(network%handle, options, handle)
    if (code == sv_ok) then
      call self%free(freed)
      self%handle = handle
      code = svengine_network_counts(network%handle, self%ins, self%outs)
    end if
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  !> Inputs and outputs in the network's order. Outputs are the program's arrays, of the types and shapes that the network gives.
  subroutine run_several(self, inputs, outputs, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in) :: inputs(:), outputs(:)
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = run_code(self, inputs, outputs)
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  subroutine run_one(self, input, output, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in) :: input, output
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = run_code(self, [input], [output])
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  !> The outputs become what lies in memory of the context, good until its next call: sv_pointer() makes arrays of them.
  subroutine run_view_several(self, inputs, outputs, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in) :: inputs(:)
    type(sv_tensor), intent(out) :: outputs(:)
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code, i
    code = run_code(self, inputs, outputs)
    if (code == sv_ok) then
      do i = 1, size(outputs)
        outputs(i) = returned(self%outputs(i))
      end do
    end if
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  subroutine run_view_one(self, input, output, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in) :: input
    type(sv_tensor), intent(out) :: output
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = run_code(self, [input], [output])
    if (code == sv_ok) output = returned(self%outputs(1))
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  integer function run_code(self, inputs, outputs) result(code)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in), target :: inputs(:), outputs(:)
    code = sv_ok
    call list_of(inputs, self%inputs, code)
    call list_of(outputs, self%outputs, code)
    if (code == sv_ok) code = svengine_run(self%handle, self%inputs, size(inputs, kind=c_int32_t), self%outputs, &
      size(outputs, kind=c_int32_t))
  end function

  !> The vector-Jacobian product: gradients of the outputs become gradients of the inputs. An output gradient sv_tensor() is zeros;
  !> an input gradient sv_tensor() is not asked for, as those of integers.
  subroutine vjp_several(self, inputs, output_gradients, input_gradients, outputs, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in) :: inputs(:), output_gradients(:), input_gradients(:)
    type(sv_tensor), intent(in), optional :: outputs(:)
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    if (present(outputs)) then
      code = vjp_code(self, inputs, output_gradients, input_gradients, outputs)
    else
      code = vjp_code(self, inputs, output_gradients, input_gradients, spread(sv_tensor(), 1, size(output_gradients)))
    end if
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  subroutine vjp_one(self, input, output_gradient, input_gradient, output, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in) :: input, output_gradient, input_gradient
    type(sv_tensor), intent(in), optional :: output
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    type(sv_tensor) :: wanted
    integer :: code
    if (present(output)) wanted = output
    code = vjp_code(self, [input], [output_gradient], [input_gradient], [wanted])
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  integer function vjp_code(self, inputs, output_gradients, input_gradients, outputs) result(code)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in), target :: inputs(:), output_gradients(:), input_gradients(:), outputs(:)
    code = count_code(self, inputs, input_gradients, output_gradients, outputs)
    call list_of(inputs, self%inputs, code)
    call list_of(output_gradients, self%given, code)
    call list_of(input_gradients, self%found, code)
    call list_of(outputs, self%outputs, code)
    if (code == sv_ok) code = svengine_run_vjp(self%handle, self%inputs, size(inputs, kind=c_int32_t), self%given, self%outputs, &
      size(outputs, kind=c_int32_t), self%found)
  end function

  !> The Jacobian-vector product: how the outputs change when the inputs change along the tangents. sv_tensor() is zeros.
  subroutine jvp_several(self, inputs, input_tangents, output_tangents, outputs, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in) :: inputs(:), input_tangents(:), output_tangents(:)
    type(sv_tensor), intent(in), optional :: outputs(:)
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    if (present(outputs)) then
      code = jvp_code(self, inputs, input_tangents, output_tangents, outputs)
    else
      code = jvp_code(self, inputs, input_tangents, output_tangents, spread(sv_tensor(), 1, size(output_tangents)))
    end if
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  subroutine jvp_one(self, input, input_tangent, output_tangent, output, status, error)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in) :: input, input_tangent, output_tangent
    type(sv_tensor), intent(in), optional :: output
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    type(sv_tensor) :: wanted
    integer :: code
    if (present(output)) wanted = output
    code = jvp_code(self, [input], [input_tangent], [output_tangent], [wanted])
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  integer function jvp_code(self, inputs, input_tangents, output_tangents, outputs) result(code)
    class(sv_context), intent(inout) :: self
    type(sv_tensor), intent(in), target :: inputs(:), input_tangents(:), output_tangents(:), outputs(:)
    code = count_code(self, inputs, input_tangents, output_tangents, outputs)
    call list_of(inputs, self%inputs, code)
    call list_of(input_tangents, self%given, code)
    call list_of(output_tangents, self%found, code)
    call list_of(outputs, self%outputs, code)
    if (code == sv_ok) code = svengine_run_jvp(self%handle, self%inputs, size(inputs, kind=c_int32_t), self%given, self%outputs, &
      size(outputs, kind=c_int32_t), self%found)
  end function

  !> C takes gradients and tangents to be as many as the network's inputs and outputs.
  integer function count_code(self, inputs, of_inputs, of_outputs, outputs) result(code)
    class(sv_context), intent(in) :: self
    type(sv_tensor), intent(in) :: inputs(:), of_inputs(:), of_outputs(:), outputs(:)
    code = sv_ok
    if (.not. c_associated(self%handle)) return
    if (any([size(inputs), size(of_inputs)] /= self%ins) .or. any([size(outputs), size(of_outputs)] /= self%outs)) &
      code = count_problem
  end function

  subroutine context_free(self, status, error)
    class(sv_context), intent(inout) :: self
    integer, intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: error
    integer :: code
    code = svengine_context_free(self%handle)
    self%handle = c_null_ptr
    call finish(code, present(error), status)
    if (present(error)) call explain(code, error)
  end subroutine

  impure elemental subroutine finish_context(self)
    type(sv_context), intent(inout) :: self
    integer :: status
    call self%free(status)
  end subroutine

  subroutine assign_context(self, other)
    class(sv_context), intent(inout) :: self
    class(sv_context), intent(in) :: other
    call no_copies(self%handle, other%handle)
  end subroutine
end module
