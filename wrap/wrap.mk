# The runtime archive: the core (wrap/, report/) and one member for each wrapped symbol.

.PHONY: lib
lib: $(O)/libleakwrap.a generator ## the runtime archive alone: needs a compiler and uthash.h

RUNTIME_CFLAGS := -std=gnu11 -O2 -g $(WARNINGS) -MMD -MP \
	-I. -I$(O)/include -D_GNU_SOURCE \
	-fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions \
	-fno-plt -fomit-frame-pointer -fno-lto -fno-common \
	-U_FORTIFY_SOURCE -fno-stack-protector

# On ARM the walk begins with the program's frame pointers, which gcc can be kept from using.
ifneq ($(filter arm%,$(shell $(CC) -dumpmachine)),)
FIXED_REGISTERS := -ffixed-r7 -ffixed-r11
FIXED_REGISTERS := $(shell $(CC) $(FIXED_REGISTERS) -E -x c /dev/null >/dev/null 2>&1 && echo '$(FIXED_REGISTERS)')
RUNTIME_CFLAGS += $(FIXED_REGISTERS)
endif

# All that is no entry point.  Entry points are compiled once for each symbol, below.
ENTRY_FILES := $(patsubst %,wrap/entry/%.c,$(LEAKWRAP_FAMILIES) $(LEAKWRAP_BARE_FAMILIES))
CORE_SOURCES := $(filter-out $(ENTRY_FILES) wrap/bare/%,$(wildcard wrap/*/*.c)) $(wildcard report/*.c)
CORE_NEEDS := $(O)/include/uthash.h $(O)/lacks
RUNTIME_FAMILIES := $(LEAKWRAP_FAMILIES)

LACKS := @$(O)/lacks

PORT ?= linux
ifeq ($(PORT),bare)
include wrap/bare/bare.mk
endif

CORE_OBJECTS := $(CORE_SOURCES:%.c=$(O)/%.o)

# A family of linker-flags.mk is defined in wrap/entry/FAMILY.c, each symbol under its own #ifdef.
ENTRY_OBJECTS := $(foreach family,$(RUNTIME_FAMILIES),\
	$(LEAKWRAP_SYMBOLS_$(family):%=$(O)/entry/$(family)/%.o))

# What old and small C libraries do not have, found out by linking: -DLEAKWRAP_NO_FUNCTION for each.  A compiler that
# cannot link at all tells nothing.
MAYBE_LACKING := main dl_iterate_phdr getauxval __register_atfork pthread_atfork \
	program_invocation_short_name __libc_stack_end

# The objects of another compiler are not for this archive: with it they are all made again.
BUILT_BY = $(CC) $(PORT) $(CFLAGS_TARGET)
$(CORE_OBJECTS) $(ENTRY_OBJECTS) $(O)/lacks: $(O)/built-by

.PHONY: look-again
$(O)/built-by: look-again
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(BUILT_BY)' | cmp -s - $@ || echo '$(BUILT_BY)' >$@

$(O)/lacks: wrap/wrap.mk wrap/arch/arch.h
	$(Q)mkdir -p $(@D)
	$(Q)for function in $(MAYBE_LACKING); do \
		echo "int $$function(void); int (*volatile f)(void) = $$function; int main(void) { return f == 0; }" >$@.c; \
		$(CC) -w -o $@.program $@.c >/dev/null 2>&1 && continue; \
		[ $$function != main ] || break; \
		echo "-DLEAKWRAP_NO_$$function"; \
	done >$@.tmp
	$(Q)printf '#include <ucontext.h>\nint pc(ucontext_t *c) { return (int)c->LEAKWRAP_CONTEXT_PC; }\n' >$@.c
	$(Q)$(CC) -I. -D_GNU_SOURCE -w -include wrap/arch/arch.h -fsyntax-only $@.c >/dev/null 2>&1 || \
		echo -DLEAKWRAP_NO_ucontext >>$@.tmp
	$(Q)rm -f $@.c $@.program
	$(Q)mv $@.tmp $@

UTHASH ?= $(firstword $(wildcard /usr/include/uthash.h /usr/local/include/uthash.h))

# A copy of the one header: the folder that it was found in may hold another system's headers.
$(O)/include/uthash.h: $(UTHASH)
	$(if $(UTHASH),,$(error uthash.h was not found: install it (Debian: apt-get install uthash-dev) or give UTHASH=/path/to/uthash.h))
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

$(CORE_OBJECTS): $(O)/%.o: %.c $(CORE_NEEDS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(RUNTIME_CFLAGS) $(LACKS) -c -o $@ $<

# What gcc makes of the allocation path's short loops costs more than it saves.
SHORT_LOOPS := -fno-ivopts -fno-tree-scev-cprop
SHORT_LOOPS := $(shell $(CC) -Werror $(SHORT_LOOPS) -E -x c /dev/null >/dev/null 2>&1 && echo '$(SHORT_LOOPS)')
$(O)/wrap/record/record.o $(O)/wrap/site/stack_cache.o: RUNTIME_CFLAGS += $(SHORT_LOOPS)

# malloc and its kind do so little that it counts whether they make a frame, which tells them the caller's frame pointer.  gcc says so when
# one of them needs a frame nevertheless.  Those that free only look for their caller with misuse=, and begin with a frame of their own.
FIXED_FP := -ffixed-rbp -DLEAKWRAP_FIXED_RBP
FIXED_FP := $(shell printf '\043if !defined __x86_64__ || defined __ILP32__\n\043error\n\043endif\n' | \
	$(CC) -Werror $(FIXED_FP) -E -x c - >/dev/null 2>&1 && echo '$(FIXED_FP)')
THAT_ALLOCATE := $(filter-out free% cfree _Zd%,$(LEAKWRAP_SYMBOLS_malloc) $(LEAKWRAP_SYMBOLS_cxx))

define entry_rule
$(LEAKWRAP_SYMBOLS_$(1):%=$(O)/entry/$(1)/%.o): $(O)/entry/$(1)/%.o: wrap/entry/$(1).c linker-flags.mk
	$$(call say,CC,$$< $$*)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(RUNTIME_CFLAGS) $$(SHORT_LOOPS) $$(ENTRY_CFLAGS_$(1)) $$(if $$(filter $(THAT_ALLOCATE),$$*),$$(FIXED_FP)) -DLEAKWRAP_ENTRY_$$* -c -o $$@ $$<
endef
$(foreach family,$(RUNTIME_FAMILIES),$(eval $(call entry_rule,$(family))))

# The functions of the compiler's static libraries, by language (report/origin.c).  They are listed
# again when the libraries change.
NM ?= $(shell $(CC) -print-prog-name=nm)
SYSTEM_LIBRARIES = $(wildcard $(foreach library,libc.a libstdc++.a,\
	$(shell $(CC) -print-file-name=$(library))))
ALLOCATORS := $(foreach family,$(filter-out signal exit exec dl,$(RUNTIME_FAMILIES)),\
	$(LEAKWRAP_SYMBOLS_$(family)))

$(O)/include/system_c.h $(O)/include/system_cxx.h: $(O)/include/system_%.h: \
		report/system_functions.sh $(SYSTEM_LIBRARIES) $(O)/built-by
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)CC='$(CC) $(CFLAGS_TARGET)' NM='$(NM)' \
		report/system_functions.sh $* $(ALLOCATORS) >$@.tmp
	$(Q)mv $@.tmp $@

$(O)/report/origin.o: $(O)/include/system_c.h
$(O)/report/system_cxx.o: $(O)/include/system_cxx.h
$(O)/report/origin.o $(O)/report/system_cxx.o: RUNTIME_CFLAGS += -I$(O)/include

$(O)/libleakwrap.a: $(CORE_OBJECTS) $(ENTRY_OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^
	$(Q)$(ARCHIVE_NOTE)

# -- the generator ----------------------------------------------------------------------------------
# What wraps an allocator of another name, or bakes options in, at the user's link: generate.sh, the
# headers that it compiles with, and what it must know of this runtime.  It is used from $(O), and
# from where make install puts it.

GENERATOR_HEADERS := wrap/record/record.h wrap/base/thread.h wrap/base/common.h \
	$(filter-out wrap/arch/decode%,$(wildcard wrap/arch/*.h))
GENERATOR_FILES := generate.sh wrapper.h $(GENERATOR_HEADERS) flags options

.PHONY: generator
generator: $(GENERATOR_FILES:%=$(O)/generator/%) $(O)/ldflags

$(O)/generator/generate.sh $(O)/generator/wrapper.h: $(O)/generator/%: wrap/generator/%
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

$(GENERATOR_HEADERS:%=$(O)/generator/%): $(O)/generator/%: %
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

# Those of the runtime that concern its target, and that gcc and clang have.
GENERATOR_CFLAGS = $(filter-out -std=% -W% -I% -MMD -MP -ffixed-%,$(RUNTIME_CFLAGS))
$(O)/generator/flags: $(O)/built-by wrap/wrap.mk
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(GENERATOR_CFLAGS)' >$@

# Of each option its name and its values, of each signal its name, from the tables of option_table.c.
GENERATOR_OPTIONS ?= tr '{' '\n' <$< | sed -n \
	-e 's/^"\([a-z_]*\)", [a-z_]*, "[^"]*", "\([^"]*\)".*/\1|\2/p' \
	-e 's/^"\([A-Z0-9]*\)", *SIG.*/signal \1/p'
$(O)/generator/options: wrap/runtime/option_table.c $(O)/built-by
	$(Q)mkdir -p $(@D)
	$(Q)$(GENERATOR_OPTIONS) >$@

# LEAKWRAP_LDFLAGS as a response file.
$(O)/ldflags: linker-flags.mk $(O)/built-by
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' $(RUNTIME_LDFLAGS) >$@
RUNTIME_LDFLAGS = $(LEAKWRAP_LDFLAGS)
