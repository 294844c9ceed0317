# leakwrap - see README.md.  `make help` lists the targets.
#
# CC builds the runtime (wrap/, report/) for the target, and needs only uthash.h.  HOSTCC builds the
# tool (tools/) for this machine.
#
# Debug information names the folder of the build.  Builds in two folders are the same with
# CC="gcc -ffile-prefix-map=$PWD=." and HOSTCC="cc -ffile-prefix-map=$PWD=.".

O ?= build
# One name for the folder, however it is given: by it the lists of headers (*.d) name the objects.
override O := $(patsubst $(CURDIR)/%,%,$(abspath $(O)))
# "prefix" is the name of the GNU coding standards, which many type.
PREFIX ?= $(or $(prefix),/usr/local)
DESTDIR ?=
CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
HOSTCC ?= cc
V ?= 0

# One job for each processor, unless the command line has -j.
ifeq ($(MAKELEVEL),0)
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null)
MAKEFLAGS += $(JOBS:%=-j%)
endif

ifneq ($(words $(O)),1)
$(error O='$(O)' is no folder that make can use: it takes one word, without a space)
endif

VERSION := 0.1.0

ifeq ($(V),0)
Q := @
# Make prints this itself, and makes folders once: processes take a part of the build's time.  With
# make -s it prints nothing.
say = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),,@$(info $()  $(1)	$(2)))
else
Q :=
say =
endif

# In a recipe: makes the target's folder.
make_folder = $(if $(filter $(@D),$(FOLDERS)),,$(eval FOLDERS += $(@D))$(shell mkdir -p '$(@D)'))

# In a recipe: what the command says is shown only if it fails.
QUIETLY = 2>$@.err && rm $@.err || { cat $@.err >&2; exit 1; }

# make test and make lint give WERROR=-Werror.  A user's compiler may have other warnings.
WERROR ?=
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wno-unknown-pragmas $(WERROR)

.DEFAULT_GOAL := all

# Without this, implicit rules would make programs and objects out of the dependency files.
.SUFFIXES:

include linker-flags.mk
include wrap/wrap.mk
include wrap/install.mk
-include tools/tools.mk
-include tests/tests.mk

.PHONY: all clean help

all: lib ## everything: the runtime and the tool

clean: ## remove the build folder
	$(Q)rm -rf -- $(O)

help: export LC_ALL := C
help: ## this list
	@printf 'Targets:\n'
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | sort -u | expand -t 14
	@printf 'Variables: O=build PREFIX=/usr/local DESTDIR= CC AR CROSS_COMPILE HOSTCC V=1\n'
	@printf '           PORT=bare CFLAGS_TARGET= (no operating system)\n'

# A goal in the build folder may be given by its absolute path.
ABSOLUTE_GOALS := $(filter $(CURDIR)/%,$(MAKECMDGOALS))
$(ABSOLUTE_GOALS): $(CURDIR)/%: % ;

# The tests write what they like below tests/.
-include $(filter-out $(O)/tests/%,$(wildcard $(O)/*/*.d $(O)/*/*/*.d $(O)/*/*/*/*.d))
