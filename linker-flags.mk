# linker-flags.mk - the one list of the wrapped symbols, and the flags that relink a program with
# leakwrap.  Included by leakwrap's own Makefile and by its users', from the source tree or as installed:
#
#	include leakwrap/linker-flags.mk
#	app: app.o vendor.a
#		$(CC) -o $@ $^ $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS)
#
#   LEAKWRAP_LDFLAGS     the wraps; anywhere on the command line
#   LEAKWRAP_LLD_STATIC_LDFLAGS  more of them, for lld with -static or -static-pie and glibc
#   LEAKWRAP_LDLIBS      the runtime, after all objects and archives of the program
#   LEAKWRAP_CXX_LDLIBS  the same for a C++ program: needed when it is linked with -static, or has its own
#                        operators new and delete in an archive; and with gold, also for a C program, when
#                        a shared library is in C++
#   LEAKWRAP_CXX_STATIC_LDLIBS  the same for a program that is linked with -static-libstdc++
#   LEAKWRAP_BARE_LDFLAGS, LEAKWRAP_BARE_LDLIBS, LEAKWRAP_BARE_CXX_LDLIBS  the same without an operating system
#   LEAKWRAP_LIB         the archive; set it before the include to use another one
#
# To be set before the include as well; then the program's rule names $(LEAKWRAP_LINK_LIB) among what it needs:
#
#   LEAKWRAP_ALLOCATORS  allocators of another name: a prefix (je_), or what a function is like
#                        (malloc=pool_alloc(pool,size) free=pool_free(pool,block)); generate.sh has
#                        the notation
#   LEAKWRAP_DEFAULT_OPTIONS  options of the program, which LEAKWRAP_OPTIONS in the environment overrides
#   LEAKWRAP_LINK        the files made for these are called LEAKWRAP_LINK.a, .flags and .settings; leakwrap-link
#
# LEAKWRAP_SHORT_LDFLAGS is LEAKWRAP_LDFLAGS as one word, a response file.

# -- the wrapped symbols ----------------------------------------------------------------------------
# A family is defined in wrap/entry/FAMILY.c.  A symbol that a program or its C library does not have
# costs nothing: nobody refers to it, so its wrapper stays in the archive.

LEAKWRAP_FAMILIES := malloc string line path list memstream cxx signal exit exec dl

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

# The C++ runtime, in the names of the Itanium C++ ABI, 5.1.3 and 5.1.5: new (nw), new[] (na), delete (dl)
# and delete[] (da).  size_t is m or j, as the target has it; each target uses one half of these.
LEAKWRAP_SYMBOLS_cxx := __cxa_demangle \
	$(foreach size,m j,$(foreach new,_Znw _Zna,$(new)$(size) $(new)$(size)RKSt9nothrow_t \
		$(new)$(size)St11align_val_t $(new)$(size)St11align_val_tRKSt9nothrow_t)) \
	$(foreach delete,_ZdlPv _ZdaPv,$(delete) $(delete)RKSt9nothrow_t \
		$(delete)St11align_val_t $(delete)St11align_val_tRKSt9nothrow_t \
		$(delete)m $(delete)mSt11align_val_t $(delete)j $(delete)jSt11align_val_t)

# Not allocations: the dump signal is shared with the program, the exit dump comes before every way out, and
# the module list follows the loader.
LEAKWRAP_SYMBOLS_signal := sigaction __sigaction signal bsd_signal ssignal sysv_signal __sysv_signal \
	sigset sigignore siginterrupt \
	sigwait sigwaitinfo sigtimedwait __sigtimedwait64 __sigtimedwait_time64

LEAKWRAP_SYMBOLS_exec := execve execv execvp execvpe fexecve execveat execl execlp execle

LEAKWRAP_SYMBOLS_exit := _exit _Exit quick_exit

LEAKWRAP_SYMBOLS_dl := dlopen dlmopen dlclose

LEAKWRAP_SYMBOLS := $(foreach family,$(LEAKWRAP_FAMILIES),$(LEAKWRAP_SYMBOLS_$(family)))

# Without an operating system (make PORT=bare): newlib's own, which its printf and the rest call, and FreeRTOS's.
LEAKWRAP_BARE_FAMILIES := malloc string line cxx newlib rtos

LEAKWRAP_SYMBOLS_newlib := _malloc_r _free_r _calloc_r _realloc_r _memalign_r

LEAKWRAP_SYMBOLS_rtos := pvPortMalloc pvPortCalloc vPortFree

LEAKWRAP_BARE_SYMBOLS := $(foreach family,$(LEAKWRAP_BARE_FAMILIES),$(LEAKWRAP_SYMBOLS_$(family)))

# -- the flags --------------------------------------------------------------------------------------
# -u takes the allocator's wrappers in at once: in a static link the C library is searched after the
# runtime.  -u of the originals keeps an allocator that the program brings along in an archive: that is
# searched before the runtime, when nothing would ask for malloc yet.  The mark tells the runtime that the list
# is complete.  --eh-frame-hdr: gcc -static
# leaves it out, and without it the stack walk cannot find the unwind tables.  --allow-shlib-undefined:
# gold looks for wrappers of what shared libraries import.

LEAKWRAP_LDFLAGS := $(LEAKWRAP_SYMBOLS:%=-Wl,--wrap=%) \
	$(foreach symbol,malloc calloc realloc free,-Wl,-u,__wrap_$(symbol) -Wl,-u,$(symbol)) \
	-Wl,-u,leakwrap_wraps_are_complete \
	-Wl,--eh-frame-hdr -Wl,--allow-shlib-undefined

# In a static link lld takes the wrapper of a weak function for weak as well and does not look for it: the
# program would jump to address 0.  These are weak in glibc's libc.a.
LEAKWRAP_WEAK := calloc reallocarray memalign aligned_alloc posix_memalign valloc pvalloc \
	strdup strndup asprintf vasprintf getline getdelim realpath canonicalize_file_name getcwd \
	scandir scandir64 scandirat backtrace_symbols argz_create argz_create_sep argz_append argz_add \
	argz_add_sep argz_insert argz_replace open_memstream fclose _Exit quick_exit sigaction signal \
	bsd_signal ssignal sysv_signal sigwait sigwaitinfo sigtimedwait execve execvpe dlopen dlmopen dlclose
LEAKWRAP_LLD_STATIC_LDFLAGS := $(foreach symbol,$(filter $(LEAKWRAP_WEAK),$(LEAKWRAP_SYMBOLS)),\
	-Wl,-u,__wrap_$(symbol))

# The runtime lies beside this file's source tree in build/, or where "make install" put both.
LEAKWRAP_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
LEAKWRAP_LIB ?= $(if $(wildcard $(LEAKWRAP_DIR)wrap/wrap.mk),$(LEAKWRAP_DIR)build,$(LEAKWRAP_DIR)../../lib)/libleakwrap.a

# -- allocators of another name, and default options ------------------------------------------------
# What they need is made by generate.sh, in the place of the user's makefile, by the target's compiler.

LEAKWRAP_SHARE := $(if $(wildcard $(LEAKWRAP_DIR)wrap/wrap.mk),$(dir $(LEAKWRAP_LIB)),$(LEAKWRAP_DIR))
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

# The first rule of the user's makefile stays its goal.
LEAKWRAP_GOAL := $(.DEFAULT_GOAL)
$(LEAKWRAP_LINK_LIB): $(LEAKWRAP_LINK).settings $(wildcard $(LEAKWRAP_LIB))
	$(LEAKWRAP_LINK_COMMAND)
.PHONY: leakwrap-look-again
$(LEAKWRAP_LINK).settings: leakwrap-look-again
	@echo $(call leakwrap_quoted,$(LEAKWRAP_LINK_COMMAND)) | cmp -s - $@ || \
		echo $(call leakwrap_quoted,$(LEAKWRAP_LINK_COMMAND)) >$@
.DEFAULT_GOAL := $(LEAKWRAP_GOAL)
endif

# -- the libraries ----------------------------------------------------------------------------------

# In a group with the libraries that call wrapped functions themselves, because in a static link each of
# the two needs the other.  A C program must not name libstdc++ here, so there is one list for each.
# -u: an archive with operators of the program's own is taken before libstdc++.  Beside it ld.bfd does not find what
# is referred to weakly alone, as __real__ZdlPv in a program without delete: the wrapper refers to it strongly.
# -u leakwrap_system_cxx takes the list by which the static C++ library's own blocks are recognized.
# The group is one word, and the archive stands in front of it by itself: build systems sort the libraries that they see.
# Meson puts these into a group of its own, in which gold and ld.lld take no other; libtool moves them to the end, and
# only them, where the program's own libraries find the wrappers.
LEAKWRAP_LDLIBS = $(LEAKWRAP_LINK_LIB:%=% )$(LEAKWRAP_LIB) \
	-Wl,--start-group,$(LEAKWRAP_LIB),-lc,--end-group
LEAKWRAP_CXX_LDLIBS = -Wl,-u,_ZdlPv -Wl,-u,__wrap__ZdlPv -Wl,-u,leakwrap_system_cxx \
	$(LEAKWRAP_LINK_LIB:%=% )$(LEAKWRAP_LIB) \
	-Wl,--start-group,$(LEAKWRAP_LIB),-lstdc++,-lm,-lc,--end-group
LEAKWRAP_CXX_STATIC_LDLIBS = -Wl,-u,_ZdlPv -Wl,-u,__wrap__ZdlPv -Wl,-u,leakwrap_system_cxx \
	$(LEAKWRAP_LINK_LIB:%=% )$(LEAKWRAP_LIB) \
	-Wl,--start-group,$(LEAKWRAP_LIB),-Bstatic,-lstdc++,-Bdynamic,-lm,-lc,--end-group

# Without an operating system.  -u: what the compiler links behind all of this, with a board's --specs=, may ask newlib
# for functions that nobody before it has asked for, and these for wrappers.  -lc, not -Wl,-lc: nano.specs puts another
# library in its place.
LEAKWRAP_BARE_LDFLAGS := $(LEAKWRAP_BARE_SYMBOLS:%=-Wl,--wrap=%) \
	$(foreach name,malloc calloc realloc free,-Wl,-u,__wrap_$(name) -Wl,-u,__wrap__$(name)_r) \
	$(LEAKWRAP_LINK_LDFLAGS)
LEAKWRAP_BARE_LDLIBS = $(LEAKWRAP_LINK_LIB:%=% )-Wl,--start-group $(LEAKWRAP_LIB) -lc -lgcc -Wl,--end-group
LEAKWRAP_BARE_CXX_LDLIBS = -Wl,-u,_ZdlPv -Wl,-u,leakwrap_system_cxx \
	$(LEAKWRAP_LINK_LIB:%=% )-Wl,--start-group $(LEAKWRAP_LIB) -lstdc++ -lm -lc -lgcc -Wl,--end-group
