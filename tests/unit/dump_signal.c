/* dump_signal.c - threads change the program's view of the dump signal while the signal arrives.
 * sources: wrap/signal/dump_signal.c wrap/signal/handler_call.c wrap/signal/program_view.c
 * sources: wrap/signal/spare_stack.c
 * sources: wrap/arch/call_on_stack.c wrap/unwind/stack_bounds.c wrap/base/process.c
 * sources: wrap/base/thread.c wrap/port/linux*.c */
#include "wrap/base/process.h"
#include "wrap/signal/dump_signal.h"
#include "wrap/signal/handler_call.h"
#include "wrap/base/thread.h"
#include "wrap/port/port.h"
#include "report/request.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, STEPS = 5000 };

static _Atomic unsigned dumps, first, second, others;
static uint32_t was_set;
static int raised; /* the signal that set raises; 0: none */

static void dump(bool wants_kinds, const void *context)
{
	(void)context;
	CHECK(!wants_kinds);
	atomic_fetch_add(&dumps, 1);
}

static void set(uint32_t value)
{
	was_set = value;
	if (raised)
		raise(raised);
}

static void on_first(int signo)
{
	CHECK(signo == SIGUSR1);
	atomic_fetch_add(&first, 1);
}

static void on_second(int signo, siginfo_t *info, void *context)
{
	CHECK(signo == SIGUSR1 && info->si_signo == SIGUSR1 && context);
	atomic_fetch_add(&second, 1);
}

static void *change(void *argument)
{
	uint64_t random = (uintptr_t)argument;

	for (unsigned step = 0; step < STEPS; step++) {
		struct sigaction action, before;

		memset(&action, 0, sizeof(action));
		switch (draw_random(&random) % 4) {
		case 0:
			action.sa_handler = on_first;
			break;
		case 1:
			action.sa_sigaction = on_second;
			action.sa_flags = SA_SIGINFO;
			break;
		default:
			action.sa_handler = draw_random(&random) % 2 ? SIG_IGN : SIG_DFL;
		}
		CHECK(leakwrap_dump_signal_change_view(SIGUSR1, &action, &before) == 0);
		CHECK(before.sa_handler == SIG_IGN || before.sa_handler == SIG_DFL ||
		      before.sa_handler == on_first ||
		      ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == on_second));
		if (step % 8 == 0)
			raise(SIGUSR1);
	}
	return NULL;
}

static void on_other(int signo)
{
	(void)signo;
	atomic_fetch_add(&others, 1);
}

/* Returns what leakwrap_dump_signal_serve_waited does after the signal SIGNO with CODE and VALUE,
 * with the signal that a program gets in *SIGNO. */
static bool waits_again(int *signo, int code, uint32_t value)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = *signo;
	info.si_code = code;
	info.si_uid = geteuid();
	info.si_value.sival_int = (int)value;
	return leakwrap_dump_signal_serve_waited(signo, &info, leakwrap_self.waited);
}

/* A wait that took the signal dumps. It goes on if the tool sent the signal. */
static void check_waits(void)
{
	const unsigned start = atomic_load(&dumps);
	siginfo_t info = {.si_code = SI_QUEUE};
	int signo = SIGUSR1;

	errno = EDOM;
	CHECK(!waits_again(&signo, SI_QUEUE, 5) && signo == SIGUSR1);
	CHECK(atomic_load(&dumps) == start + 1);
	CHECK(waits_again(&signo, SI_QUEUE, LEAKWRAP_REQUEST) && signo == SIGUSR1);
	CHECK(atomic_load(&dumps) == start + 2);
	CHECK(waits_again(&signo, SI_QUEUE, LEAKWRAP_SET | 7));
	CHECK(atomic_load(&dumps) == start + 2 && was_set == (LEAKWRAP_SET | 7) && errno == EDOM);
	/* Another signal, an error, and a signal that an inner wait has served. */
	signo = SIGUSR2;
	CHECK(!waits_again(&signo, SI_QUEUE, LEAKWRAP_REQUEST) && signo == SIGUSR2);
	signo = -1;
	CHECK(!waits_again(&signo, SI_QUEUE, LEAKWRAP_REQUEST) && signo == -1);
	signo = SIGUSR1;
	info.si_value.sival_int = LEAKWRAP_REQUEST;
	CHECK(!leakwrap_dump_signal_serve_waited(&signo, &info, leakwrap_self.waited - 1));
	CHECK(atomic_load(&dumps) == start + 2 && errno == EDOM);
	/* Others may not set. */
	info.si_value.sival_int = LEAKWRAP_SET;
	info.si_uid = geteuid() + 1;
	CHECK(leakwrap_dump_signal_serve_waited(&signo, &info, leakwrap_self.waited));
	CHECK(was_set == (LEAKWRAP_SET | 7));
	/* A handler that came meanwhile interrupts the wait, an ignored signal does not. */
	raised = SIGCHLD;
	CHECK(waits_again(&signo, SI_QUEUE, LEAKWRAP_SET) && signo == SIGUSR1);
	signal(SIGUSR2, on_other);
	raised = SIGUSR2;
	CHECK(!waits_again(&signo, SI_QUEUE, LEAKWRAP_SET));
	CHECK(signo == -1 && errno == EINTR && atomic_load(&others) == 1);
	raised = 0;
}

/* Returns whether a user with the id USER may set. */
static bool may_set(uid_t user)
{
	siginfo_t info = {.si_code = SI_QUEUE};
	int signo = SIGUSR1;

	was_set = 0;
	info.si_uid = user;
	info.si_value.sival_int = (int)(LEAKWRAP_SET | 7);
	CHECK(leakwrap_dump_signal_serve_waited(&signo, &info, leakwrap_self.waited));
	return was_set != 0;
}

/* The user of the process and root may set, whoever the user is. */
static void check_users(void)
{
	const uid_t user = geteuid();

	CHECK(user != 0 || seteuid(1) == 0);
	CHECK(may_set(0) && may_set(geteuid()) && !may_set(geteuid() + 1));
	CHECK(seteuid(user) == 0);
}

/* A change that a user asks for is not the program's signal: its handler is not called. */
static void check_set(void)
{
	const union sigval value = {.sival_int = (int)(LEAKWRAP_SET | 8)};
	struct sigaction action = {.sa_handler = on_first};
	const unsigned handled = atomic_load(&first), start = atomic_load(&dumps);

	CHECK(leakwrap_dump_signal_change_view(SIGUSR1, &action, NULL) == 0);
	CHECK(sigqueue(getpid(), SIGUSR1, value) == 0);
	usleep(1); /* ThreadSanitizer calls handlers in such functions */
	CHECK(was_set == (LEAKWRAP_SET | 8));
	CHECK(atomic_load(&first) == handled && atomic_load(&dumps) == start);
}

/* A signal of a relative has its default effect.  When that leaves the process alive, the next
 * signal of somebody else dumps again. */
static void check_default_of_relative(void)
{
	const unsigned start = atomic_load(&dumps);
	int status = 1;
	pid_t child;

	leakwrap_dump_signal_install(SIGWINCH, dump, set);
	leakwrap_process_before_fork();
	child = fork();
	if (child == 0) {
		leakwrap_process_reset_in_child();
		_exit(kill(getppid(), SIGWINCH) != 0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(atomic_load(&dumps) == start);
	raise(SIGWINCH);
	CHECK(atomic_load(&dumps) == start + 1);
}

/* Only what can be read, and may be of the signal, is taken for a structure of the kernel. */
static void check_signal_info(void)
{
	const size_t page = 4096;
	char *const pages =
	        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	siginfo_t *const info = (void *)(pages + page - sizeof(*info));
	const void *const no_structures[] = {NULL, (void *)8, (void *)(UINTPTR_MAX - 7),
	                                     (const char *)info + 4, (const char *)info - 3};

	CHECK(pages != MAP_FAILED && munmap(pages + page, page) == 0);
	*info = (siginfo_t){.si_signo = SIGUSR1, .si_code = SI_USER};
	CHECK(leakwrap_is_signal_info(SIGUSR1, info));
	CHECK(!leakwrap_is_signal_info(SIGUSR2, info));
	memcpy((char *)info - 3, &(int){SIGUSR1}, sizeof(int));
	for (unsigned i = 0; i < sizeof(no_structures) / sizeof(no_structures[0]); i++)
		CHECK(!leakwrap_is_signal_info(SIGUSR1, no_structures[i]));
	*info = (siginfo_t){.si_signo = SIGUSR1, .si_code = SI_USER, .si_errno = 1};
	CHECK(!leakwrap_is_signal_info(SIGUSR1, info));
	*info = (siginfo_t){.si_signo = SIGUSR1, .si_code = SI_KERNEL + 1};
	CHECK(!leakwrap_is_signal_info(SIGUSR1, info));
	*info = (siginfo_t){.si_signo = SIGUSR1, .si_code = -65};
	CHECK(!leakwrap_is_signal_info(SIGUSR1, info));
}

static void check_time_left(void)
{
	const uint64_t now = leakwrap_time_monotonic(), second = 1000000000;
	const uint64_t rest = leakwrap_time_left(10, 500, now - second);

	CHECK(rest <= 9 * second + 500 && rest > 0);
	CHECK(leakwrap_time_left(1, 0, now - 2 * second) == 0);
	CHECK(leakwrap_time_left(INT64_MAX, 0, now) > 1000000000 * second);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_first}, now;
	pthread_t thread[THREADS];

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	leakwrap_process_start();
	leakwrap_dump_signal_install(SIGUSR1, dump, set);
	CHECK(leakwrap_dump_signal_is_ours(SIGUSR1) && !leakwrap_dump_signal_is_ours(SIGUSR2));
	/* The action from before is the view, and runs. */
	CHECK(leakwrap_dump_signal_change_view(SIGUSR1, NULL, &now) == 0 &&
	      now.sa_handler == on_first);
	raise(SIGUSR1);
	CHECK(atomic_load(&dumps) == 1 && atomic_load(&first) == 1);

	action.sa_flags = (int)SA_RESETHAND;
	CHECK(leakwrap_dump_signal_change_view(SIGUSR1, &action, NULL) == 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	CHECK(atomic_load(&dumps) == 3 && atomic_load(&first) == 2);
	CHECK(leakwrap_dump_signal_change_view(SIGUSR1, NULL, &now) == 0 &&
	      now.sa_handler == SIG_DFL &&
	      (now.sa_flags & (int)(SA_RESETHAND | SA_SIGINFO)) == (int)SA_RESETHAND);

	atomic_store(&dumps, 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, change, (void *)(i + 1)) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK(atomic_load(&dumps) == THREADS * ((STEPS + 7) / 8));
	CHECK(atomic_load(&second) > 0);

	check_waits();
	check_users();
	check_set();
	check_signal_info();
	check_time_left();

	/* The view is ignored for the next program, and comes back. */
	action = (struct sigaction){.sa_handler = SIG_IGN};
	CHECK(leakwrap_dump_signal_change_view(SIGUSR1, &action, NULL) == 0);
	leakwrap_dump_signal_prepare_exec();
	CHECK(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
	leakwrap_dump_signal_cancel_exec();
	CHECK(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler != SIG_IGN);
	CHECK(leakwrap_dump_signal_release() && !leakwrap_dump_signal_release());
	CHECK(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
	CHECK(!leakwrap_dump_signal_is_ours(SIGUSR1));
	check_default_of_relative();
	return 0;
}
