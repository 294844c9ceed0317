# The runtime for programs without an operating system: make PORT=bare.  Included by wrap.mk.
#
#	make O=build/m3 PORT=bare CROSS_COMPILE=arm-none-eabi- \
#		CFLAGS_TARGET="-mcpu=cortex-m3 -mthumb" lib
#
# wrap/bare/ replaces the files that need an operating system or tables of megabytes.  All other
# files are shared.

CFLAGS_TARGET ?=

PORT_MACRO := __arm__
PORT_REFUSAL := does not compile for 32-bit ARM, as PORT=bare needs

RUNTIME_FAMILIES := $(LEAKWRAP_BARE_FAMILIES)
RUNTIME_LDFLAGS = $(LEAKWRAP_BARE_LDFLAGS)

# The options of wrap/bare/option_table.c, for generate.sh.
GENERATOR_OPTIONS := printf '%s\n' 'depth|1 to 32' 'top|NUMBER' 'min_bytes|NUMBER' \
	'exit|0 or 1' 'blocks|0 or 1'

RUNTIME_CFLAGS := -std=gnu11 -Os $(DEBUG_INFO) $(WARNINGS) -MMD -MP $(CFLAGS_TARGET) \
	-I. -D_GNU_SOURCE -DLEAKWRAP_BARE \
	-fvisibility=hidden -fomit-frame-pointer -fno-lto -fno-common -ffunction-sections \
	-fdata-sections -fno-stack-protector $(FIXED_REGISTERS)

# wrap/bare/tasks.c keeps struct leakwrap_thread by task.  Other thread-local variables exist once.
RUNTIME_CFLAGS += -D_Thread_local=

# Exceptions pass only through the operators new.
ENTRY_CFLAGS_cxx := -fexceptions

# What tells lost from reachable memory: only programs with leakwrap_bare_kinds have it.
KINDS_SOURCES := $(addprefix wrap/,bare/dump_kinds.c bare/park.c bare/reach.c reach/interior.c) \
	report/kinds_writer.c

CORE_SOURCES := $(wildcard wrap/bare/*.c) \
	$(addprefix wrap/,arch/decoder.c base/loss.c base/options.c entry/public_api.c \
		record/allocate.c record/find_site.c record/inner_block.c record/release.c \
		record/resize.c record/thread_state.c) \
	$(addprefix wrap/unwind/,arm_exidx.c code_follower.c epilogue.c find_rule.c fp_frame.c \
		frame.c prologue.c return_address.c rule_cache.c sigreturn.c stack_scan.c \
		start_code.c table_rule.c walk_rules.c walk_step.c) \
	$(addprefix report/,dump.c dump_writer.c frame_writer.c row_order.c site_totals.c \
		origin.c system_cxx.c line_writer.c)
CORE_SOURCES := $(filter-out $(KINDS_SOURCES),$(CORE_SOURCES)) $(KINDS_SOURCES)
CORE_NEEDS :=
LACKS :=

NM ?= $(CROSS_COMPILE)nm
SIZE ?= $(CROSS_COMPILE)size

# Prints the size of the core, which every program gets: code and constants, variables, and the
# memory for each record; and the size of what tells lost from reachable memory.
KINDS_OBJECTS = $(KINDS_SOURCES:%.c=$(O)/%.o)
symbol = $$($(NM) $(1) | sed -n 's/^0*\(.*\) A $(2)$$/0x\1/p')
$(O)/libleakwrap.a: ARCHIVE_NOTE = \
	$(SIZE) $(filter-out $(KINDS_OBJECTS),$(CORE_OBJECTS)) | \
		awk '{ code += $$1; data += $$2 + $$3 } \
		END { printf "  SIZE    %d bytes of code, %d of variables", code, data }'; \
	$(SIZE) $(KINDS_OBJECTS) | \
		awk '{ code += $$1 } END { printf ", %d bytes for kinds", code }'; \
	printf ', %d for each live block, %d for each call site and 4 for each of its frames\n' \
		"$(call symbol,$(O)/wrap/bare/live.o,leakwrap_live_slot_bytes)" \
		"$(call symbol,$(O)/wrap/bare/site_table.o,leakwrap_site_bytes)"
