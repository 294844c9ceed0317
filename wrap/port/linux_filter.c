/* linux_filter.c - see linux_filter.h. */
#include "wrap/port/linux_filter.h"

#include "wrap/arch/arch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static struct leakwrap_filter *_Atomic filters; /* the newest */
static _Atomic unsigned unknown;                /* number of filters that forbid all */
static _Atomic int process;

/* -- one filter -------------------------------------------------------------------------------- */

/* What a filter looks at: struct seccomp_data (Linux, uapi/linux/seccomp.h).  A filter reads whole
 * words. */
union call {
	struct {
		int32_t number;
		uint32_t architecture;
		uint64_t pc;
		uint64_t arguments[6];
	};
	uint32_t words[16];
};

/* The architecture as filters know it (Linux, uapi/linux/audit.h). */
#define IS_64_BIT        (sizeof(long) == 8 ? 0x80000000u : 0)
#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0x40000000u : 0)
#define ARCHITECTURE     (LEAKWRAP_ELF_MACHINE | IS_64_BIT | IS_LITTLE_ENDIAN)

/* The parts of an instruction's code that filters may use (Linux, uapi/linux/bpf_common.h, and
 * seccomp_check_filter in kernel/seccomp.c). */
enum { LOAD, LOAD_X, STORE, STORE_X, COMPUTE, JUMP, RETURN, OTHER };
enum { CONSTANT = 0x00, CALL = 0x20, MEMORY = 0x60, LENGTH = 0x80 };
enum {
	ADD = 0x00,
	SUBTRACT = 0x10,
	MULTIPLY = 0x20,
	DIVIDE = 0x30,
	OR = 0x40,
	AND = 0x50,
	LEFT = 0x60,
	RIGHT = 0x70,
	NEGATE = 0x80,
	XOR = 0xa0
};
enum { ALWAYS = 0x00, EQUAL = 0x10, GREATER = 0x20, NOT_LESS = 0x30, HAS_BITS = 0x40 };
enum { WITH_X = 0x08, RETURN_A = 0x10, FROM_X = 0x80 };

/* The results by which the system call is made, or fails with an error (uapi/linux/seccomp.h).  By
 * all others the process or the thread ends or gets SIGSYS. */
#define RESULT      0xffff0000u
#define ERROR       0x00050000u
#define NOTIFY_USER 0x7fc00000u
#define TRACE       0x7ff00000u
#define LOG         0x7ffc0000u
#define ALLOW       0x7fff0000u

struct machine {
	uint32_t a, x, memory[16];
};

static uint32_t load(const struct machine *machine, const struct leakwrap_filter_step *step,
                     const union call *call)
{
	switch (step->code & 0xe0) {
	case CALL:
		return call->words[step->value / 4 % 16];
	case MEMORY:
		return machine->memory[step->value % 16];
	case LENGTH:
		return sizeof(*call);
	default: /* CONSTANT */
		return step->value;
	}
}

static uint32_t compute(unsigned code, uint32_t a, uint32_t with)
{
	switch (code & 0xf0) {
	case ADD:
		return a + with;
	case SUBTRACT:
		return a - with;
	case MULTIPLY:
		return a * with;
	case DIVIDE:
		return with == 0 ? 0 : a / with;
	case OR:
		return a | with;
	case AND:
		return a & with;
	case LEFT:
		return a << with % 32;
	case RIGHT:
		return a >> with % 32;
	case NEGATE:
		return 0 - a;
	default: /* XOR */
		return a ^ with;
	}
}

static bool is_true(unsigned code, uint32_t a, uint32_t with)
{
	switch (code & 0xf0) {
	case EQUAL:
		return a == with;
	case GREATER:
		return a > with;
	case NOT_LESS:
		return a >= with;
	default: /* HAS_BITS */
		return (a & with) != 0;
	}
}

/* Returns how many instructions STEP, a jump, leaves out. */
static uint32_t distance(const struct leakwrap_filter_step *step, uint32_t a, uint32_t with)
{
	if ((step->code & 0xf0) == ALWAYS)
		return step->value;
	return is_true(step->code, a, with) ? step->if_true : step->if_false;
}

/* Returns what FILTER says about CALL.  The kernel has checked the filter, or will refuse it: here
 * it only must end, and not read outside.  All jumps lead forward. */
static uint32_t ask(const struct leakwrap_filter *filter, const union call *call)
{
	const uint32_t count = atomic_load(&filter->count);
	struct machine machine = {.a = 0};
	uint32_t jump;

	for (uint32_t at = 0; at < count; at++) {
		const struct leakwrap_filter_step *step = &filter->steps[at];
		const uint32_t with = (step->code & WITH_X) != 0 ? machine.x : step->value;

		switch (step->code & 7) {
		case LOAD:
			machine.a = load(&machine, step, call);
			break;
		case LOAD_X:
			machine.x = load(&machine, step, call);
			break;
		case STORE:
			machine.memory[step->value % 16] = machine.a;
			break;
		case STORE_X:
			machine.memory[step->value % 16] = machine.x;
			break;
		case COMPUTE:
			/* Where the kernel runs the filter, a division by zero returns 0. */
			if ((step->code & 0xf0) == DIVIDE && with == 0)
				return 0;
			machine.a = compute(step->code, machine.a, with);
			break;
		case JUMP:
			jump = distance(step, machine.a, with);
			if (jump >= count - at)
				return ALLOW;
			at += jump;
			break;
		case RETURN:
			return (step->code & 0x18) == RETURN_A ? machine.a : step->value;
		default: /* OTHER */
			if ((step->code & FROM_X) != 0)
				machine.a = machine.x;
			else
				machine.x = machine.a;
		}
	}
	return ALLOW;
}

/* Returns what FILTER, or NULL for an unknown one, does at CALL. */
static uint32_t result_at(const struct leakwrap_filter *filter, const union call *call)
{
	return filter ? ask(filter, call) & RESULT : 0;
}

static bool is_end(uint32_t result)
{
	return result != ERROR && result != NOTIFY_USER && result != TRACE && result != LOG &&
	       result != ALLOW;
}

static union call call_of(long number, const long arguments[6])
{
	union call call = {.number = (int32_t)number, .architecture = ARCHITECTURE};

	for (unsigned i = 0; i < 6; i++)
		call.arguments[i] = (unsigned long)arguments[i];
	return call;
}

struct needed {
	long number, argument;
	const char *name;
};

/* Returns the first of the COUNT calls at NEEDED that FILTER forbids, or NULL. */
static const char *find_forbidden(const struct leakwrap_filter *filter, const struct needed *needed,
                                  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const union call call =
		        call_of(needed[i].number, (const long[6]){needed[i].argument});

		if (is_end(result_at(filter, &call)))
			return needed[i].name;
	}
	return NULL;
}

#define FIND_FORBIDDEN(filter, needed) \
	find_forbidden(filter, needed, sizeof(needed) / sizeof((needed)[0]))

const char *leakwrap_filter_forbidden_for_handlers(const struct leakwrap_filter *filter)
{
	static const struct needed needed[] = {
	        {__NR_rt_sigreturn, 0, "rt_sigreturn"},
	        {__NR_rt_sigprocmask, SIG_SETMASK, "rt_sigprocmask"},
	};

	return FIND_FORBIDDEN(filter, needed);
}

const char *leakwrap_filter_forbidden_for_dumps(const struct leakwrap_filter *filter,
                                                bool opens_log)
{
	static const struct needed to_write[] = {
	        {__NR_write, 2, "write"},
#ifdef __NR_poll
	        {__NR_poll, 0, "poll"},
#else
	        {__NR_ppoll, 0, "ppoll"},
#endif
	};
	static const struct needed to_open[] = {
#ifdef __NR_open
	        {__NR_open, 0, "open"},
#else
	        {__NR_openat, AT_FDCWD, "openat"},
#endif
	};
	/* One of them is enough, see leakwrap_file_describe. */
	static const struct needed to_describe[] = {
#ifdef __NR_newfstatat
	        {__NR_newfstatat, 2, "newfstatat"},
	        {__NR_fstat, 2, "fstat"},
#else
	        {__NR_fstat64, 2, "fstat64"},
#endif
	};
	const char *name = FIND_FORBIDDEN(filter, to_write);

	if (!name && opens_log)
		name = FIND_FORBIDDEN(filter, to_open);
	if (name)
		return name;
	for (size_t i = 0; i < sizeof(to_describe) / sizeof(to_describe[0]); i++)
		if (!find_forbidden(filter, &to_describe[i], 1))
			return NULL;
	return to_describe[0].name;
}

bool leakwrap_filter_forbids_crash_trace(const struct leakwrap_filter *filter)
{
	static const struct needed needed[] = {
	        {__NR_rt_sigreturn, 0, "rt_sigreturn"},
	        {__NR_rt_sigprocmask, SIG_SETMASK, "rt_sigprocmask"},
	        {__NR_rt_sigaction, 0, "rt_sigaction"},
	        {__NR_sigaltstack, 0, "sigaltstack"},
	        {__NR_tgkill, 0, "tgkill"},
	};

	return FIND_FORBIDDEN(filter, needed) != NULL;
}

/* -- all filters ------------------------------------------------------------------------------- */

void leakwrap_filters_add(struct leakwrap_filter *filter, int own_process)
{
	atomic_store(&process, own_process);
	if (!filter) {
		atomic_fetch_add(&unknown, 1);
		return;
	}
	filter->next = atomic_load(&filters);
	while (!atomic_compare_exchange_weak(&filters, &filter->next, filter))
		;
}

void leakwrap_filters_withdraw(struct leakwrap_filter *filter)
{
	if (filter)
		atomic_store(&filter->count, 0);
	else
		atomic_fetch_sub(&unknown, 1);
}

int leakwrap_filters_process(void)
{
	return atomic_load(&process);
}

void leakwrap_filters_reset_in_child(int child)
{
	if (atomic_load(&process) != 0)
		atomic_store(&process, child);
}

bool leakwrap_filters_are_there(void)
{
	return atomic_load(&filters) || atomic_load(&unknown) > 0;
}

bool leakwrap_filters_forbid(long number, const long arguments[6])
{
	const struct leakwrap_filter *filter = atomic_load(&filters);
	union call call;

	if (!filter || atomic_load(&unknown) > 0)
		return atomic_load(&unknown) > 0;
	call = call_of(number, arguments);
	for (; filter; filter = filter->next) {
		const uint32_t result = result_at(filter, &call);

		/* A change that cannot be undone would leave signals blocked. */
		if (is_end(result) || (result == ERROR && number == __NR_rt_sigprocmask))
			return true;
	}
	return false;
}
