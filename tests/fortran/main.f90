! fortran_tests GROUP, in the folder with models.py's files.
program fortran_tests
  use test_support
  use arrays_test
  use network_test
  use derivatives_test
  use training_test
  use errors_test
  implicit none
  character(32) :: group
  call get_command_argument(1, group)
  select case (group)
  case ('arrays')
    call test_arrays()
  case ('networks')
    call test_networks()
  case ('derivatives')
    call test_derivatives()
  case ('training')
    call test_training()
  case ('errors')
    call test_errors()
  case ('finalisation')
    call test_ends()
  case default
    call end_by(trim(group))
  end select
  call finish_tests(trim(group))
end program
