! SVEngine for Fortran programs: networks from ONNX files, called on the program's own arrays.
!
!     use svengine
!     type(sv_network) :: network
!     type(sv_context) :: context
!     real(real64), target :: columns(191, 8192), drag(126, 8192)
!     call network%load('drag.onnx')
!     call context%create(network)
!     call context%run(sv_array(columns), sv_array(drag))
!
! An array a(features, columns) is what the network calls [columns, features]: the dimensions are read in the opposite order, and
! nothing is copied. Arrays need the attribute target. FORTRAN.md has everything, with examples.
!
! Every procedure takes optional `status` and `error`. Where neither is given, what goes wrong ends the program with the reason.
! Where one is, the program goes on: status is one of sv_ok, sv_invalid_handle, .., and error is allocated only after a failure.
#define SV_ELEMENT real(c_float)
#define SV_CODE sv_float32
module svengine_real32
#include "svengine_array.inc"
end module
#undef SV_ELEMENT
#undef SV_CODE

#define SV_ELEMENT real(c_double)
#define SV_CODE sv_float64
module svengine_real64
#include "svengine_array.inc"
end module
#undef SV_ELEMENT
#undef SV_CODE

#define SV_ELEMENT integer(c_int32_t)
#define SV_CODE sv_int32
module svengine_int32
#include "svengine_array.inc"
end module
#undef SV_ELEMENT
#undef SV_CODE

#define SV_ELEMENT integer(c_int64_t)
#define SV_CODE sv_int64
module svengine_int64
#include "svengine_array.inc"
end module

module svengine
  use svengine_tensors
  use svengine_real32
  use svengine_real64
  use svengine_int32
  use svengine_int64
  use svengine_networks, only: sv_network, sv_port, sv_version, sv_load_plugin
  use svengine_contexts
  use svengine_trainers
  implicit none
  private
  public :: sv_tensor, sv_array, sv_pointer, sv_network, sv_context, sv_trainer, sv_port, sv_version, sv_load_plugin
  public :: sv_ok, sv_invalid_handle, sv_invalid_argument, sv_invalid_model, sv_failed, sv_out_of_memory, sv_unimplemented
  public :: sv_unknown, sv_float32, sv_float64, sv_int8, sv_int16, sv_int32, sv_int64, sv_uint8, sv_uint16, sv_uint32, sv_uint64, &
    sv_bool, sv_float16, sv_bfloat16
end module
