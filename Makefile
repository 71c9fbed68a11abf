# acdat_bgw: dictionaries of words, compiled once and shared by the cluster
#
#   make, make install  build and install for PG_CONFIG
#   make installcheck   SQL tests of what is installed, on a server of its own;
#                       not as root
#   make check          everything, on private servers; prove's lines come last
#   make demo           the whole path, shown on a private server
#   make cli            the acdat command: build/acdat
#   make unit           unit tests of the core
#   make unit-sanitize  the same with address and undefined-behaviour sanitizers
#   make check-core     proof that the core knows nothing of PostgreSQL
#   make nm-check       proof that no foreign symbol is exported
#   make check-versions the tests that need a server, on other versions (root)
#   make check-faults   processes that fail and die at every step of the way
#   make check-arm64    the unit tests of the core on arm64 (qemu), everything
#                       compiled for it; check-i386 is the same for 32 bits
#   make check-deb      a Debian package, made, installed and shown (root)
#   make check-rpm      RPM packages, made from t/tools/acdat_bgw.spec (root)
#   make check-warnings proof that gcc and clang find nothing to warn of
#   make dist           the committed sources as build/acdat_bgw-VERSION.zip
#   make coverage       line coverage of make check: build/coverage
#   make fuzz           fuzz the core, FUZZ_SECONDS each
#
# check, demo and coverage take what they lack from apt when run by root, and
# touch neither the system's clusters nor its PostgreSQL.

MODULE_big = acdat_bgw
EXTENSION = acdat_bgw
DATA = $(sort $(wildcard sql/acdat_bgw--*.sql))
# all extensions' documents are installed into one folder
PGFILEDESC = "acdat_bgw - dictionaries of words, shared by the cluster"

CORE_SOURCES = $(sort $(wildcard src/core/*.c))
CLI_SOURCES = $(sort $(wildcard src/cli/*.c))
OBJS = $(CORE_SOURCES:.c=.o) \
	$(patsubst %.c,%.o,$(sort $(wildcard shmem/*.c))) \
	$(patsubst %.c,%.o,$(sort $(wildcard src/*.c)))
ALL_HEADERS = $(wildcard src/core/*.h shmem/*.h src/*.h src/cli/*.h t/unit/*.h)

PG_CONFIG ?= pg_config

# Goals that need no PGXS here: a fresh machine may not have it yet.
OWN_GOALS = check demo cli unit unit-sanitize unit-programs check-core coverage fuzz bench check-versions \
	check-faults check-warnings check-arm64 check-i386 check-deb check-rpm dist
asked = $(filter $(OWN_GOALS) build/%,$(MAKECMDGOALS))

ifeq (,$(asked))

PG_CPPFLAGS = -I$(srcdir)
SHLIB_LINK = -lutf8proc
EXTRA_CLEAN = build

# What a server without the library answers is for make check alone.
REGRESS = $(filter-out no_preload,$(patsubst t/sql/%.sql,%,$(sort $(wildcard t/sql/*.sql))))
ISOLATION = $(patsubst t/specs/%.spec,%,$(sort $(wildcard t/specs/*.spec)))
server_of_its_own = --inputdir=t --temp-instance=tmp_check --encoding=UTF8 --no-locale \
	--temp-config=$(CURDIR)/t/conf/acdat_bgw.conf --load-extension=acdat_bgw
REGRESS_OPTS = $(server_of_its_own)
ISOLATION_OPTS = $(server_of_its_own)

# Debian's server is built with LLVM, but its bitcode would need clang.
override with_llvm = no

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(OBJS): $(ALL_HEADERS)

nm-check: all
	prove t/002_symbols.pl

.PHONY: nm-check

else ifneq ($(words $(asked)),$(words $(MAKECMDGOALS)))

# A mixture: each goal in a make of its own, in order.
.NOTPARALLEL:
.PHONY: $(MAKECMDGOALS)
$(MAKECMDGOALS):
	$(MAKE) $@

else

CORE_WARNINGS = -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror
CORE_CFLAGS = -O2 -g
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
SANITIZED_CFLAGS = -O1 -g $(SANITIZERS)

UNIT_NAMES = $(patsubst t/unit/%.c,%,$(sort $(wildcard t/unit/test_*.c)))
UNIT_COMMON = $(wildcard t/unit/oracle.c t/unit/cases.c)

PLAIN_CORE = $(CORE_SOURCES:%.c=build/plain/%.o)
PLAIN_UNIT = $(UNIT_COMMON:%.c=build/plain/%.o)
SANITIZED_CORE = $(CORE_SOURCES:%.c=build/sanitized/%.o)
SANITIZED_UNIT = $(UNIT_COMMON:%.c=build/sanitized/%.o)
UNIT_PLAIN = $(UNIT_NAMES:%=build/unit/%)
UNIT_SANITIZED = $(UNIT_NAMES:%=build/unit/%_sanitized)

.SECONDARY:
.PHONY: $(OWN_GOALS)

check:
	t/tools/check

demo:
	t/tools/demo

coverage:
	ACDAT_COVERAGE=build/coverage t/tools/check

bench:
	bench/run

check-faults:
	ACDAT_FAULTS=yes t/tools/check t/040_faults.pl

check-warnings:
	t/tools/warnings

check-arm64 check-i386: check-%:
	t/tools/cross $*

check-deb check-rpm: check-%:
	t/tools/$*

# What PGXN takes: version and all else are in META.json.
dist:
	@mkdir -p build
	version=$$(sed -n 's/^  "version": "\(.*\)",$$/\1/p' META.json) && \
		git archive --format=zip --prefix=acdat_bgw-$$version/ \
			-o build/acdat_bgw-$$version.zip HEAD

check-core:
	prove t/001_core.pl

cli: build/acdat

# Programs are cmocka's: each prints TAP and is a test of its own.  Besides,
# the table of cases for t/008_cases.pl.
unit-programs: $(UNIT_PLAIN) $(UNIT_SANITIZED) build/tools/print_cases

unit: $(UNIT_PLAIN)
	prove --timer -e '' $^

unit-sanitize: $(UNIT_SANITIZED)
	prove --timer -e '' $^

build/acdat: $(CLI_SOURCES:%.c=build/plain/%.o) $(PLAIN_CORE)
	$(CC) $(CORE_CFLAGS) $^ -lutf8proc -o $@

build/unit/%_sanitized: build/sanitized/t/unit/%.o $(SANITIZED_UNIT) $(SANITIZED_CORE)
	@mkdir -p $(@D)
	$(CC) $(SANITIZED_CFLAGS) $^ -lcmocka -lutf8proc -o $@

build/unit/%: build/plain/t/unit/%.o $(PLAIN_UNIT) $(PLAIN_CORE)
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $^ -lcmocka -lutf8proc -o $@

build/tools/print_cases: build/plain/t/unit/print_cases.o build/plain/t/unit/cases.o $(PLAIN_CORE)
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $^ -lutf8proc -o $@

build/plain/src/core/%.o build/sanitized/src/core/%.o: CORE_WARNINGS += -Wconversion -Wshadow

build/plain/%.o: %.c $(ALL_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CORE_WARNINGS) $(CORE_CFLAGS) -I. -c $< -o $@

build/sanitized/%.o: %.c $(ALL_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CORE_WARNINGS) $(SANITIZED_CFLAGS) -I. -c $< -o $@

# Fuzzers: t/fuzz/fuzz_NAME.c is a libFuzzer target, t/fuzz/NAME/ its corpus.
FUZZ_SECONDS = 60
FUZZ_NAMES = $(patsubst t/fuzz/%.c,%,$(sort $(wildcard t/fuzz/fuzz_*.c)))

fuzz: $(FUZZ_NAMES:%=build/fuzz/%)
	t/tools/fuzz $(FUZZ_SECONDS) $^

build/fuzz/%: t/fuzz/%.c $(UNIT_COMMON) $(CORE_SOURCES) $(ALL_HEADERS)
	@mkdir -p $(@D)
	clang $(CORE_WARNINGS) -O1 -g -fsanitize=fuzzer,address,undefined -I. \
		$(filter %.c,$^) -lutf8proc -o $@

# Other versions of the server, each in a Debian of its own.
VERSIONS = 17 18 19

check-versions:
	t/tools/versions $(VERSIONS)

endif
