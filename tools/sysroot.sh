#!/bin/sh
# Makes build/sysroot-aarch64: what the A64FX program needs besides the cross compiler's own libraries.
#
#   tools/sysroot.sh               needs the packages of "tools/setup.sh build a64fx"; root is not needed
#
# The static arm64 libraries come out of Debian's arm64 packages, downloaded with this machine's own sources and proxies
# but with a private apt state below the build folder: this machine's list of architectures, its package lists and its
# installed packages stay as they are. Header-only libraries are the same on every processor, so they and their package files are
# links to this machine's: /usr/include as a whole must not come before the cross compiler's own headers.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/sysroot-aarch64
packages="libprotobuf-dev libnuma-dev libre2-dev zlib1g-dev catch2 libopenblas-serial-dev"
headers="CLI nlohmann fmt eigen3 stb onnx xxhash.h"
# By which CMake finds them.
package_files="cmake/CLI11 cmake/nlohmann_json eigen3"

# What the folder was made from: this file, and the version of protoc whose output must fit the library.
made_from=$({ cat tools/sysroot.sh; protoc --version; } | sha256sum)
[ "$(cat "$root/made-from" 2>/dev/null)" != "$made_from" ] || exit 0

echo "Making the aarch64 sysroot from Debian's arm64 packages: $packages"
work=$PWD/build/sysroot-aarch64.tmp
rm -rf "$work"
mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/deb" "$work/root/usr/include"
# A file given with -c is read after this machine's own, so it can also clear hooks that would tidy up its caches.
cat >"$work/apt/conf" <<EOF
APT::Architecture "arm64";
#clear APT::Architectures;
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::IndexTargets::deb::DEP-11;
Acquire::Languages "none";
Dir::State "$work/apt";
Dir::State::lists "$work/apt/lists";
Dir::State::status "/dev/null";
Dir::Cache "$work/apt/cache";
Dir::Log "$work/apt";
EOF
# Sources that have nothing for arm64, or cannot be reached, are not fatal here: a package that is then missing is.
apt-get -q -c "$work/apt/conf" update </dev/null || true
# What the shared library is linked with: the packages on which RE2's and libnuma's stand.
packages="$packages $(apt-cache -c "$work/apt/conf" depends libre2-dev libnuma-dev | sed -n 's/^ *Depends: \(libre2-[0-9].*\|libnuma[0-9].*\)$/\1/p')"
# shellcheck disable=SC2086  # a list of words
(cd "$work/deb" && apt-get -q -c "$work/apt/conf" download $packages </dev/null) || {
  echo "tools/sysroot.sh: this machine's package sources (/etc/apt) did not give the arm64 packages: $packages" >&2
  exit 1
}
for deb in "$work"/deb/*.deb; do dpkg -x "$deb" "$work/root"; done
for header in $headers; do
  [ -e "/usr/include/$header" ] || { echo "tools/sysroot.sh: /usr/include/$header is missing: tools/setup.sh build" >&2; exit 1; }
  ln -s "/usr/include/$header" "$work/root/usr/include/$header"
done
mkdir -p "$work/root/usr/share/cmake"
for file in $package_files; do ln -s "/usr/share/$file" "$work/root/usr/share/$file"; done
printf '%s\n' "$made_from" >"$work/root/made-from"
rm -rf "$root"
mv "$work/root" "$root"
rm -rf "$work"
