# make install and uninstall, and the file for pkg-config.

.PHONY: install uninstall

# -- leakwrap.pc -----------------------------------------------------------------------------------
# Its paths are relative to the file itself, so that one file serves every PREFIX and DESTDIR.

all: $(O)/leakwrap.pc

PC_LIB := $${libdir}/libleakwrap.a
$(O)/leakwrap.pc: LEAKWRAP_PROCESS_DIR := $${libdir}/leakwrap
define PC_TEXT
prefix=$${pcfiledir}/../..
libdir=$${prefix}/lib
includedir=$${prefix}/include

flags=$(LEAKWRAP_LDFLAGS)
# In the place of Libs for a C++ program that is linked with -static, or with -static-libstdc++
# (pkg-config --variable=cxx_libs leakwrap).
cxx_libs=$${flags} $(subst $(LEAKWRAP_LIB),$(PC_LIB),$(LEAKWRAP_CXX_LDLIBS))
cxx_static_libs=$${flags} $(subst $(LEAKWRAP_LIB),$(PC_LIB),$(LEAKWRAP_CXX_STATIC_LDLIBS))
# The same for the program's own calls alone, without those of shared libraries.
program_libs=$${flags} $(subst $(LEAKWRAP_LIB),$(PC_LIB),$(LEAKWRAP_PROGRAM_LDLIBS))
# In the place of Libs: the flags as one word, a response file.
short_libs=@$${prefix}/share/leakwrap/ldflags $(subst $(LEAKWRAP_LIB),$(PC_LIB),$(LEAKWRAP_LDLIBS))
# Beside one of these, for lld.
lld_flags=$(LEAKWRAP_LLD_LDFLAGS)
lld_cxx_flags=$(LEAKWRAP_LLD_CXX_LDFLAGS)
# The old name of lld_flags, from when they were for static programs alone.
lld_static_flags=$${lld_flags}

Name: leakwrap
Description: malloc and free leak tracer that attaches by relinking
Version: $(VERSION)
Cflags: -I$${includedir}
Libs: $${flags} $(subst $(LEAKWRAP_LIB),$(PC_LIB),$(LEAKWRAP_LDLIBS))
endef

$(O)/leakwrap.pc: export PC_CONTENT = $(PC_TEXT)
$(O)/leakwrap.pc: Makefile wrap/install.mk linker-flags.mk
	$(call say,GEN,$@)
	$(make_folder)
	$(Q)printf '%s\n' "$$PC_CONTENT" > $@

# -- install ---------------------------------------------------------------------------------------
# SOURCE:DESTINATION, which is under PREFIX.  The tool's files are left out if the tool is not
# built.

# install_pages FILE...: manual pages, each in the folder of its section.
install_pages = $(foreach page,$(1),\
	$(page):share/man/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page)))

INSTALL_FILES := \
	$(O)/libleakwrap.a:lib/libleakwrap.a \
	$(if $(filter bare,$(PORT)),,$(foreach file,$(PROCESS_FILES),\
		$(file):lib/leakwrap/$(notdir $(file)))) \
	$(if $(filter bare,$(PORT)),,$(O)/leakwrap.pc:lib/pkgconfig/leakwrap.pc) \
	linker-flags.mk:share/leakwrap/linker-flags.mk \
	$(O)/ldflags:share/leakwrap/ldflags \
	$(foreach file,$(GENERATOR_FILES),$(O)/generator/$(file):share/leakwrap/generator/$(file)) \
	wrap/leakwrap.h:include/leakwrap.h \
	$(if $(filter bare,$(PORT)),wrap/leakwrap_bare.h:include/leakwrap_bare.h) \
	$(call install_pages,$(wildcard wrap/man/*))
INSTALL_TOOL := $(if $(wildcard tools/tools.mk),\
	$(O)/leakwrap:bin/leakwrap \
	$(call install_pages,$(wildcard tools/man/*)) \
	tools/leakwrap.bash:share/bash-completion/completions/leakwrap)

install: $(O)/libleakwrap.a process generator $(O)/leakwrap.pc $(if $(INSTALL_TOOL),tool)
install: ## install under PREFIX, in DESTDIR
	$(Q)set -e; tool='$(INSTALL_TOOL)'; [ -x '$(O)/leakwrap' ] || tool=; \
	for file in $(INSTALL_FILES) $$tool; do \
		target='$(DESTDIR)$(PREFIX)'/$${file#*:}; \
		case $$target in */bin/*) mode=755 ;; *) mode=644 ;; esac; \
		install -D -m $$mode -- "$${file%%:*}" "$$target"; \
	done
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)case '$(PREFIX)' in *' '*) \
		echo 'PREFIX has a space: pkg-config, linker-flags.mk and CMake cannot link' \
			'from there, only leakwrap cc can' >&2 ;; \
	esac

GENERATOR_FOLDERS := $(sort $(dir $(GENERATOR_HEADERS)))

uninstall: ## remove what install put there
	$(Q)set -e; for file in $(INSTALL_FILES) $(INSTALL_TOOL); do \
		rm -f -- '$(DESTDIR)$(PREFIX)'/$${file#*:}; \
	done
	$(Q)rmdir -- '$(DESTDIR)$(PREFIX)/lib/leakwrap' 2>/dev/null || :
	$(Q)for folder in $(GENERATOR_FOLDERS:%=generator/%) generator/wrap generator ''; do \
		rmdir -- '$(DESTDIR)$(PREFIX)'/share/leakwrap/$$folder 2>/dev/null || :; \
	done
	$(call say,REMOVE,$(DESTDIR)$(PREFIX))
