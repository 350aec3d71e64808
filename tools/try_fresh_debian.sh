#!/bin/sh
# Tries commands in a fresh Debian root file system, in a clone of this repository's last commit.
#
#   tools/try_fresh_debian.sh [-r RELEASE] ROOT [COMMAND...]        as root; needs debootstrap and git
#   tools/try_fresh_debian.sh /var/tmp/bookworm tools/demo.sh tools/demo.sh
#   tools/try_fresh_debian.sh -r trixie /var/tmp/trixie tools/demo.sh
#
# ROOT is made with debootstrap (smallest variant) if it is not there yet: remove it to start from nothing. The clone in
# ROOT/root/svengine is renewed to the last commit each time; its build folder stays. Without commands: tools/demo.sh and
# tools/test.sh, each twice. The time each took is printed. Package sources and proxies are this machine's, of RELEASE (default: bookworm,
# which is Debian 12; trixie is 13).
set -eu
cd "$(dirname "$0")/.."
release=bookworm
[ "${1-}" != -r ] || { release=${2-}; shift 2; }
[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$1
shift
[ $# -gt 0 ] || set -- tools/demo.sh tools/demo.sh tools/test.sh tools/test.sh

# Debian's own sources of this machine, one line each: address, release, component; its own release's name becomes the wanted one's.
here=$(. /etc/os-release && echo "$VERSION_CODENAME")
sources=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
  sed "s/ $here/ $release/" | sort -u)
mirror=$(echo "$sources" | awk -v release="$release" '$2 == release && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || { echo "$0: apt-get here knows no Debian $here main: run apt-get update" >&2; exit 1; }

if [ ! -f "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase --include=ca-certificates "$release" "$root" "$mirror"
fi
echo "$sources" | sed 's/^/deb /' >"$root/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(http|https|ftp)::' >"$root/etc/apt/apt.conf.d/90host-proxy" || true
cp /etc/resolv.conf /etc/hosts "$root/etc/"

clone=$root/root/svengine
if [ ! -d "$clone" ]; then
  git clone -q --no-hardlinks . "$clone"
else
  git -C "$clone" fetch -q "$PWD" HEAD
  git -C "$clone" reset -q --hard FETCH_HEAD
fi

for command; do
  printf '\n#### %s\n' "$command"
  start=$(date +%s)
  # A mount namespace of its own: nothing stays mounted when it ends.
  unshare --mount sh -euc '
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      chroot "$1" sh -c "cd /root/svengine && $2"
  ' try "$(realpath "$root")" "$command" </dev/null
  echo "#### $command: $(($(date +%s) - start)) s"
done
