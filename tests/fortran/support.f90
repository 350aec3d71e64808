! What every group of tests begins with. The program runs in a folder of models.py's files.
module test_support
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64, error_unit
  use svengine
  implicit none
  private
  public :: any_failure, check, check_failure, file_bytes, finish_tests, weight, contains_text

  integer, parameter :: any_failure = -1
  integer :: failures = 0, checks = 0

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    checks = checks + 1
    if (good) return
    failures = failures + 1
    write (error_unit, '(2a)') 'FAILED: ', what
  end subroutine

  !> A call has failed in this way, and its reason has these words.
  subroutine check_failure(status, error, expected, words, what)
    integer, intent(in) :: status, expected
    character(:), allocatable, intent(in) :: error
    character(*), intent(in) :: words, what
    character(:), allocatable :: reason
    reason = '(none)'
    if (allocated(error)) reason = error
    call check(contains_text(reason, words), what//': '//reason)
    call check(status == expected .or. (expected == any_failure .and. status > 0), what)
  end subroutine

  pure logical function contains_text(text, part)
    character(*), intent(in) :: text, part
    contains_text = index(text, part) > 0
  end function

  subroutine file_bytes(path, bytes)
    character(*), intent(in) :: path
    integer(int8), allocatable, intent(out) :: bytes(:)
    integer :: unit
    integer(int64) :: length
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old', action='read')
    inquire (unit=unit, size=length)
    allocate (bytes(length))
    read (unit) bytes
    close (unit)
  end subroutine

  !> Element (i, j), counted from 1, of the matrix that models.py calls by this number.
  elemental real(real64) function weight(matrix, i, j)
    integer, intent(in) :: matrix, i, j
    weight = (mod(matrix * 7 + i * 5 + j * 3, 11) - 5) / 8.0_real64
  end function

  subroutine finish_tests(name)
    character(*), intent(in) :: name
    if (failures > 0 .or. checks == 0) error stop 1
    print '(2a, i0, a)', name, ': ', checks, ' checks'
  end subroutine
end module
