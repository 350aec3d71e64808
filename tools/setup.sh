#!/bin/sh
# Installs the Debian packages (12 or 13) that are missing, and nothing else.
#
#   tools/setup.sh [GROUP...]      groups: build demo test python record a64fx bench fuzz; default: build
#
# Run as root, or as a user who may use sudo. When every package is there it does nothing: no network, no root needed.
set -eu

packages_of() {
  case $1 in
    build) echo cmake ninja-build g++ protobuf-compiler libprotobuf-dev libonnx-dev libcli11-dev nlohmann-json3-dev \
      libfmt-dev libeigen3-dev libstb-dev libnuma-dev libre2-dev zlib1g-dev libxxhash-dev \
      libopenblas-serial-dev catch2 ;;
    demo) echo dataset-fashion-mnist ;;
    test) echo python3 dpkg-dev make pkg-config python3-numpy libonnx-testdata dataset-fashion-mnist gfortran ;;
    python) echo python3-dev python3-venv ;;
    record) echo python3 python3-numpy python3-torch python3-torchvision libopenblas0-pthread ;;
    a64fx) echo g++-aarch64-linux-gnu gfortran-aarch64-linux-gnu qemu-user ;;
    bench) echo libbenchmark-dev libopenblas0-pthread llvm python3 python3-venv python3-numpy ;;
    fuzz) echo clang-14 libclang-rt-14-dev libomp-14-dev ;;
    *) echo "tools/setup.sh: no group '$1'; groups: build demo test python record a64fx bench fuzz" >&2; return 2 ;;
  esac
}

# The installed packages are listed once: one dpkg-query is as fast as ours for one package.
installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' | sed -n 's/^.i //p')
missing=
for group in "${@:-build}"; do
  packages=$(packages_of "$group")
  for package in $packages; do
    case "
$installed
" in
      *"
$package
"*) continue ;;
    esac
    case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
  done
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "tools/setup.sh: these packages are missing; install them as root:$missing" >&2
    exit 1
  fi
  as_root=sudo
fi
echo "Installing the missing Debian packages:$missing"
# shellcheck disable=SC2086  # lists of words
$as_root apt-get -q update </dev/null
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing </dev/null
