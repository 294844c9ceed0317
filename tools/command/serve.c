/* serve.c - the command serve: dumps of running programs by HTTP. */
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/command/commands.h"

#if __has_include(<microhttpd.h>)

#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tools/command/options.h"
#include "tools/live/http.h"

enum {
	CONNECTIONS_MAX = 256,
	IDLE_SECONDS = 15, /* a slow client is dropped after them */
	DUMPS_KEPT = 32,
	KEY_LISTEN = 0x300,
	KEY_INTERVAL,
	KEY_TIMEOUT,
	KEY_KINDS = 'k',
};

struct server {
	struct watch_options options;
	size_t wanted_room;
	const char *listen;
	struct watch watch;
	struct http http;
};

static error_t parse_serve(int key, char *argument, struct argp_state *state)
{
	struct server *server = state->input;
	switch (key) {
	case KEY_LISTEN:
		server->listen = argument;
		break;
	case KEY_INTERVAL:
		server->options.interval = (double)option_seconds(state, "interval", argument, 0);
		break;
	case KEY_TIMEOUT:
		server->options.timeout = (double)option_seconds(state, "timeout", argument, 0);
		break;
	case KEY_KINDS:
		server->options.kinds = true;
		break;
	case ARGP_KEY_ARG:
		GROW(server->options.wanted, server->wanted_room, server->options.wanted_count + 1);
		server->options.wanted[server->options.wanted_count++] = argument;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* -- the server -------------------------------------------------------------------------------- */

/* Makes "::ffff:127.0.0.1" in *BOUND the address of IPv4 that it stands for. */
static void unmap_address(struct sockaddr_storage *bound, socklen_t *length)
{
	struct sockaddr_in6 mapped;

	memcpy(&mapped, bound, sizeof mapped);
	if (mapped.sin6_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&mapped.sin6_addr))
		return;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = mapped.sin6_port};
	memcpy(&address.sin_addr, mapped.sin6_addr.s6_addr + 12, sizeof address.sin_addr);
	memcpy(bound, &address, sizeof address);
	*length = sizeof address;
}

/* Returns a socket that listens at ADDRESS, "127.0.0.1:8417" or "[::1]:8417".  Ends the tool with a
 * message if that is not possible. */
static int open_socket(const char *address, struct sockaddr_storage *bound, socklen_t *length)
{
	char *host = xstrdup(address), *port = strrchr(host, ':');
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
	uint64_t number;
	int one = 1;

	if (!port || port == host)
		die("--listen=%s: must be ADDRESS:PORT", address);
	*port++ = '\0';
	if (!parse_number(port, &number) || number > UINT16_MAX)
		die("--listen=%s: the port must be a number from 0 to %d", address, UINT16_MAX);
	char *name = host;
	if (*name == '[' && name[strlen(name) - 1] == ']') {
		name[strlen(name) - 1] = '\0';
		name++;
	}
	int error = getaddrinfo(name, port, &hints, &found);
	if (error)
		die("--listen=%s: %s", address, gai_strerror(error));
	int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 128) != 0)
		die("--listen=%s: %s", address, strerror(errno));
	freeaddrinfo(found);
	free(host);
	*length = sizeof *bound;
	getsockname(fd, (struct sockaddr *)bound, length);
	unmap_address(bound, length);
	return fd;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	struct sockaddr_in6 address6;

	if (address->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	memcpy(&address6, address, sizeof address6);
	return IN6_IS_ADDR_LOOPBACK(&address6.sin6_addr);
}

/* Returns the numeric host of the address BOUND as it stands in a URL, and sets *PORT.  The caller
 * frees the host. */
static char *describe_address(const struct sockaddr_storage *bound, socklen_t length,
                              unsigned *port)
{
	char host[NI_MAXHOST], service[NI_MAXSERV], *text;
	bool is_v6 = bound->ss_family == AF_INET6;
	int error = getnameinfo((const struct sockaddr *)bound, length, host, sizeof host, service,
	                        sizeof service, NI_NUMERICHOST | NI_NUMERICSERV);
	if (error)
		die("the server's address has no text: %s", gai_strerror(error));
	if (asprintf(&text, "%s%s%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "") < 0)
		die("out of memory");
	*port = (unsigned)strtoul(service, NULL, 10);
	return text;
}

static const struct argp_option serve_table[] = {
        {"listen", KEY_LISTEN, "ADDRESS:PORT", 0,
         "Where to listen (default 127.0.0.1:8417; port 0 is any free port)", 0},
        {"interval", KEY_INTERVAL, "SECONDS", 0,
         "The least time between two requests to a process (default 10)", 0},
        {"kinds", KEY_KINDS, 0, 0, "Ask for dumps that tell lost from reachable memory", 0},
        {"timeout", KEY_TIMEOUT, "SECONDS", 0, "How long to wait for a dump (default 10)", 0},
        {0},
};

static const struct argp serve_argp = {
        .options = serve_table,
        .parser = parse_serve,
        .args_doc = "[PID|NAME...]",
        .doc = "Serves dumps of running programs by HTTP, for browsers, go tool pprof and "
               "Prometheus.\vPID is a process, NAME the name of a program, whose processes "
               "may come and go.  Without either, all traced processes that this user may "
               "ask are served.\n\n"
               "  /                   what is live, in a browser\n"
               "  /debug/pprof/heap   the profile for go tool pprof; seconds=, kinds=, debug=1\n"
               "  /debug/pprof/allocs the same, what was allocated so far\n"
               "  /pprof/heap         the profile for gperftools\n"
               "  /pprof/symbol       names for gperftools; /pprof/cmdline the command\n"
               "  /metrics            numbers for Prometheus\n"
               "  /dumps              the dumps themselves, for leakwrap report\n\n"
               "If several processes are served, / is a list of them, /all/ shows them "
               "together, and a profile is their sum.  /process/PID/ or /process/NAME/ in "
               "front of a path names one, or those of a program.",
};

int command_serve(int argc, char **argv)
{
	struct server server = {
	        .options = {.interval = 10, .timeout = 10, .dumps_kept = DUMPS_KEPT},
	        .listen = "127.0.0.1:8417"};
	struct sockaddr_storage bound = {0};
	socklen_t length;
	sigset_t signals;
	unsigned port;
	int number;

	argp_parse(&serve_argp, argc, argv, 0, NULL, &server);
	int fd = open_socket(server.listen, &bound, &length);
	char *host = describe_address(&bound, length, &port);
	server.http.loopback = is_loopback(&bound) ? host : NULL;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	watch_start(&server.watch, &server.options);
	server.http.web.watch = &server.watch;
	struct MHD_Daemon *daemon = MHD_start_daemon(
	        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0,
	        NULL, NULL, http_take_request, &server.http, MHD_OPTION_LISTEN_SOCKET, fd,
	        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
	        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_THREAD_STACK_SIZE,
	        (size_t)512 * 1024, MHD_OPTION_NOTIFY_COMPLETED, http_end_request, NULL,
	        MHD_OPTION_END);
	if (!daemon)
		die("the HTTP server does not start: %s", strerror(errno));
	printf("leakwrap serve: http://%s:%u/\n", host, port);
	fflush(stdout);
	pthread_mutex_lock(&server.watch.lock);
	watch_scan(&server.watch);
	if (server.watch.target_count == 0)
		complain("no such traced process runs yet");
	pthread_mutex_unlock(&server.watch.lock);
	sigwait(&signals, &number);
	/* Requests that wait for a dump end first. */
	pthread_mutex_lock(&server.watch.lock);
	server.watch.stopping = true;
	pthread_cond_broadcast(&server.watch.changed);
	pthread_mutex_unlock(&server.watch.lock);
	MHD_stop_daemon(daemon);
	sum_free(server.http.web.sum);
	watch_stop(&server.watch);
	free(server.options.wanted);
	free(host);
	return STATUS_FINE;
}

#else

int command_serve(int argc, char **argv)
{
	(void)argc, (void)argv;
	complain("this leakwrap was built without libmicrohttpd: install libmicrohttpd-dev, and "
	         "build it again after make clean");
	return STATUS_USAGE;
}

#endif
