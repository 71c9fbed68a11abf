# Systems with other versions of the server, each in a Debian of its own below
# the cache folder; for scripts that have read common.sh and run as root.
#
#   ACDAT_CACHE      folder of these systems, 0.7 GB each (default acdat_bgw in
#                    XDG_CACHE_HOME or ~/.cache)
#
# Packages come from where this machine takes its own.
# shellcheck shell=bash

# own_namespaces COMMAND...: run it where mounts and processes are its own, so
# that nothing of it is left whichever way this ends.  Returns at once if that
# is so already; else sets reason, and fails, if it cannot be done.
own_namespaces()
{
	[ -z "${ACDAT_OWN_NAMESPACE:-}" ] || return 0
	reason="it needs root"
	[ "$(id -u)" = 0 ] || return
	reason="this machine makes no name spaces"
	unshare --mount --pid --ipc --fork true 2>/dev/null || return
	ACDAT_OWN_NAMESPACE=yes unshare --mount --pid --ipc --fork --kill-child "$@" </dev/null &
	# it is the first process of its name space: all others go with it
	trap 'kill -KILL $!; exit 130' INT
	trap 'kill -KILL $!; exit 143' TERM HUP
	wait $!
	exit
}

cache=${ACDAT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/acdat_bgw}
tools=(gcc make libc6-dev libutf8proc-dev libcmocka-dev libxxhash-dev libipc-run-perl)
logs=$PWD/build/versions

# Which Debian has a version; two names: the second is laid over the first.
suites_of()
{
	case $1 in
		17) echo "trixie" ;;
		18) echo "forky" ;;
		19) echo "sid experimental" ;;
		*) return 1 ;;
	esac
}

# Where this machine takes Debian's packages from, or nothing.
mirror_of_machine()
{
	local codename

	command -v apt-get >/dev/null || return 0
	# shellcheck disable=SC1091
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 2>/dev/null |
		awk -v codename="$codename" '$2 == codename && $3 == "main" { print $1; exit }'
}

# in_chroot ROOT COMMAND...: with that, after mount_chroot, as the root of all
# mounts: a process that has changed its root alone may not make name spaces,
# as one test does.
in_chroot()
{
	# shellcheck disable=SC2016
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive ${ACDAT_KEEP:+ACDAT_KEEP="$ACDAT_KEEP"} \
		unshare --mount sh -ec 'mount --rbind "$1" "$1"
			cd "$1"
			pivot_root . mnt
			cd /
			umount -l /mnt
			shift
			exec "$@"' sh "$@" </dev/null
}

mount_chroot()
{
	mount -t proc proc "$1/proc"
	mkdir -p "$1/dev/shm"
	mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
	mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
}

unmount_chroot()
{
	umount -l "$1/tmp" "$1/dev/shm" "$1/proc"
}

# How dpkg and apt behave in a new system: no clusters, no manuals.
configure_chroot()
{
	local root=$1
	local suite

	shift
	mkdir -p "$root/etc/postgresql-common"
	echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.conf"
	printf 'path-exclude=/usr/share/%s/*\n' doc man locale info \
		>"$root/etc/dpkg/dpkg.cfg.d/acdat"
	echo force-unsafe-io >>"$root/etc/dpkg/dpkg.cfg.d/acdat"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod 755 "$root/usr/sbin/policy-rc.d"
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	apt-config dump | grep -iE '^Acquire::(http|https|ftp)::' \
		>"$root/etc/apt/apt.conf.d/90machine" || true
	printf '%s\n' 'Acquire::Check-Valid-Until "false";' 'Acquire::Retries "2";' \
		'Acquire::http::Timeout "60";' >>"$root/etc/apt/apt.conf.d/90machine"
	for suite in "$@"
	do
		echo "deb $mirror $suite main"
	done >"$root/etc/apt/sources.list"
}

# A server with what builds extensions.  The headers' package is only
# unpacked: it would bring in all of LLVM.
install_server()
{
	local root=$1
	local major=$2
	local suite=$3

	in_chroot "$root" apt-get update -q &&
	in_chroot "$root" apt-get install -qy --no-install-recommends "${tools[@]}" &&
	in_chroot "$root" apt-get install -qy --no-install-recommends \
		"postgresql-$major" "libpq5/$suite" &&
	in_chroot "$root" bash -c "cd /root &&
		apt-get download postgresql-server-dev-$major libpq-dev/$suite &&
		for package in *.deb; do dpkg-deb -x \"\$package\" /; done && rm -- *.deb && apt-get clean"
}

# make_chroot MAJOR: its system, complete or not there at all.
make_chroot()
{
	local major=$1
	local root=$cache/$major
	local new=$cache/$major.new
	local suites

	read -ra suites <<<"$(suites_of "$major")"
	rm -rf --one-file-system "$root" "$new"
	# a suite newer than debootstrap is made as every other
	timeout 900 debootstrap --variant=minbase "${suites[0]}" "$new" "$mirror" \
		/usr/share/debootstrap/scripts/sid || return
	configure_chroot "$new" "${suites[@]}" || return
	mount_chroot "$new" || return
	install_server "$new" "$major" "${suites[-1]}" || return
	unmount_chroot "$new" || return
	mv "$new" "$root"
}

# have_chroot MAJOR: it is there, made now if need be; else sets reason.
have_chroot()
{
	local major=$1

	mkdir -p "$cache" "$logs"
	[ ! -x "$cache/$major/usr/lib/postgresql/$major/bin/postgres" ] || return 0
	if ! suites_of "$major" >/dev/null
	then
		reason="no suite has it"
		return 1
	fi
	mirror=$(mirror_of_machine)
	if [ -z "$mirror" ]
	then
		reason="no mirror of Debian"
		return 1
	fi
	if ! command -v debootstrap >/dev/null
	then
		(install_packages debootstrap) || true
	fi
	say "making a system with PostgreSQL $major in $cache"
	# set -e is off in conditions: each step above says so itself
	if ! make_chroot "$major" >"$logs/$major.make.log" 2>&1
	then
		tail -n 3 "$logs/$major.make.log" | sed 's/^/#   /'
		reason="cannot be installed, see $logs/$major.make.log"
		return 1
	fi
}

# scratch_systems NAME: room for fresh systems, in memory, gone when this ends;
# sets work to its folder and log to what step writes to.
scratch_systems()
{
	log=$logs/$1.log
	: >"$log"
	work=$(mktemp -d)
	trap 'rmdir "$work"' EXIT
	mount -t tmpfs tmpfs "$work"
	trap 'umount -l "$work"; rmdir "$work"' EXIT
}

# fresh_system NAME: sets root to a system like that with PostgreSQL $major in
# the cache, which it leaves alone.
fresh_system()
{
	root=$work/$1/root
	mkdir -p "$root" "$work/$1/upper" "$work/$1/work"
	mount -t overlay overlay \
		-o "lowerdir=$cache/$major,upperdir=$work/$1/upper,workdir=$work/$1/work" "$root" &&
		mount_chroot "$root"
}

# step WHAT COMMAND...: with its output in the log, shown only if it fails.
step()
{
	say "$1"
	"${@:2}" >>"$log" 2>&1 && return
	tail -n 30 "$log"
	die "$1: failed, see $log"
}
