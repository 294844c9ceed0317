# linker-flags.mk - the one list of the wrapped symbols, and the flags that relink a program with
# leakwrap.  The Makefiles of leakwrap and of its users include it, from the source tree or from
# where make install put it:
#
#	include leakwrap/linker-flags.mk
#	app: app.o vendor.a
#		$(CC) -o $@ $^ $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS)
#
#   LEAKWRAP_LDFLAGS     the wraps; anywhere on the command line
#   LEAKWRAP_SHORT_LDFLAGS  the same as one word, a response file
#   LEAKWRAP_LLD_LDFLAGS  more flags, for lld and a program in C
#   LEAKWRAP_LLD_CXX_LDFLAGS  the same for lld and a program in C++
#   LEAKWRAP_LDLIBS      the runtime, after all objects and archives of the program
#   LEAKWRAP_CXX_LDLIBS  the runtime for a C++ program that is linked with -static, or has its own
#                        operators new and delete in an archive.  With gold also for a C program, if
#                        a shared library is in C++
#   LEAKWRAP_CXX_STATIC_LDLIBS  the runtime for a program that is linked with -static-libstdc++
#   LEAKWRAP_PROGRAM_LDLIBS, LEAKWRAP_PROGRAM_CXX_LDLIBS, LEAKWRAP_PROGRAM_CXX_STATIC_LDLIBS  the
#                        same for the program's own calls alone.  The three above also trace what
#                        the shared libraries of a dynamic program allocate.  A shared object that
#                        is linked with the runtime needs these
#   LEAKWRAP_BARE_LDFLAGS, LEAKWRAP_BARE_LDLIBS, LEAKWRAP_BARE_CXX_LDLIBS  wraps and runtime for a
#                        program without an operating system
#
# To be set before the include:
#
#   LEAKWRAP_LIB         another libleakwrap.a
#   LEAKWRAP_PROCESS_DIR  the folder of its libleakwrap_process.so, if it is neither process/ nor
#                        leakwrap/ beside it
#   LEAKWRAP_ALLOCATORS  allocators of another name: a prefix (je_), or what a function is like
#                        (malloc=pool_alloc(pool,size) free=pool_free(pool,block)); generate.sh has
#                        the notation
#   LEAKWRAP_DEFAULT_OPTIONS  options of the program; LEAKWRAP_OPTIONS in the environment overrides
#                        them
#   LEAKWRAP_LINK        the name of the files that the two above need: LEAKWRAP_LINK.a, .flags and
#                        .settings.  The default is leakwrap-link
#
# With LEAKWRAP_ALLOCATORS or LEAKWRAP_DEFAULT_OPTIONS the program's rule has $(LEAKWRAP_LINK_LIB)
# as a prerequisite.

# -- the wrapped symbols ---------------------------------------------------------------------------
# A family is defined in wrap/entry/FAMILY.c.  A symbol that a program does not have costs nothing:
# no object refers to it, so its wrapper stays in the archive.

LEAKWRAP_ALLOCATING_FAMILIES := malloc string line path list memstream cxx
LEAKWRAP_FAMILIES := $(LEAKWRAP_ALLOCATING_FAMILIES) signal exit exec dl protect seccomp

LEAKWRAP_SYMBOLS_malloc := malloc free calloc realloc reallocarray memalign aligned_alloc \
	posix_memalign valloc pvalloc cfree free_sized free_aligned_sized

LEAKWRAP_SYMBOLS_string := strdup __strdup strndup __strndup wcsdup \
	asprintf __asprintf __asprintf_chk vasprintf __vasprintf_chk

LEAKWRAP_SYMBOLS_line := getline getdelim __getdelim

LEAKWRAP_SYMBOLS_path := realpath __realpath_chk canonicalize_file_name \
	getcwd __getcwd_chk get_current_dir_name tempnam

LEAKWRAP_SYMBOLS_list := scandir scandir64 scandirat scandirat64 backtrace_symbols \
	argz_create argz_create_sep argz_append argz_add argz_add_sep argz_insert argz_replace \
	argz_delete envz_add envz_merge envz_remove

LEAKWRAP_SYMBOLS_memstream := open_memstream open_wmemstream fclose

# The C++ runtime, in the names of the Itanium C++ ABI, 5.1.3 and 5.1.5: new (nw), new[] (na),
# delete (dl) and delete[] (da).  size_t is m on some targets and j on others, so a target uses half
# of these.
LEAKWRAP_SYMBOLS_cxx := __cxa_demangle \
	$(foreach size,m j,$(foreach new,_Znw _Zna,$(new)$(size) $(new)$(size)RKSt9nothrow_t \
		$(new)$(size)St11align_val_t $(new)$(size)St11align_val_tRKSt9nothrow_t)) \
	$(foreach delete,_ZdlPv _ZdaPv,$(delete) $(delete)RKSt9nothrow_t \
		$(delete)St11align_val_t $(delete)St11align_val_tRKSt9nothrow_t \
		$(delete)m $(delete)mSt11align_val_t $(delete)j $(delete)jSt11align_val_t)

# The other families do not allocate.  The tracer shares the dump signal with the program, writes
# the exit dump before every way out, follows the loader, reads no code that may only run, and obeys
# a sandbox.
LEAKWRAP_SYMBOLS_signal := sigaction __sigaction signal bsd_signal ssignal sysv_signal \
	__sysv_signal sigset sigignore siginterrupt sigaltstack \
	sigwait sigwaitinfo sigtimedwait __sigtimedwait64 __sigtimedwait_time64

LEAKWRAP_SYMBOLS_exec := execve execv execvp execvpe fexecve execveat execl execlp execle

LEAKWRAP_SYMBOLS_exit := _exit _Exit quick_exit at_quick_exit

LEAKWRAP_SYMBOLS_dl := dlopen dlmopen dlclose

LEAKWRAP_SYMBOLS_protect := mprotect pkey_mprotect

LEAKWRAP_SYMBOLS_seccomp := prctl syscall seccomp_load

LEAKWRAP_SYMBOLS := $(foreach family,$(LEAKWRAP_FAMILIES),$(LEAKWRAP_SYMBOLS_$(family)))

# Programs without an operating system (make PORT=bare).  newlib's functions call the names with _r.
# The family rtos is FreeRTOS's heap.  All these families allocate.
LEAKWRAP_BARE_FAMILIES := malloc string line cxx newlib rtos

LEAKWRAP_SYMBOLS_newlib := _malloc_r _free_r _calloc_r _realloc_r _memalign_r

LEAKWRAP_SYMBOLS_rtos := pvPortMalloc pvPortCalloc vPortFree

LEAKWRAP_BARE_SYMBOLS := $(foreach family,$(LEAKWRAP_BARE_FAMILIES),$(LEAKWRAP_SYMBOLS_$(family)))

# -- the flags -------------------------------------------------------------------------------------
# -u __wrap_malloc takes in the wrapper at once: a static link searches the C library after the
# runtime.  -u malloc keeps an allocator that the program has in an archive: the link searches that
# archive before the runtime, when nothing refers to malloc yet.  leakwrap_wraps_are_complete tells
# the runtime that no wrap is missing.
#
# --eh-frame-hdr: gcc -static leaves this header out, and without it the stack walk cannot find the
# unwind tables.  --allow-shlib-undefined: gold looks for wrappers of the functions that shared
# libraries import.
#
# The compiler adds libraries of its own behind the runtime: for profiles (libgcov,
# libclang_rt.profile), split stacks (libgcc), Fortran, Ada and Go.  They may be the only ones to
# call these functions.
LEAKWRAP_CALLED_BEHIND := fclose strdup strndup getcwd execv execve execvp signal sigwait \
	sigaltstack _exit prctl mprotect syscall

LEAKWRAP_LDFLAGS := $(LEAKWRAP_SYMBOLS:%=-Wl,--wrap=%) \
	$(foreach symbol,malloc calloc realloc free,-Wl,-u,__wrap_$(symbol) -Wl,-u,$(symbol)) \
	$(LEAKWRAP_CALLED_BEHIND:%=-Wl,-u,__wrap_%) \
	-Wl,-u,leakwrap_wraps_are_complete \
	-Wl,--eh-frame-hdr -Wl,--allow-shlib-undefined

# lld takes the wrapper of a weak function for weak, too, and does not look for it.  The program
# would jump to address 0.  Many functions are weak in static C libraries, and in clang's static
# libraries: of sanitizers, and libc++.  So these flags take in the wrappers of all functions that
# the C library has, and the C++ library.
LEAKWRAP_LLD_LDFLAGS := -Wl,-u,leakwrap_every_c
LEAKWRAP_LLD_CXX_LDFLAGS := $(LEAKWRAP_LLD_LDFLAGS) -Wl,-u,leakwrap_every_cxx
# Its old name, from when it was for static programs alone: makefiles of users may have it.
LEAKWRAP_LLD_STATIC_LDFLAGS = $(LEAKWRAP_LLD_LDFLAGS)

# In the source tree the runtime is in build/.  Installed, it is where make install put it.
LEAKWRAP_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
LEAKWRAP_IN_SOURCES := $(wildcard $(LEAKWRAP_DIR)wrap/wrap.mk)
LEAKWRAP_LIB_DIR := $(LEAKWRAP_DIR)$(if $(LEAKWRAP_IN_SOURCES),build,../../lib)
LEAKWRAP_LIB ?= $(LEAKWRAP_LIB_DIR)/libleakwrap.a

# -- allocators of another name, and default options -----------------------------------------------
# generate.sh makes the files that they need.  It uses the target's compiler, and writes them into
# the folder where the user's make runs.

LEAKWRAP_SHARE := $(if $(LEAKWRAP_IN_SOURCES),$(dir $(LEAKWRAP_LIB)),$(LEAKWRAP_DIR))
LEAKWRAP_SHORT_LDFLAGS := @$(LEAKWRAP_SHARE)ldflags

ifneq ($(strip $(LEAKWRAP_ALLOCATORS)$(LEAKWRAP_DEFAULT_OPTIONS)),)
LEAKWRAP_LINK ?= leakwrap-link
LEAKWRAP_LINK_LIB := $(LEAKWRAP_LINK).a
LEAKWRAP_LINK_LDFLAGS := @$(LEAKWRAP_LINK).flags
LEAKWRAP_LDFLAGS += $(LEAKWRAP_LINK_LDFLAGS)
LEAKWRAP_SHORT_LDFLAGS += $(LEAKWRAP_LINK_LDFLAGS)

leakwrap_quoted = '$(subst ','\'',$(1))'
LEAKWRAP_LINK_COMMAND = sh $(LEAKWRAP_SHARE)generator/generate.sh --output=$(LEAKWRAP_LINK) \
	$(if $(filter default undefined,$(origin AR)),,--ar=$(AR)) \
	$(if $(strip $(LEAKWRAP_ALLOCATORS)),\
		--allocator=$(call leakwrap_quoted,$(LEAKWRAP_ALLOCATORS))) \
	$(if $(strip $(LEAKWRAP_DEFAULT_OPTIONS)),\
		--options=$(call leakwrap_quoted,$(LEAKWRAP_DEFAULT_OPTIONS))) \
	-- $(CC) $(filter -m% --target=% --sysroot=%,$(CFLAGS) $(LDFLAGS))

# The rules below must not become the default goal of the user's makefile.
LEAKWRAP_GOAL := $(.DEFAULT_GOAL)
$(LEAKWRAP_LINK_LIB): $(LEAKWRAP_LINK).settings $(wildcard $(LEAKWRAP_LIB))
	$(LEAKWRAP_LINK_COMMAND)
.PHONY: leakwrap-look-again
$(LEAKWRAP_LINK).settings: leakwrap-look-again
	@echo $(call leakwrap_quoted,$(LEAKWRAP_LINK_COMMAND)) | cmp -s - $@ || \
		echo $(call leakwrap_quoted,$(LEAKWRAP_LINK_COMMAND)) >$@
.DEFAULT_GOAL := $(LEAKWRAP_GOAL)
endif

# -- the libraries ---------------------------------------------------------------------------------
# The runtime is in a group with the C library, which calls wrapped functions: in a static link each
# of the two needs the other.  A C program must not name libstdc++, so C++ has a list of its own.
#
# -u _ZdlPv: an archive with the program's own operators is taken in before libstdc++.
# -u leakwrap_system_cxx takes in the list by which the C++ library's own blocks are recognized.
#
# Build systems sort the libraries that they see.  Meson puts them into a group of its own, and gold
# and ld.lld take no group inside a group: so the group is one word.  libtool moves libraries to the
# end, where the program's own libraries find the wrappers: so the archive stands in front of the
# group by itself.
#
# -lleakwrap_process makes a dynamic program export malloc and its relatives, so that shared
# libraries call the tracer, too.  With -static it is an empty archive.  It is searched before the
# runtime, whose malloc is for the program's own calls alone.
LEAKWRAP_PROCESS_DIR ?= $(firstword $(patsubst %/libleakwrap_process.so,%,$(wildcard \
	$(addsuffix /libleakwrap_process.so,$(addprefix $(dir $(LEAKWRAP_LIB)),process leakwrap)))))
LEAKWRAP_PROCESS_LDLIBS = $(call leakwrap_beside,leakwrap_process)

# glibc before 2.34 has dlopen in libdl, which users name in front of the runtime: too early for the
# wrapper of dlopen.  It has threads in libpthread, which -pthread puts behind the runtime: in a
# static link too late, because the group below takes in functions that libpthread.a defines again.
# There -lleakwrap_apart stands for these libraries, and elsewhere for an empty archive.
LEAKWRAP_APART_LDLIBS = $(call leakwrap_beside,leakwrap_apart)

leakwrap_comma := ,
leakwrap_beside = $(if $(LEAKWRAP_PROCESS_DIR),\
	-Wl$(leakwrap_comma)-L$(LEAKWRAP_PROCESS_DIR)$(leakwrap_comma)-l$(1))

LEAKWRAP_PROGRAM_LDLIBS = $(LEAKWRAP_LINK_LIB:%=% )$(LEAKWRAP_LIB) $(LEAKWRAP_APART_LDLIBS) \
	-Wl,--start-group,$(LEAKWRAP_LIB),-lc,--end-group
LEAKWRAP_PROGRAM_CXX_LDLIBS = -Wl,-u,_ZdlPv -Wl,-u,leakwrap_system_cxx \
	$(LEAKWRAP_LINK_LIB:%=% )$(LEAKWRAP_LIB) $(LEAKWRAP_APART_LDLIBS) \
	-Wl,--start-group,$(LEAKWRAP_LIB),-lstdc++,-lm,-lc,--end-group
LEAKWRAP_PROGRAM_CXX_STATIC_LDLIBS = -Wl,-u,_ZdlPv -Wl,-u,leakwrap_system_cxx \
	$(LEAKWRAP_LINK_LIB:%=% )$(LEAKWRAP_LIB) $(LEAKWRAP_APART_LDLIBS) \
	-Wl,--start-group,$(LEAKWRAP_LIB),-Bstatic,-lstdc++,-Bdynamic,-lm,-lc,--end-group
LEAKWRAP_LDLIBS = $(LEAKWRAP_PROCESS_LDLIBS) $(LEAKWRAP_PROGRAM_LDLIBS)
LEAKWRAP_CXX_LDLIBS = $(LEAKWRAP_PROCESS_LDLIBS) $(LEAKWRAP_PROGRAM_CXX_LDLIBS)
LEAKWRAP_CXX_STATIC_LDLIBS = $(LEAKWRAP_PROCESS_LDLIBS) $(LEAKWRAP_PROGRAM_CXX_STATIC_LDLIBS)

# Programs without an operating system.  -u: behind all of this the compiler links what the board's
# --specs= names.  That may refer to functions of newlib which nothing before refers to, and these
# to wrappers.  -lc, not -Wl,-lc: nano.specs puts another library in the place of -lc.
LEAKWRAP_BARE_LDFLAGS := $(LEAKWRAP_BARE_SYMBOLS:%=-Wl,--wrap=%) \
	$(foreach name,malloc calloc realloc free,-Wl,-u,__wrap_$(name) -Wl,-u,__wrap__$(name)_r) \
	$(LEAKWRAP_LINK_LDFLAGS)
LEAKWRAP_BARE_LDLIBS = $(LEAKWRAP_LINK_LIB:%=% )-Wl,--start-group \
	$(LEAKWRAP_LIB) -lc -lgcc -Wl,--end-group
LEAKWRAP_BARE_CXX_LDLIBS = -Wl,-u,_ZdlPv -Wl,-u,leakwrap_system_cxx \
	$(LEAKWRAP_LINK_LIB:%=% )-Wl,--start-group \
	$(LEAKWRAP_LIB) -lstdc++ -lm -lc -lgcc -Wl,--end-group
