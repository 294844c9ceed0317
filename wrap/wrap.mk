# The runtime archive: the core (wrap/, report/) and one member for each wrapped symbol.

.PHONY: lib
lib: process $(O)/libleakwrap.a generator
lib: ## the runtime archive alone: needs a compiler and uthash.h

# if_accepted FLAGS: FLAGS if the compiler accepts them, otherwise nothing.
if_accepted = $(shell $(CC) -Werror $(1) -E -x c /dev/null >/dev/null 2>&1 && echo '$(1)')

# In some locales [a-z] has not all letters of ASCII, in the Turkish one no i: recipes that read by
# such ranges have LC_ALL=C.

# The tests build some runtimes without it: that saves a sixth of the compiler's time.
DEBUG_INFO := -g

RUNTIME_CFLAGS := -std=gnu11 -O2 $(DEBUG_INFO) $(WARNINGS) -MMD -MP \
	-I. -I$(O)/include -D_GNU_SOURCE \
	-fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions \
	-fno-plt -fomit-frame-pointer -fno-lto -fno-common \
	-U_FORTIFY_SOURCE -fno-stack-protector

# On ARM the walk begins with the program's frame pointers, so the runtime must not change these
# registers.  clang does not have the flags.  There the walk begins in the runtime.  LEAKWRAP_CALLER
# needs the return address beside the saved frame pointer.
ifneq ($(filter arm%,$(shell $(CC) -dumpmachine)),)
FIXED_REGISTERS := -ffixed-r7 -ffixed-r11
# In Thumb-1 code gcc restores r8 to r10 by way of r7, also with -ffixed-r7.  So the runtime is ARM
# code where the processor has no Thumb-2.
ARM_CODE := $(shell \
	printf '\043if __ARM_ARCH_ISA_THUMB != 1 || !__ARM_ARCH_ISA_ARM\n\043error\n\043endif\n' | \
	$(CC) -E -x c - >/dev/null 2>&1 && echo -marm)
RUNTIME_CFLAGS += $(ARM_CODE)
endif
# On AArch64 a program with a shadow call stack keeps its address in this register.
ifneq ($(filter aarch64%,$(shell $(CC) -dumpmachine)),)
FIXED_REGISTERS := -ffixed-x18
endif
FIXED_REGISTERS := $(if $(FIXED_REGISTERS),$(or $(call if_accepted,$(FIXED_REGISTERS)),\
	$(if $(filter -ffixed-r7,$(FIXED_REGISTERS)),-fno-omit-frame-pointer)))
RUNTIME_CFLAGS += $(FIXED_REGISTERS)

# Assembler code of a program may call malloc while the stack is not aligned to 16 bytes.  The C
# library's allocator bears that.  Instructions of SSE that store to the stack would not, so the
# runtime has none.  asprintf passes on floating-point numbers, which are in SSE's registers.
# __NO_INLINE__ leaves out glibc's inline atof, which gcc before 11 refuses then.
ifneq ($(filter x86_64-% i386-% i486-% i586-% i686-%,$(shell $(CC) -dumpmachine)),)
GENERAL_REGISTERS := $(call if_accepted,-mgeneral-regs-only -D__NO_INLINE__)
RUNTIME_CFLAGS += $(GENERAL_REGISTERS)
endif

# Without SSE gcc clears and copies small structures by "rep stos" and "rep movs", which take long
# to begin.
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
STRATEGY := unrolled_loop:256:noalign,rep_8byte:8192:noalign,libcall:-1:noalign
STRATEGIES := -mmemset-strategy=$(STRATEGY) -mmemcpy-strategy=$(STRATEGY)
STRATEGIES := $(call if_accepted,$(STRATEGIES))
RUNTIME_CFLAGS += $(STRATEGIES)
endif
TAKES_FLOATS := asprintf __asprintf __asprintf_chk

# The core is all but the entry points.  These are compiled once for each symbol, below.
ENTRY_FILES := $(patsubst %,wrap/entry/%.c,$(LEAKWRAP_FAMILIES) $(LEAKWRAP_BARE_FAMILIES))
CORE_SOURCES := $(filter-out $(ENTRY_FILES) wrap/bare/%,$(wildcard wrap/*/*.c report/*.c))
CORE_NEEDS := $(O)/include/uthash.h $(O)/lacks
RUNTIME_FAMILIES := $(LEAKWRAP_FAMILIES)

LACKS := @$(O)/lacks

# The macro by which compilers for the port are known, and what to say of others.
PORT_MACRO := __linux__
PORT_REFUSAL := does not compile for Linux; without an operating system give PORT=bare

PORT ?= linux
ifeq ($(PORT),bare)
include wrap/bare/bare.mk
endif

CORE_OBJECTS := $(CORE_SOURCES:%.c=$(O)/%.o)

# A family of linker-flags.mk is defined in wrap/entry/FAMILY.c, each symbol under its own #ifdef.
ENTRY_OBJECTS := $(foreach family,$(RUNTIME_FAMILIES),\
	$(LEAKWRAP_SYMBOLS_$(family):%=$(O)/entry/$(family)/%.o))

# The functions that a dynamic program exports in place of the C library's (entry/export.h).
PROCESS_SYMBOLS := malloc free calloc realloc memalign aligned_alloc posix_memalign valloc pvalloc

# $(O)/lacks has -DLEAKWRAP_NO_FUNCTION for each function that the C library does not have.  If
# a link with all of them fails, a link with each of them tells.  If the compiler cannot link "main"
# either, no function counts as lacking.  Two structures may lack members, too.
#
# It has -DLEAKWRAP_FREES_REMAINDERS if malloc or memalign frees the remainder of a block that it
# has split by the public free: uClibc-ng's allocators do.  The linker tells.
MAYBE_LACKING := dl_iterate_phdr getauxval __register_atfork pthread_atfork \
	program_invocation_short_name __libc_stack_end at_quick_exit \
	$(PROCESS_SYMBOLS)

# With another compiler or target than the last time, all objects are made again.
BUILT_BY = $(CC) $(PORT) $(CFLAGS_TARGET) $(GENERAL_REGISTERS) $(FIXED_REGISTERS) $(ARM_CODE)
$(CORE_OBJECTS) $(ENTRY_OBJECTS) $(O)/lacks: $(O)/built-by

.PHONY: look-again
$(O)/built-by: look-again
	$(make_folder)
	$(Q)! macros=$$($(CC) $(CFLAGS_TARGET) -dM -E -x c /dev/null 2>/dev/null) || \
		case $$macros in *' $(PORT_MACRO) '*) ;; *) \
			echo 'leakwrap: $(CC) $(PORT_REFUSAL)' >&2; \
			exit 1 ;; \
		esac
	$(Q)echo '$(BUILT_BY)' | cmp -s - $@ || echo '$(BUILT_BY)' >$@

# links FUNCTION...: links a program with the functions and $libraries, and returns whether that
# succeeds.  $@.errors has the linker's messages.
LINKS = links() { \
		{ for name; do echo "int $$name(void); int (*volatile f_$$name)(void) = $$name;"; \
			done; \
			echo 'int main(void) { return 0'; printf ' | !f_%s' "$$@"; echo '; }'; \
		} >$@.c; \
		LC_ALL=C $(CC) -w -o $@.program $@.c $$libraries >$@.errors 2>&1; \
	}; libraries=

$(O)/lacks: wrap/wrap.mk wrap/arch/arch.h
	$(make_folder)
	$(Q)$(LINKS); { links $(MAYBE_LACKING) || for function in main $(MAYBE_LACKING); do \
		links $$function && continue; \
		[ $$function != main ] || break; \
		echo "-DLEAKWRAP_NO_$$function"; \
	done; } >$@.tmp
	$(Q)printf '#include <%s>\n' ucontext.h >$@.c
	$(Q)echo 'int pc(ucontext_t *c) { return (int)c->LEAKWRAP_CONTEXT_PC; }' >>$@.c
	$(Q)$(CC) -I. -D_GNU_SOURCE -w -include wrap/arch/arch.h -fsyntax-only $@.c \
		>/dev/null 2>&1 || echo -DLEAKWRAP_NO_ucontext >>$@.tmp
	$(Q)echo 'unsigned long long subs(struct dl_phdr_info *i) { return i->dlpi_subs; }' >$@.c
	$(Q)$(CC) -D_GNU_SOURCE -w -include stddef.h -include link.h -fsyntax-only $@.c \
		>/dev/null 2>&1 || echo -DLEAKWRAP_NO_dlpi_subs >>$@.tmp
	$(Q)$(LINKS)"-static -Wl$(leakwrap_comma)--trace-symbol=free"; links memalign || :; \
		! grep -q '[(]\(malloc\|memalign\)[.].*reference to free$$' $@.errors || \
		echo -DLEAKWRAP_FREES_REMAINDERS >>$@.tmp
	$(Q)rm -f $@.c $@.program $@.errors
	$(Q)mv $@.tmp $@

UTHASH ?= $(firstword $(wildcard /usr/include/uthash.h /usr/local/include/uthash.h))

# Only a copy of uthash.h is included: its folder may hold headers of another system.
$(O)/include/uthash.h: $(UTHASH)
	$(if $(UTHASH),,$(error uthash.h was not found: install it \
		(Debian: apt-get install uthash-dev) or give UTHASH=/path/to/uthash.h))
	$(make_folder)
	$(Q)cp $< $@

$(CORE_OBJECTS): $(O)/%.o: %.c $(CORE_NEEDS)
	$(call say,CC,$<)
	$(make_folder)
	$(Q)$(CC) $(RUNTIME_CFLAGS) $(LACKS) -c -o $@ $<

# gcc's loop optimizations cost the short loops of the fast path more than they save, and so
# does the padding before a loop, which is executed.
SHORT_LOOPS := $(call if_accepted,-fno-ivopts -fno-tree-scev-cprop -fno-align-loops)
$(O)/wrap/record/allocate.o $(O)/wrap/site/stack_cache.o: RUNTIME_CFLAGS += $(SHORT_LOOPS)

# The rules for pointers into blocks wait for memory.  With -O2 they are a fifth larger and take
# twice as long to compile, and a search is not faster.
$(O)/wrap/reach/interior.o: RUNTIME_CFLAGS := $(RUNTIME_CFLAGS:-O2=-O1)

# An entry point that allocates needs the caller's frame pointer.  With -ffixed-rbp %rbp still holds
# it, and the entry point need not make a frame, which would cost much of its time.  gcc ends with
# an error if the function needs a frame nevertheless.  An entry point that frees needs its caller
# only with the option misuse=, and makes a frame.
FIXED_FP := -ffixed-rbp -DLEAKWRAP_FIXED_RBP
FIXED_FP := $(shell \
	printf '\043if !defined __x86_64__ || defined __ILP32__\n\043error\n\043endif\n' | \
	$(CC) -Werror $(FIXED_FP) -E -x c - >/dev/null 2>&1 && echo '$(FIXED_FP)')
ALLOCATING_SYMBOLS := $(filter-out free% cfree _Zd%,\
	$(LEAKWRAP_SYMBOLS_malloc) $(LEAKWRAP_SYMBOLS_cxx))

define entry_rule
$(LEAKWRAP_SYMBOLS_$(1):%=$(O)/entry/$(1)/%.o): $(O)/entry/$(1)/%.o: \
		wrap/entry/$(1).c linker-flags.mk $(O)/lacks
	$$(call say,CC,$$< $$*)
	$$(make_folder)
	$$(Q)$$(CC) $$(filter-out $$(if $$(filter $$(TAKES_FLOATS),$$*),$$(GENERAL_REGISTERS)),\
			$$(RUNTIME_CFLAGS)) \
		$$(SHORT_LOOPS) $$(ENTRY_CFLAGS_$(1)) \
		$$(if $$(filter $(ALLOCATING_SYMBOLS),$$*),$$(FIXED_FP)) \
		$$(LACKS) -DLEAKWRAP_ENTRY_$$* -c -o $$@ $$<
endef
$(foreach family,$(RUNTIME_FAMILIES),$(eval $(call entry_rule,$(family))))

# -- every wrapper ---------------------------------------------------------------------------------
# lld does not look for the wrapper of a function that the link defines weakly (LEAKWRAP_LLD_LDFLAGS
# in linker-flags.mk).  The member every_c refers to the wrappers of all functions of the C library,
# and every_cxx to those of the C++ library.  A function that the library lacks is left out: its
# wrapper would not link.  That of cfree would.
#
# every_cxx also refers to the functions themselves.  Before version 14, lld does not look for a
# function in an archive if only its wrapper calls it.  A program with -static-libstdc++ would not
# start.

EVERY_OBJECTS := $(O)/every_c.o $(O)/every_cxx.o
EVERY_c := $(filter-out $(LEAKWRAP_SYMBOLS_cxx),$(LEAKWRAP_SYMBOLS))
EVERY_cxx := $(LEAKWRAP_SYMBOLS_cxx)

# keep_linking FUNCTION...: prints those of the functions that link.  Linkers do not name all that
# are undefined at once.
KEEP_LINKING = $(LINKS); keep_linking() { \
		until links "$$@"; do \
			lacking=" $$(sed -n -e "s/.*undefined reference to [\`']//p" \
				-e "s/.*undefined symbol:* *[\`']*//p" $@.errors | \
				sed 's/[^A-Za-z0-9_].*//' | tr '\n' ' ')"; \
			before=$$\#; \
			for name; do \
				shift; \
				case $$lacking in *" $$name "*) continue ;; esac; \
				set -- "$$@" "$$name"; \
			done; \
			[ $$\# -lt $$before ] && [ $$\# -gt 0 ] || return 0; \
		done; \
		echo "$$@"; \
	}

# The list is empty if the compiler cannot link "main" either.  That of the C++ library also is if
# no function of it links, as with dietlibc.
$(O)/every_%.c: export LC_ALL := C
$(O)/every_%.c: linker-flags.mk wrap/wrap.mk $(O)/built-by
	$(call say,GEN,$@)
	$(Q)$(KEEP_LINKING); symbol=leakwrap_every_$*; \
	libraries=$(if $(filter cxx,$*),"-Wl$(leakwrap_comma)--no-demangle -lstdc++"); \
	linking=$$(keep_linking $(EVERY_$*)); \
	[ -n "$(filter cxx,$*)$$linking" ] || { cp $@.errors $@.tmp; ! links main; } || { \
		echo 'leakwrap: the messages of $(CC) do not tell what cannot be linked:' >&2; \
		head -n 5 $@.tmp >&2; \
		exit 1; \
	}; \
	{ \
		echo "extern const char $$symbol; const char $$symbol = 1;"; \
		for name in $$linking $(filter cfree,$(EVERY_$*)); do \
			echo "__asm__(\".globl __wrap_$$name\");"; \
			$(if $(filter cxx,$*),echo "__asm__(\".globl $$name\");";) \
		done; \
	} >$@.tmp
	$(Q)rm -f $@.c $@.program $@.errors
	$(Q)mv $@.tmp $@

$(EVERY_OBJECTS): %.o: %.c
	$(call say,CC,$<)
	$(Q)$(CC) $(RUNTIME_CFLAGS) -c -o $@ $<

# -- the process variants --------------------------------------------------------------------------
# -lleakwrap_process is the archive of the process variants in a dynamic link, and nothing in a
# static link: with -static the linkers take libNAME.a, otherwise libNAME.so.  The latter is a
# linker script that names the archive.

PROCESS := $(O)/process
PROCESS_FILES := $(addprefix $(PROCESS)/,\
	libleakwrap_process.so libleakwrap_process.a libleakwrap_process_members.a \
	libleakwrap_apart.so libleakwrap_apart.a \
	keep_allocator.o)
.PHONY: process
process: $(if $(filter bare,$(PORT)),,$(PROCESS_FILES))

# What a program of this project is linked with.
LINKED_RUNTIME := $(O)/libleakwrap.a $(PROCESS_FILES) linker-flags.mk

# process_rule PREFIX,FLAG: compiles the variants whose objects' names begin with PREFIX.
define process_rule
$(PROCESS_SYMBOLS:%=$(PROCESS)/entry/$(1)%.o): $(PROCESS)/entry/$(1)%.o: \
		wrap/entry/malloc.c $(O)/built-by $(O)/lacks
	$$(call say,CC,$$< $(1)$$* process)
	$$(make_folder)
	$$(Q)$$(CC) $$(RUNTIME_CFLAGS) $$(SHORT_LOOPS) $$(LACKS) \
		$$(if $$(filter $(ALLOCATING_SYMBOLS),$$*),$$(FIXED_FP)) \
		-DLEAKWRAP_PROCESS $(2) -DLEAKWRAP_ENTRY_$$* -c -o $$@ $$<
endef
$(eval $(call process_rule,,))
$(eval $(call process_rule,exported_,-DLEAKWRAP_EXPORT))

$(PROCESS)/entry/exported_exit.o: wrap/entry/exit.c $(O)/built-by $(O)/lacks
	$(call say,CC,$< process)
	$(make_folder)
	$(Q)$(CC) $(RUNTIME_CFLAGS) $(LACKS) -DLEAKWRAP_PROCESS -DLEAKWRAP_EXPORT -c -o $@ $<

# The runtime's code gets a section of its own, by which it knows its return addresses
# (wrap/unwind/return_address.h), and so do its tables (LEAKWRAP_TABLE).  Linkers put them behind
# .bss.  Without objcopy more stacks are guessed wrongly, and more pages are used.
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
MARK_CODE = $(OBJCOPY) --rename-section .text=leakwrap_own_code \
	--rename-section .bss.leakwrap_tables=leakwrap_tables $@ 2>/dev/null || :

$(PROCESS)/libleakwrap_process_members.a: \
		$(foreach symbol,$(PROCESS_SYMBOLS),$(PROCESS)/entry/$(symbol).o \
		$(PROCESS)/entry/exported_$(symbol).o) $(PROCESS)/entry/exported_exit.o
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(PROCESS)/entry/exported_exit.o $$(for symbol in $(PROCESS_SYMBOLS); do \
		grep -q -e "^-DLEAKWRAP_NO_$$symbol$$" $(O)/lacks || \
			echo $(PROCESS)/entry/$$symbol.o $(PROCESS)/entry/exported_$$symbol.o; \
	done)
	$(Q)$(MARK_CODE)

$(PROCESS)/libleakwrap_process.a: wrap/wrap.mk
	$(make_folder)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@

$(PROCESS)/libleakwrap_process.so: wrap/wrap.mk
	$(make_folder)
	$(Q)echo 'INPUT(-lleakwrap_process_members)' >$@

# -lleakwrap_apart stands for the libraries that the C library has apart (LEAKWRAP_APART_LDLIBS in
# linker-flags.mk).  If it has none, that is an empty archive.  A dynamic program gets libdl alone:
# functions such as write would take in libpthread.so, too.
$(PROCESS)/libleakwrap_apart.so: APART := dl:dlopen
$(PROCESS)/libleakwrap_apart.a: APART := pthread:pthread_create dl:dlopen
$(PROCESS)/libleakwrap_apart.so $(PROCESS)/libleakwrap_apart.a: wrap/wrap.mk $(O)/built-by
	$(make_folder)
	$(Q)rm -f $@; $(LINKS); apart=; for library in $(APART); do \
		libraries=; links $${library#*:} && continue; \
		libraries=-l$${library%:*}; ! links $${library#*:} || apart="$$apart $$libraries"; \
	done; \
	if [ -n "$$apart" ]; then \
		echo "INPUT($(if $(filter %.so,$@),AS_NEEDED($$apart),$$apart))" >$@; \
	else \
		$(AR) rcs $@; \
	fi
	$(Q)rm -f $@.c $@.program $@.errors

# With --as-needed linkers keep a shared library only if an object refers to a function of it, for
# ld.bfd and gold an object before it.  The wraps leave no object that refers to malloc, so an
# allocator's library would be left out.  This object refers to malloc, and to another function that
# allocators have: for lld and mold the library's malloc does not count, because the program exports
# its own.  leakwrap cc puts the object in front of all.
$(PROCESS)/keep_allocator.o: wrap/wrap.mk $(O)/built-by
	$(make_folder)
	$(Q)echo '__asm__(".globl __real_malloc, malloc_usable_size");' | \
		$(CC) $(filter-out -MMD -MP,$(RUNTIME_CFLAGS)) -x c -c -o $@ -

# The functions of the compiler's static libraries, by language (report/origin.c).  They are listed
# again when the libraries change.
NM ?= $(shell $(CC) -print-prog-name=nm)
SYSTEM_LIBRARIES = $(wildcard $(foreach library,libc.a libstdc++.a,\
	$(shell $(CC) -print-file-name=$(library))))
ALLOCATORS := $(foreach family,$(filter $(LEAKWRAP_ALLOCATING_FAMILIES) \
	$(LEAKWRAP_BARE_FAMILIES),$(RUNTIME_FAMILIES)),$(LEAKWRAP_SYMBOLS_$(family)))

$(O)/include/system_c.h $(O)/include/system_cxx.h: $(O)/include/system_%.h: \
		report/system_functions.sh linker-flags.mk $(SYSTEM_LIBRARIES) $(O)/built-by
	$(call say,GEN,$@)
	$(make_folder)
	$(Q)CC='$(CC) $(CFLAGS_TARGET)' NM='$(NM)' \
		report/system_functions.sh $* $(ALLOCATORS) >$@.tmp
	$(Q)mv $@.tmp $@

$(O)/report/origin.o: $(O)/include/system_c.h
$(O)/report/system_cxx.o: $(O)/include/system_cxx.h
$(O)/report/origin.o $(O)/report/system_cxx.o: RUNTIME_CFLAGS += -I$(O)/include

$(O)/libleakwrap.a: $(CORE_OBJECTS) $(ENTRY_OBJECTS) $(if $(filter bare,$(PORT)),,$(EVERY_OBJECTS))
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^
	$(Q)$(if $(filter bare,$(PORT)),,$(MARK_CODE))
	$(Q)$(ARCHIVE_NOTE)

# -- the generator ---------------------------------------------------------------------------------
# The generator wraps an allocator of another name, or puts options into the program, at the user's
# link.  It is generate.sh with its check of the options, the headers with which it compiles, and
# two files about this runtime: flags and options.  It is used from $(O), and from where make
# install puts it.

GENERATOR_HEADERS := wrap/record/record.h wrap/record/caller.h wrap/record/thread_state.h \
	wrap/record/exported_allocator.h \
	wrap/base/site_number.h wrap/live/samples.h wrap/live/fast.h wrap/live/slot.h \
	wrap/base/thread.h wrap/base/common.h \
	$(filter-out wrap/arch/decode%,$(wildcard wrap/arch/*.h))
GENERATOR_SOURCES := generate.sh check_options.awk wrapper.h
GENERATOR_FILES := $(GENERATOR_SOURCES) $(GENERATOR_HEADERS) flags options

.PHONY: generator
generator: $(GENERATOR_FILES:%=$(O)/generator/%) $(O)/ldflags

$(GENERATOR_SOURCES:%=$(O)/generator/%): $(O)/generator/%: wrap/generator/%
	$(make_folder)
	$(Q)cp $< $@

$(GENERATOR_HEADERS:%=$(O)/generator/%): $(O)/generator/%: %
	$(make_folder)
	$(Q)cp $< $@

# The runtime's flags that select the target, and that gcc and clang both have: the compiler of the
# user's link may be the other one.  A function that the link names may take floating-point numbers.
#
# The wrappers clean up behind an exception.  Debian's musl-gcc cannot link that: its libgcc is for
# glibc.  Then no exception passes through them.
GENERATOR_CFLAGS = $(filter-out -std=% -W% -I% -MMD -MP -ffixed-% $(GENERAL_REGISTERS) \
	$(STRATEGIES),$(RUNTIME_CFLAGS))
$(O)/generator/flags: $(O)/built-by wrap/wrap.mk
	$(make_folder)
	$(Q)echo 'void clean(int *p); void clean(int *p) { *p = 0; } extern int rand(void);' >$@.c
	$(Q)echo 'int main(void) { CLEAN int i = 1; return rand() + i; }' >>$@.c
	$(Q)links() { \
		$(CC) -w -fno-builtin -fexceptions "-DCLEAN=$$1" -o $@.out $@.c 2>/dev/null; \
	}; without=; \
	! links '' || links '__attribute__((cleanup(clean)))' || without=-fno-exceptions; \
	echo '$(GENERATOR_CFLAGS)' $$without >$@
	$(Q)rm -f $@.c $@.out

# A line KEY|VALUES for each option, "signal NAME NUMBER" for each signal, and "limit WHAT NUMBER"
# for what limits.in knows of the target.
GENERATOR_OPTIONS ?= $(CC) $(filter-out -MMD -MP,$(RUNTIME_CFLAGS)) -E -P -x c $< | \
	tr '\n{' ' \n' | sed -n \
	-e 's/^"\([a-z_]*\)", *[a-z_]*, *"[^"]*", *"\([^"]*\)".*/\1|\2/p' \
	-e 's/^"\([A-Z][A-Z0-9]*\)", *\([0-9]*\)}.*/signal \1 \2/p' \
	-e 's/^limit \([a-z_]*\), *\([0-9]*\)}.*/limit \1 \2/p'
$(O)/generator/options: export LC_ALL := C
$(O)/generator/options: wrap/generator/limits.in wrap/runtime/option_table.c wrap/base/options.h \
		report/format.h report/request.h $(O)/built-by
	$(make_folder)
	$(Q)$(GENERATOR_OPTIONS) >$@

# LEAKWRAP_LDFLAGS as a response file.
$(O)/ldflags: linker-flags.mk $(O)/built-by
	$(make_folder)
	$(Q)printf '%s\n' $(RUNTIME_LDFLAGS) >$@
RUNTIME_LDFLAGS = $(LEAKWRAP_LDFLAGS)
