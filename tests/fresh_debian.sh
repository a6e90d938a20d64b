#!/usr/bin/env bash
# README's commands on a bare Debian: a new root with git, make and a C compiler, a clone of this repository's HEAD, then
# `make demo`, `make deps` and `make test`. Fails if one of them fails or warns, or if a test is skipped. Prints times and sizes.
# Needs root and debootstrap, downloads 0.5 GB, takes 3 GB of disk while it runs.
#
#     tests/fresh_debian.sh SUITE      bookworm, trixie
#
# The packages come from where the machine's own apt gets them.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=$1
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "needs debootstrap (make deps DEPS=all)"; exit 77; }
site=$(apt-get indextargets --format '$(LABEL)|$(SITE)' | sed -n 's/^Debian|//p' | head -n 1)
[ "$site" ] || { echo "needs a Debian mirror that apt knows"; exit 77; }

work=$(mktemp -d)
root=$work/root
cleanup() {
  umount -R "$root"/{proc,dev,sys} 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
debootstrap --variant=minbase --include=git,gcc,libc6-dev,make,ca-certificates "$suite" "$root" "$site" >"$work/log" 2>&1 ||
  { tail -n 5 "$work/log"; exit 1; }
# Its name servers and certificates, and how its apt is configured, are the machine's.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
find /etc/apt/apt.conf.d -type f ! -name '*appstream*' -exec cp {} "$root/etc/apt/apt.conf.d/" ';'
for folder in proc dev sys; do
  mount --rbind "/$folder" "$root/$folder"
  mount --make-rslave "$root/$folder"
done
git clone -q --bare . "$work/clone"
mv "$work/clone" "$root/tmp/clone"

inside() { chroot "$root" /usr/bin/env -i HOME=/root USER=root TERM=xterm PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -c "$1"; }
inside 'git -c safe.directory=* clone -q /tmp/clone /root/gotrace'
size() { du -sxm "$root" --exclude='root/gotrace/build' | cut -f 1; }

status=0
for step in 'make demo' 'make deps' 'make test'; do
  began=$SECONDS before=$(size) log=$work/step.log result=0
  inside "cd /root/gotrace && $step" >"$log" 2>&1 || result=$?
  echo "$suite: $step: status $result, $((SECONDS - began)) s, $(($(size) - before)) MB more"
  grep -E '^(Need to get|[0-9]+ passed, )' "$log" || true
  if [ $result != 0 ] || grep -E 'warning:|^FAILED|^E: |\] skipped |not in this release' "$log"; then
    status=1
    echo "the end of its output:"
    tail -n 30 "$log" | sed 's/^/    /'
  fi
done
exit $status
