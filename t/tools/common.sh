# Shared by the scripts beside this file; they run at the root of the tree.
# shellcheck shell=bash

# A make that runs these has no say in how those below run.
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

say()
{
	echo "# $*"
}

die()
{
	echo "error: $*" >&2
	exit 1
}

installed()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# complete_postgres PG_CONFIG: it has server, headers and makefiles, which
# Debian keeps in packages of their own.
complete_postgres()
{
	[ -x "$("$1" --bindir)/postgres" ] && [ -f "$("$1" --pgxs)" ] &&
		[ -f "$("$1" --includedir-server)/postgres.h" ]
}

# The newest PostgreSQL here with server and headers, or nothing.
newest_pg_config()
{
	local candidate

	for candidate in $(ls -rv /usr/lib/postgresql/*/bin/pg_config 2>/dev/null)
	do
		if complete_postgres "$candidate"
		then
			echo "$candidate"
			return
		fi
	done
}

# Sets PG_CONFIG to what was asked for or found; fails if there is none.
find_postgres()
{
	if [ -n "${PG_CONFIG:-}" ]
	then
		PG_CONFIG=$(command -v "$PG_CONFIG") || die "PG_CONFIG is set, but cannot be run"
	fi
	# Debian's wrapper is whatever has headers, be there a server or not
	if [ -z "${PG_CONFIG:-}" ] || [ "$PG_CONFIG" = /usr/bin/pg_config ]
	then
		PG_CONFIG=$(newest_pg_config)
	fi
	[ -n "$PG_CONFIG" ] && complete_postgres "$PG_CONFIG"
}

# Installs Debian packages without making or starting a cluster of them.
install_packages()
{
	local conf=/etc/postgresql-common/createcluster.conf
	local made=

	say "installing with apt-get: $*"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q </dev/null >/dev/null || say "apt-get update failed, going on"
	case " $* " in
		*" postgresql-"*)
			apt-get install -qy --no-install-recommends postgresql-common \
				</dev/null >/dev/null || die "apt-get could not install postgresql-common"
			# for as long as this takes
			if ! grep -qs '^ *create_main_cluster' "$conf"
			then
				echo 'create_main_cluster = false' >>"$conf"
				made=yes
			fi
			;;
	esac
	if ! apt-get install -qy --no-install-recommends "$@" </dev/null >/dev/null
	then
		[ -z "$made" ] || sed -i '/^create_main_cluster = false$/d' "$conf"
		die "apt-get could not install: $*"
	fi
	[ -z "$made" ] || sed -i '/^create_main_cluster = false$/d' "$conf"
}

# need_packages PACKAGE...: these and a PostgreSQL to build with are there, or
# are installed by root.  Leaves PG_CONFIG set.
need_packages()
{
	local package
	local major
	local missing=()

	if ! command -v dpkg-query >/dev/null
	then
		find_postgres || die "set PG_CONFIG to the pg_config of a PostgreSQL server with headers"
		say "not Debian: taking it that there are $*"
		return
	fi
	for package in "$@"
	do
		installed "$package" || missing+=("$package")
	done
	if ! find_postgres
	then
		major=$(ls -v /usr/lib/postgresql 2>/dev/null | tail -n 1 || true)
		major=${major:-15}
		missing+=("postgresql-$major" "postgresql-server-dev-$major")
	fi
	if [ ${#missing[@]} -gt 0 ]
	then
		[ "$(id -u)" = 0 ] || die "missing packages; as root run: apt-get install ${missing[*]}"
		install_packages "${missing[@]}"
		find_postgres || die "no PostgreSQL server with headers found"
	fi
}

# want_packages PACKAGE...: installed by root if they can be had; a test that
# needs one that is missing is skipped and says so.
want_packages()
{
	local package
	local missing=()

	[ "$(id -u)" = 0 ] && command -v dpkg-query >/dev/null || return 0
	for package in "$@"
	do
		installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] || (install_packages "${missing[@]}") ||
		say "going on without: ${missing[*]}"
}

# private_postgres FOLDER: a copy of the PostgreSQL of PG_CONFIG, which finds
# itself wherever it lies; PG_CONFIG is the copy's afterwards.
private_postgres()
{
	local folder=$1
	local bindir
	local prefix
	local part

	bindir=$("$PG_CONFIG" --bindir)
	prefix=$bindir
	for part in --pkglibdir --sharedir --includedir-server
	do
		part=$("$PG_CONFIG" "$part")
		while [ "${part#"$prefix"/}" = "$part" ]
		do
			prefix=${prefix%/*}
		done
	done
	for part in --bindir --pkglibdir --sharedir --includedir --includedir-server
	do
		part=$("$PG_CONFIG" "$part")
		part=${part#"$prefix"/}
		mkdir -p "$folder/$part"
		tar -C "$prefix/$part" --exclude=./bitcode -cf - . | tar -C "$folder/$part" -xf -
	done
	# a PostgreSQL of its own prefix has its libpq there as well
	part=$("$PG_CONFIG" --libdir)
	if [ "$prefix" != /usr ] && [ -d "$part" ]
	then
		mkdir -p "$folder/${part#"$prefix"/}"
		cp -a "$part"/lib*.so* "$folder/${part#"$prefix"/}/" 2>/dev/null || true
	fi
	PG_CONFIG=$folder/${bindir#"$prefix"/}/pg_config
	export PG_CONFIG
	[ "$("$PG_CONFIG" --bindir)" = "${PG_CONFIG%/pg_config}" ] ||
		die "the private copy of PostgreSQL does not find itself"
}

# copy_tree FOLDER: the sources as they are now, without what was built.
copy_tree()
{
	mkdir -p "$1"
	tar -cf - --exclude=./.git --exclude=./build --exclude='*.o' --exclude='*.so' \
		--exclude='*.bc' --exclude=./tmp_check . | tar -C "$1" -xf -
}

# make_scratch NAME: sets scratch to a new folder that goes when this ends.
make_scratch()
{
	scratch=$(mktemp -d "/tmp/acdat-$1.XXXXXX")
	chmod 755 "$scratch"
	trap finish EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# Once begun, cleaning up is not to be interrupted: make hands a signal on to
# those who have it already.
finish()
{
	trap '' INT TERM HUP
	stop_servers
	cleanup
}

# Scripts that start servers define their own.
stop_servers()
{
	:
}

cleanup()
{
	if [ -n "${ACDAT_KEEP:-}" ]
	then
		say "kept: $scratch"
	else
		rm -rf "$scratch"
	fi
}

# Sets user to who runs servers: root may not.
choose_user()
{
	user=$(id -un)
	if [ "$(id -u)" = 0 ]
	then
		user=nobody
		! id postgres >/dev/null 2>&1 || user=postgres
		chown -R "$user" "$scratch"
	fi
}

# as_user COMMAND...: run by that user, in the tree's copy.
as_user()
(
	cd "$scratch/tree" || exit 1
	export HOME="$scratch" TMPDIR=/tmp
	if [ "$user" = "$(id -un)" ]
	then
		exec "$@"
	fi
	exec runuser -u "$user" -- "$@"
)

# Builds the extension, with CC if that is set, and installs it in the private
# copy.
build_extension()
{
	as_user make -s -j"$(nproc)" ${CC:+CC="$CC"} PG_CONFIG="$PG_CONFIG" PG_CFLAGS="${1:-}" ${2:+SHLIB_LINK="$2"} all ||
		die "the extension does not build"
	as_user make -s PG_CONFIG="$PG_CONFIG" install >/dev/null ||
		die "the extension does not install"
}
