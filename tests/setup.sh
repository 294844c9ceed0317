#!/bin/sh
# setup.sh GROUP... - installs the Debian packages that the named groups need and that are missing.
#
# Only this file knows package names. The make targets call it. It is quick and silent if nothing is
# missing. It never removes a package. It leaves out what the system does not offer: Debian's cross
# compilers are for some hosts only.
#
# shellcheck disable=SC2086 # package lists and commands are split into words on purpose
set -eu

packages() {
	case $1 in
	lib) # the runtime
		echo libc6-dev uthash-dev
		;;
	tool) # the leakwrap tool
		packages lib
		echo g++ libdw-dev libelf-dev libjansson-dev libprotobuf-c-dev \
			protobuf-c-compiler zlib1g-dev
		# without one of these a command or a format is left out
		echo libzstd-dev libmicrohttpd-dev libncurses-dev libcurl4-openssl-dev
		# without it names of Rust and D stay mangled
		echo libiberty-dev
		;;
	demo)
		packages lib
		echo binutils liblua5.4-dev libseccomp-dev libsqlite3-dev
		;;
	picture) # a browser for the tool's page, and fonts
		echo chromium fonts-dejavu-core
		;;
	test)
		packages archives
		packages tool
		# compilers, linkers, C libraries
		echo clang lld mold musl-tools dietlibc-dev
		# cross compilers, and emulators for their programs
		echo gcc-arm-linux-gnueabihf gcc-arm-linux-gnueabi gcc-aarch64-linux-gnu
		echo gcc-riscv64-linux-gnu gcc-i686-linux-gnu
		echo libc6-dev-armhf-cross libc6-dev-armel-cross libc6-dev-arm64-cross \
			libc6-dev-riscv64-cross libc6-dev-i386-cross
		# a processor that the tracer does not know
		echo gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross
		echo qemu-user
		# cross compilers and an emulator for programs without an operating system
		echo gcc-arm-none-eabi binutils-arm-none-eabi libnewlib-arm-none-eabi
		echo qemu-system-arm \
			libstdc++-arm-none-eabi-dev libstdc++-arm-none-eabi-newlib
		# another program that walks stacks
		echo gdb
		# another program that runs traced programs
		echo valgrind
		# the build system of relinked projects
		echo cmake
		# allocators that programs bring along
		echo libjemalloc-dev libgoogle-perftools-dev libmimalloc-dev
		# readers of live data, of reports, and of compressed logs
		echo curl jq prometheus tmux zstd
		# readers of the tool's pages, profiles and manual, a fuzzer, and a debuginfod
		# server
		packages picture
		echo golang-go mandoc libclang-rt-dev debuginfod
		;;
	archives) # more prebuilt archives than the demo has
		packages demo
		echo pkg-config libglib2.0-dev libssl-dev libxml2-dev
		# whose error paths are tested
		echo libexpat1-dev libjson-c-dev libpng-dev libyaml-dev zlib1g-dev
		;;
	lint)
		packages archives
		packages tool
		echo clang-format clang-tidy cppcheck shellcheck gcc-arm-none-eabi \
			libnewlib-arm-none-eabi
		echo libpng-dev libunwind-dev # headers of the benchmark
		;;
	bench)
		packages archives
		packages tool # the benchmark measures it, too
		echo libpng-dev
		# the tracers to compare with
		echo liblsan0 heaptrack valgrind libgoogle-perftools4 libjemalloc2 libunwind-dev
		;;
	*)
		echo "setup.sh: no group '$1';" \
			"there are: lib tool demo picture archives test lint bench" >&2
		exit 2
		;;
	esac
}

[ $# -gt 0 ] || {
	echo "usage: setup.sh GROUP..." >&2
	exit 2
}
wanted=$(for group; do packages "$group"; done)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "setup: not a Debian system; this needs what Debian calls:" $wanted
	exit 0
fi

# Each package is listed by its wanted name and, if installed, a second time: a name that stands
# once is missing.
missing=$({
	printf '%s\n' $wanted | sort -u
	dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' $wanted 2>/dev/null |
		sed -n 's/^installed \([^:]*\).*/\1/p' | sort -u
} | sort | uniq -u)
[ -n "$missing" ] || exit 0
# A host's own compiler has the name of a cross compiler, too.
provided=$(dpkg-query -W -f '${db:Status-Status} ${Provides}\n' | sed -n 's/^installed //p' |
	tr ',' '\n' | sed 's/^ *//; s/[ :].*//' | sort -u)
missing=$(printf '%s\n' $missing $provided $provided | sort | uniq -u)
[ -n "$missing" ] || exit 0
set -- $missing

# leave_out PACKAGE...: names those that apt-get cannot install, and sets $offered to the others.
# Ends the script if there are none.
leave_out() {
	left_out=$(LC_ALL=C apt-get install -s --no-install-recommends "$@" 2>&1 |
		sed -n "s/^E: Unable to locate package //p
			s/^E: Package '\(.*\)' has no installation candidate\$/\1/p")
	[ -z "$left_out" ] || echo "setup: this system does not offer" $left_out
	offered=$(printf '%s\n' "$@" $left_out | sort | uniq -u)
	[ -n "$offered" ] || exit 0
}

install="apt-get install -y --no-install-recommends --no-remove"
if [ "$(id -u)" = 0 ]; then
	as_root="env DEBIAN_FRONTEND=noninteractive"
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
	as_root="sudo env DEBIAN_FRONTEND=noninteractive"
else
	# Without the package lists it knows none.
	[ -z "$(find /var/lib/apt/lists -name '*_Packages*' 2>/dev/null)" ] || leave_out "$@"
	echo "setup: packages are missing, and root must install them:" >&2
	echo "  $install ${offered:-$*}" | tr '\n' ' ' >&2
	echo >&2
	exit 1
fi

echo "setup: installing $*"
if ! $as_root $install "$@" >/dev/null 2>&1; then
	# The package lists are missing or old.
	$as_root apt-get update -q >/dev/null || true
	leave_out "$@"
	set -- $offered
	$as_root $install "$@" >/dev/null || {
		echo "setup: could not install them; the command was: $install $*" >&2
		exit 1
	}
fi
