# The leakwrap tool: for this machine, by HOSTCC.  If libraries are missing, a message names their
# packages and the tool is left out.  So the runtime can be built anywhere.

# What it needs: the header, and the Debian package that has it.
TOOL_NEEDS := elfutils/libdwfl.h:libdw-dev jansson.h:libjansson-dev \
	protobuf-c/protobuf-c.h:libprotobuf-c-dev zlib.h:zlib1g-dev

tool_has = $(shell printf '\043include <%s>\n' '$(1)' | \
	$(HOSTCC) -E -x c - >/dev/null 2>&1 && echo yes)
# Make before 4.3 looks for a program "command" where the line has no character of the shell.
TOOL_LACKS = $(strip \
	$(foreach need,$(TOOL_NEEDS),$(if $(call tool_has,$(firstword $(subst :, ,$(need)))),,\
		$(lastword $(subst :, ,$(need))))) \
	$(if $(wildcard $(shell $(HOSTCC) -print-file-name=libsupc++.a)),,g++) \
	$(if $(shell command -v protoc-gen-c || :),,protobuf-c-compiler))

# The tool asks for a unit of debug information and its split unit (dwarf_get_units).
OLD_ELFUTILS = $(shell \
	printf '\043include <%s>\n\043if !_ELFUTILS_PREREQ(0, 171)\n\043error\n\043endif\n' \
	elfutils/version.h | $(HOSTCC) -E -x c - >/dev/null 2>&1 || echo elfutils)

HOSTCC_RUNS = $(shell echo | $(HOSTCC) -E -x c - >/dev/null 2>&1 && echo yes)

# Looked for when the recipe runs, in a make of its own: nothing else waits for it.
.PHONY: tool
all: tool
tool: ## the host tool alone
	$(eval TOOL_LACKING := $(if $(HOSTCC_RUNS),$(or $(TOOL_LACKS),$(OLD_ELFUTILS)),HOSTCC))
	$(if $(TOOL_LACKING),\
		@echo 'leakwrap: the tool is not built:' $(if $(filter HOSTCC,$(TOOL_LACKING)),\
			'HOSTCC=$(HOSTCC) does not run',$(if $(filter elfutils,$(TOOL_LACKING)),\
			'it needs elfutils 0.171 or later',\
			'libraries are missing.  On Debian: apt-get install $(TOOL_LACKING)')),\
		+$(Q)$(MAKE) --no-print-directory O='$(O)' $(O)/leakwrap)

# With -O2 the tool reads a large log no faster, and takes longer to build.  A host of 32 bits reads
# files of 2 GiB and more, the memory of a process above 2 GiB, and dates after 2038.
TOOL_CFLAGS := -std=gnu11 -O1 -g $(WARNINGS) -MMD -MP -D_GNU_SOURCE \
	-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -DLEAKWRAP_VERSION='"$(VERSION)"' -I. -I$(O)/tools
# Without one of these libraries a command or a format is left out, and says so when it is asked
# for.  Without libiberty names of Rust and D stay mangled.  The sources look for the headers
# themselves.
TOOL_OPTIONAL := zstd.h:-lzstd microhttpd.h:-lmicrohttpd curl/curl.h:-lcurl \
	curses.h:-lncursesw curses.h:-ltinfo libiberty/demangle.h:-liberty
TOOL_OPTIONAL_LIBS = $(foreach library,$(TOOL_OPTIONAL),$(if \
	$(call tool_has,$(firstword $(subst :, ,$(library)))),$(lastword $(subst :, ,$(library)))))
TOOL_LDLIBS = -ldw -lelf -ljansson -lprotobuf-c -lz -l:libsupc++.a -lpthread -lm \
	$(TOOL_OPTIONAL_LIBS)

TOOL_SOURCES := $(wildcard tools/*.c tools/*/*.c)
TOOL_OBJECTS := $(TOOL_SOURCES:%.c=$(O)/%.o) $(O)/tools/profile.pb-c.o

$(O)/leakwrap: $(TOOL_OBJECTS)
	$(call say,HOSTLD,$@)
	$(Q)$(HOSTCC) -o $@ $^ $(TOOL_LDLIBS)

$(TOOL_SOURCES:%.c=$(O)/%.o): $(O)/%.o: %.c $(O)/tools/profile.pb-c.h $(O)/tools/flags.h \
	$(O)/tools/cc_flags.h $(O)/tools/page.h
	$(call say,HOSTCC,$<)
	$(make_folder)
	$(Q)$(HOSTCC) $(TOOL_CFLAGS) -c -o $@ $<

# -- generated sources -----------------------------------------------------------------------------

# protoc-c comes with protobuf-c, and makes both files.  Newer ones warn that protoc should be used,
# which Debian has in another package.  Make before 4.3 has no grouped targets.
$(O)/tools/profile.pb-c.h: $(O)/tools/profile.pb-c.c ;
$(O)/tools/profile.pb-c.c: tools/render/profile.proto
	$(call say,PROTO,$<)
	$(make_folder)
	$(Q)$$(command -v protoc || echo protoc-c) --proto_path=tools/render \
		--c_out=$(O)/tools $< $(QUIETLY)

$(O)/tools/profile.pb-c.o: $(O)/tools/profile.pb-c.c
	$(call say,HOSTCC,$<)
	$(Q)$(HOSTCC) -std=gnu11 -O2 -g -I$(O)/tools -c -o $@ $<

# The lists of linker-flags.mk as C strings; @LIB@ is the archive, @PROCESS@ the folder of
# libleakwrap_process.so.  fclose allocates nothing:
# it is wrapped because of open_memstream.
tool_list = static const char *const $(1)[] = \
	{$(foreach word,$(subst $(LEAKWRAP_LIB),@LIB@,$(2)),"$(word)",) 0};
# Such a list with the C++ library of clang instead of GNU's.
comma := ,
tool_libcxx_list = $(call tool_list,$(1),$(subst -lstdc++,-lc++$(comma)-lc++abi,$(2)))
TOOL_ALLOCATING = $(filter-out fclose,\
	$(foreach family,$(LEAKWRAP_ALLOCATING_FAMILIES),$(LEAKWRAP_SYMBOLS_$(family))))

$(O)/tools/flags.h: linker-flags.mk tools/tools.mk
	$(make_folder)
	$(Q)printf '%s\n' \
		'$(call tool_list,allocating_symbols,$(TOOL_ALLOCATING))' \
		'$(call tool_list,wrapped_symbols,$(LEAKWRAP_SYMBOLS))' \
		'$(call tool_list,heap_symbols,\
			$(LEAKWRAP_SYMBOLS_malloc) $(LEAKWRAP_SYMBOLS_cxx))' >$@

$(O)/tools/cc_flags.h: LEAKWRAP_PROCESS_DIR := @PROCESS@
$(O)/tools/cc_flags.h: linker-flags.mk tools/tools.mk
	$(make_folder)
	$(Q)printf '%s\n' \
		'$(call tool_list,ldflags,$(LEAKWRAP_LDFLAGS))' \
		'$(call tool_list,lld_ldflags,$(LEAKWRAP_LLD_LDFLAGS))' \
		'$(call tool_list,lld_cxx_ldflags,$(LEAKWRAP_LLD_CXX_LDFLAGS))' \
		'$(call tool_list,ldlibs,$(LEAKWRAP_LDLIBS))' \
		'$(call tool_list,cxx_ldlibs,$(LEAKWRAP_CXX_LDLIBS))' \
		'$(call tool_list,cxx_static_ldlibs,$(LEAKWRAP_CXX_STATIC_LDLIBS))' \
		'$(call tool_libcxx_list,libcxx_ldlibs,$(LEAKWRAP_CXX_LDLIBS))' \
		'$(call tool_libcxx_list,libcxx_static_ldlibs,$(LEAKWRAP_CXX_STATIC_LDLIBS))' >$@

# The page of the format html as the bytes of a C array.
$(O)/tools/page.h: tools/render/page.html
	$(make_folder)
	$(Q)od -An -v -tu1 $< | sed 's/\([0-9][0-9]*\)/\1,/g' >$@

# -- checked builds --------------------------------------------------------------------------------

# The tool under AddressSanitizer and UndefinedBehaviorSanitizer, and parts of it under libFuzzer.
# With clang the objects are the fuzzers' as well.
TOOL_CHECKED := $(filter-out -MMD -MP -Werror,$(TOOL_CFLAGS)) -O1 -g1 -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all
HAS_CLANG := $(shell command -v clang || :)
CHECKED_CC := $(if $(HAS_CLANG),clang,$(HOSTCC))
CHECKED_OBJECTS := $(TOOL_SOURCES:%.c=$(O)/checked/%.o) $(O)/tools/profile.pb-c.o

$(O)/checked/%.o: %.c $(TOOL_OBJECTS)
	$(call say,CHECKED,$<)
	$(make_folder)
	$(Q)$(CHECKED_CC) $(TOOL_CHECKED) $(if $(HAS_CLANG),-fsanitize=fuzzer-no-link) -c -o $@ $<

$(O)/leakwrap.checked: $(CHECKED_OBJECTS)
	$(call say,HOSTLD,$@)
	$(Q)$(CHECKED_CC) $(TOOL_CHECKED) -o $@ $^ $(TOOL_LDLIBS)

# Any bytes are a log (leakwrap.fuzz), a core file (leakwrap.fuzz_image), or what a client sends to
# leakwrap serve.  The folders left out read none of it.
FUZZED_SOURCES := $(filter-out tools/leakwrap.c tools/audit/% tools/command/% tools/top/% \
	tools/torture/%,$(TOOL_SOURCES))
FUZZED_OBJECTS := $(FUZZED_SOURCES:%.c=$(O)/checked/%.o) $(O)/tools/profile.pb-c.o
# The fuzzer of requests sees whether a request opens a file, and waits for no dump.
FUZZ_WRAPS := -Wl,--wrap=watch_renew,--wrap=watch_sleep,--wrap=fopen64,--wrap=open64,--wrap=opendir

$(O)/leakwrap.fuzz: $(O)/checked/tests/tool/fuzz_parse.o $(FUZZED_OBJECTS)
	$(call say,CLANG,$@)
	$(Q)clang $(TOOL_CHECKED) -fsanitize=fuzzer -o $@ $^ $(TOOL_LDLIBS)

$(O)/leakwrap.fuzz_image: $(O)/checked/tests/tool/fuzz_image.o $(FUZZED_OBJECTS)
	$(call say,CLANG,$@)
	$(Q)clang $(TOOL_CHECKED) -fsanitize=fuzzer -o $@ $^ $(TOOL_LDLIBS)

$(O)/leakwrap.fuzz_requests: $(O)/checked/tests/tool/fuzz_requests.o $(FUZZED_OBJECTS)
	$(call say,CLANG,$@)
	$(Q)clang $(TOOL_CHECKED) -fsanitize=fuzzer $(FUZZ_WRAPS) -o $@ $^ $(TOOL_LDLIBS)
