! fortran_consumer MODEL: what a Fortran program does with the library. MODEL computes y[N, 3] = x[N, 3] + (1, 2, 3).
program fortran_consumer
  use, intrinsic :: iso_fortran_env, only: real32
  use svengine
  implicit none
  type(sv_network) :: network
  type(sv_context) :: context
  real(real32), target :: x(3, 2), y(3, 2)
  character(len=1000) :: path
  integer :: status
  call get_command_argument(1, path)
  call network%load('no-such-file.onnx', status=status)
  if (status /= sv_invalid_model) error stop 'a missing file is an error'
  call network%load(trim(path))
  call context%create(network)
  x = 0.5
  call context%run(sv_array(x), sv_array(y))
  if (any(abs(y - reshape([1.5, 2.5, 3.5, 1.5, 2.5, 3.5], [3, 2])) > 0)) error stop 'the output is right'
  print '(3a)', 'svengine ', sv_version(), ' works for Fortran'
end program
