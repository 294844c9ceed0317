# Tests, demo, benchmark and the checks of the source.  tests/setup.sh installs the packages that
# they need.  It must run before the build looks for headers, so the build is a second make.

.PHONY: test tests demo picture bench stress lint format demo-programs

SETUP := tests/setup.sh
AGAIN = +$(Q)$(MAKE) --no-print-directory O='$(O)'

test: ## install what is missing, build, run every test; TESTS="FOLDER/NAME ..." runs some
	$(Q)$(SETUP) test
	$(AGAIN) WERROR=-Werror all demo-programs
	$(Q)O='$(abspath $(O))' CC='$(CC)' tests/run $(TESTS)

tests: ## the tests' names, each with the behaviour that it shows
	$(Q)tests/run --list

demo: ## relink two real programs from prebuilt archives, run them, show their leaks
	$(Q)$(SETUP) demo
	$(Q)$(SETUP) tool || echo 'The demo goes on without the leakwrap tool.'
	@echo 'Building leakwrap, and linking the programs with it.'
	$(AGAIN) lib tool demo-programs $(if $(filter 0,$(V)),>/dev/null)
	$(Q)O='$(abspath $(O))' CC='$(CC)' tests/demo/run

picture: ## the README's picture of the page, tests/demo/page.png
	$(Q)$(SETUP) demo tool picture
	$(AGAIN) lib tool demo-programs
	$(Q)O='$(abspath $(O))' CC='$(CC)' tests/demo/picture

bench: ## time and memory beside other tools; PARTS="grid programs ..." BENCH_QUICK=1
	$(Q)$(SETUP) bench
	$(AGAIN) all bench-programs
	$(Q)O='$(abspath $(O))' CC='$(CC)' tests/bench/run $(PARTS)

# -- the demo programs -----------------------------------------------------------------------------

# Reports name the sources from here: ./tests/demo/lua_server.c.
DEMO_CFLAGS := -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE -fno-omit-frame-pointer \
	-I/usr/include/lua5.4 -fdebug-prefix-map='$(CURDIR)'=.
DEMO_ARCHIVE_lua_server := liblua5.4.a
DEMO_ARCHIVE_sqlite_ledger := libsqlite3.a

DEMO_PROGRAMS := $(O)/demo/lua_server $(O)/demo/sqlite_ledger

demo-programs: $(DEMO_PROGRAMS) $(DEMO_PROGRAMS:=.static)

$(DEMO_PROGRAMS:=.o): $(O)/demo/%.o: tests/demo/%.c
	$(call say,CC,$<)
	$(make_folder)
	$(Q)$(CC) $(DEMO_CFLAGS) -MMD -MP -c -o $@ $<

# The archives refer to tmpnam and, in static programs, to dlopen.  glibc makes the linker warn of
# both, and the programs call neither.  So the linker's messages are shown only if it fails.
# (--no-warnings is no way: with it the linker makes a program although symbols are undefined.)
DEMO_LINK = $(CC) -o $@ $(filter %.o,$^) $$($(CC) -print-file-name=$(DEMO_ARCHIVE_$*)) \
	-lpthread -ldl $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS) -lm

$(DEMO_PROGRAMS) $(DEMO_PROGRAMS:=.static): LEAKWRAP_LIB = $(O)/libleakwrap.a

$(DEMO_PROGRAMS): $(O)/demo/%: $(O)/demo/%.o $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)$(DEMO_LINK) $(QUIETLY)

$(DEMO_PROGRAMS:=.static): $(O)/demo/%.static: $(O)/demo/%.o $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)$(DEMO_LINK) -static $(QUIETLY)

include tests/bench/bench.mk

# -- checks of the source --------------------------------------------------------------------------

SOURCE_FOLDERS := wrap wrap/* report tools tools/* tests/* tests/*/*
SOURCES = $(wildcard $(foreach folder,$(SOURCE_FOLDERS),$(folder)/*.c $(folder)/*.h))

lint: ## columns, layers, clang-format, clang-tidy, gcc -fanalyzer, cppcheck, shellcheck
	$(Q)$(SETUP) lint
	$(AGAIN) WERROR=-Werror all
	+$(Q)$(MAKE) --no-print-directory O='$(O)/lint' WERROR=-Werror PORT=bare \
		CC=arm-none-eabi-gcc AR=arm-none-eabi-ar CFLAGS_TARGET='-mcpu=cortex-m3 -mthumb' lib
	$(Q)tests/lint/run '$(O)' '$(O)/lint' '$(RUNTIME_CFLAGS)' '$(subst ',,$(TOOL_CFLAGS))'

format: ## clang-format everything
	$(Q)$(SETUP) lint
	$(Q)clang-format -i $(SOURCES)

# -- stress ----------------------------------------------------------------------------------------

.PHONY: soak
soak: ## leakwrap serve with 200 processes and 50 clients, for MINUTES=10
	$(Q)$(SETUP) test
	$(AGAIN) all
	$(Q)O='$(abspath $(O))' CC='$(CC)' tests/stress/serve $$(($(MINUTES) * 60)) 200 50

MINUTES ?= 10
SEED ?= 1

stress: ## everything at once against a model, for MINUTES=10 with SEED=1
	$(Q)$(SETUP) test
	$(AGAIN) lib
	$(Q)O='$(abspath $(O))' CC='$(CC)' tests/stress/run $$(($(MINUTES) * 15)) $(SEED)

.PHONY: stress-kinds
stress-kinds: ## dumps with kinds while 16 threads exchange blocks, for MINUTES=10
	$(Q)$(SETUP) test
	$(AGAIN) lib
	$(Q)O='$(abspath $(O))' CC='$(CC)' tests/stress/kinds $$(($(MINUTES) * 60))
