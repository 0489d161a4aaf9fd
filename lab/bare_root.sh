#!/bin/sh
# Runs the README's two commands in a new Debian root that has only what the README asks for.
set -eu
[ "$(id -u)" = 0 ] || exec sudo "$0" "$@"
command -v debootstrap >/dev/null || { apt-get update --quiet && apt-get install --yes --quiet debootstrap; }
release=${1:-bookworm}
root=$(mktemp -d)
trap 'umount "$root/proc" "$root/dev/shm" 2>/dev/null; rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase --include=ca-certificates,git,make,python3,python3-venv "$release" "$root"
git clone --quiet . "$root/sweepapi"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm" && mount -t tmpfs tmpfs "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/resolv.conf"
for command in demo test; do
    chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin make -C /sweepapi "$command"
done
