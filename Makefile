# acdat_bgw: multi-pattern matching with one shared machine per cluster
#
#   make, make install      build and install for PG_CONFIG
#   make check              everything: builds, unit tests, regression,
#                           isolation and TAP tests on private servers
#   make demo               the whole path on a private server
#   make cli                the acdat command, build/acdat
#
# check and demo touch neither the system's clusters nor its PostgreSQL.

MODULE_big = acdat_bgw
EXTENSION = acdat_bgw
DATA = $(wildcard sql/acdat_bgw--*.sql)
PGFILEDESC = "acdat_bgw - multi-pattern matching with shared dictionaries"

CORE_SOURCES = $(sort $(wildcard src/core/*.c))
OBJS = $(CORE_SOURCES:.c=.o) \
	$(patsubst %.c,%.o,$(sort $(wildcard shmem/*.c))) \
	$(patsubst %.c,%.o,$(sort $(wildcard src/*.c)))

PG_CPPFLAGS = -I$(srcdir)
SHLIB_LINK = -lutf8proc
with_llvm = no

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
override with_llvm = no
