# The benchmark's programs.  "make bench", which builds them, has installed what they need.
#
# Each object is linked untraced, traced, and with LeakSanitizer.  Whole programs are also linked
# statically, and with shared libraries instead of archives.  Tools that are preloaded run the
# untraced program.

.PHONY: bench-programs

BENCH_CFLAGS := -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE
BENCH_TOOLS := untraced leakwrap lsan

# Whole programs, compiled as their users compile them, with archives that Debian compiled.
# Without -fno-reorder-functions gcc puts main in a section of its own, in front of all other
# functions: see workload.h.
BENCH_CFLAGS_whole = -fno-reorder-functions -I/usr/include/lua5.4 \
	$(shell pkg-config --cflags libxml-2.0 glib-2.0 libpng 2>/dev/null)
BENCH_ARCHIVES_lua_trees := liblua5.4.a
BENCH_ARCHIVES_sqlite_load := libsqlite3.a
BENCH_ARCHIVES_xml_query := libxml2.a
BENCH_LIBS_xml_query = \
	$(filter-out -lxml2,$(shell pkg-config --static --libs-only-l libxml-2.0 2>/dev/null)) \
	-lstdc++
BENCH_ARCHIVES_json_deep := libjansson.a
BENCH_ARCHIVES_crypto_threads := libcrypto.a
BENCH_ARCHIVES_png_large := libpng16.a libz.a
BENCH_ARCHIVES_glib_strings := libglib-2.0.a
BENCH_LIBS_glib_strings := -lpcre2-8
BENCH_WHOLE := lua_trees sqlite_load xml_query json_deep crypto_threads png_large glib_strings \
	nothing

# Programs that measure themselves.  The compiler must leave every call and every frame in place.
BENCH_EXACT := -fno-optimize-sibling-calls -fno-builtin
BENCH_CFLAGS_pairs := $(BENCH_EXACT) -fno-omit-frame-pointer
BENCH_CFLAGS_pairs-nofp := $(BENCH_EXACT) -fomit-frame-pointer
BENCH_CFLAGS_held := $(BENCH_EXACT) -fomit-frame-pointer
# frames calls parts of the tracer.
BENCH_CFLAGS_frames := $(BENCH_EXACT) -fno-omit-frame-pointer -I. -Iwrap
BENCH_CFLAGS_reach := -Iwrap
BENCH_MEASURING := pairs pairs-nofp held

# The allocators with which pairs is linked, to measure what they cost.
BENCH_ALLOCATORS := c jemalloc tcmalloc_minimal mimalloc

BENCH_ALL := $(BENCH_WHOLE) $(BENCH_MEASURING)

BENCH_HELPERS := $(O)/bench/timed $(O)/bench/turns $(O)/bench/frames $(O)/bench/reach

bench-programs: $(BENCH_HELPERS) $(foreach t,$(BENCH_TOOLS),$(BENCH_ALL:%=$(O)/bench/%.$(t))) \
	$(foreach t,$(BENCH_TOOLS),$(BENCH_WHOLE:%=$(O)/bench/%.shared-$(t))) \
	$(foreach t,untraced leakwrap,$(BENCH_WHOLE:%=$(O)/bench/%.static-$(t)) \
		$(BENCH_ALLOCATORS:%=$(O)/bench/pairs.%-$(t))) \
	$(foreach t,$(BENCH_TOOLS) program-leakwrap static-untraced static-leakwrap,\
		$(O)/bench/new_pairs.$(t))

BENCH_OBJECTS := $(BENCH_ALL:%=$(O)/bench/%.o) $(BENCH_HELPERS:=.o)

$(filter-out %-nofp.o,$(BENCH_OBJECTS)): $(O)/bench/%.o: tests/bench/%.c
$(filter %-nofp.o,$(BENCH_OBJECTS)): $(O)/bench/%-nofp.o: tests/bench/%.c
$(BENCH_OBJECTS): $(O)/bench/%.o: tests/bench/bench.mk
	$(call say,CC,$(filter %.c,$^))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) $(BENCH_CFLAGS_$*) \
		$(if $(filter $*,$(BENCH_WHOLE)),$(BENCH_CFLAGS_whole)) \
		-MMD -MP -c -o $@ $(filter %.c,$^)

BENCH_LINK = $(CC) -o $@ $(filter %.o,$^) \
	$(foreach archive,$(BENCH_ARCHIVES_$*),$$($(CC) -print-file-name=$(archive))) \
	$(BENCH_LIBS_$*)

BENCH_LINK_SHARED = $(CC) -o $@ $(filter %.o,$^) \
	$(foreach archive,$(BENCH_ARCHIVES_$*),$(patsubst lib%.a,-l%,$(archive)))

$(O)/bench/timed $(O)/bench/turns: $(O)/bench/%: $(O)/bench/%.o
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $<

$(BENCH_ALLOCATORS:%=$(O)/bench/pairs.%-untraced): $(O)/bench/pairs.%-untraced: $(O)/bench/pairs.o
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< -Wl,--no-as-needed -l$* -pthread

$(BENCH_ALLOCATORS:%=$(O)/bench/pairs.%-leakwrap): LEAKWRAP_LIB = $(O)/libleakwrap.a
$(BENCH_ALLOCATORS:%=$(O)/bench/pairs.%-leakwrap): $(O)/bench/pairs.%-leakwrap: \
		$(O)/bench/pairs.o $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< -Wl,--no-as-needed -l$* $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS) \
		-pthread $(QUIETLY)

# C++: the flags of each way to link it.
BENCH_CXX := $(subst gcc,g++,$(CC:clang%=clang++%))
BENCH_NEW_untraced :=
BENCH_NEW_lsan := -fsanitize=leak
BENCH_NEW_leakwrap = $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_CXX_LDLIBS)
BENCH_NEW_program-leakwrap = $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_PROGRAM_CXX_LDLIBS)
BENCH_NEW_static-untraced := -static
BENCH_NEW_static-leakwrap = -static $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_CXX_LDLIBS)

$(O)/bench/new_pairs.%: LEAKWRAP_LIB = $(O)/libleakwrap.a
$(O)/bench/new_pairs.%: tests/bench/new_pairs.cpp tests/bench/bench.mk $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BENCH_CXX) -O2 -g $(BENCH_EXACT) -o $@ $< $(BENCH_NEW_$*)

$(O)/bench/frames: LEAKWRAP_LIB = $(O)/libleakwrap.a
$(O)/bench/frames: $(O)/bench/frames.o $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS) -lunwind

$(O)/bench/reach: LEAKWRAP_LIB = $(O)/libleakwrap.a
$(O)/bench/reach: $(O)/bench/reach.o $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS) -pthread

$(BENCH_ALL:%=$(O)/bench/%.untraced): $(O)/bench/%.untraced: $(O)/bench/%.o
	$(call say,LINK,$@)
	$(Q)$(BENCH_LINK) -lm -pthread $(QUIETLY)

$(BENCH_ALL:%=$(O)/bench/%.leakwrap): LEAKWRAP_LIB = $(O)/libleakwrap.a
$(BENCH_ALL:%=$(O)/bench/%.leakwrap): $(O)/bench/%.leakwrap: $(O)/bench/%.o $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)$(BENCH_LINK) $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS) -lm -pthread $(QUIETLY)

$(BENCH_WHOLE:%=$(O)/bench/%.static-untraced): $(O)/bench/%.static-untraced: $(O)/bench/%.o
	$(call say,LINK,$@)
	$(Q)$(BENCH_LINK) -static -lm -pthread $(QUIETLY)

$(BENCH_WHOLE:%=$(O)/bench/%.static-leakwrap): LEAKWRAP_LIB = $(O)/libleakwrap.a
$(BENCH_WHOLE:%=$(O)/bench/%.static-leakwrap): $(O)/bench/%.static-leakwrap: \
		$(O)/bench/%.o $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)$(BENCH_LINK) -static $(LEAKWRAP_LDFLAGS) \
		$(if $(findstring -lstdc++,$(BENCH_LINK)),\
			$(LEAKWRAP_CXX_LDLIBS),$(LEAKWRAP_LDLIBS)) \
		-lm -pthread $(QUIETLY)

$(BENCH_ALL:%=$(O)/bench/%.lsan): $(O)/bench/%.lsan: $(O)/bench/%.o
	$(call say,LINK,$@)
	$(Q)$(BENCH_LINK) -fsanitize=leak -lm -pthread $(QUIETLY)

$(BENCH_WHOLE:%=$(O)/bench/%.shared-untraced): $(O)/bench/%.shared-untraced: $(O)/bench/%.o
	$(call say,LINK,$@)
	$(Q)$(BENCH_LINK_SHARED) -lm -pthread

$(BENCH_WHOLE:%=$(O)/bench/%.shared-leakwrap): LEAKWRAP_LIB = $(O)/libleakwrap.a
$(BENCH_WHOLE:%=$(O)/bench/%.shared-leakwrap): $(O)/bench/%.shared-leakwrap: \
		$(O)/bench/%.o $(LINKED_RUNTIME)
	$(call say,LINK,$@)
	$(Q)$(BENCH_LINK_SHARED) $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS) -lm -pthread

$(BENCH_WHOLE:%=$(O)/bench/%.shared-lsan): $(O)/bench/%.shared-lsan: $(O)/bench/%.o
	$(call say,LINK,$@)
	$(Q)$(BENCH_LINK_SHARED) -fsanitize=leak -lm -pthread
