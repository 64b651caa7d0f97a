// The player: it makes processes in every way that the kernel has, and writes down each of them by itself.
//
// Descriptor 3 is the truth, a shared file: a header and records. As a starter it takes a mark, says so on its standard
// output, waits for a byte on its standard input, and makes a session as runc does. The rest is the session's.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BORN = 1, EXEC = 2, EXIT = 3, FAULT = 4 };
enum { RUNTIME = 0, SESSION = 1 };
enum { TRUTH = 3, STACK = 64 << 10, MEMBERS = 16 };

struct task {
	uint64_t start; // field 22 of /proc/PID/stat
	uint32_t pid, session;
};

// The Go side reads both as they lie here.
struct header {
	uint64_t next, nonce, capacity, reserved;
};
struct record {
	struct task task, parent;
	uint64_t nonce;
	uint32_t kind, role, status; // a fork's status is the PID in its own namespace
	uint32_t act, done, unused;
};

static struct header *header;
static struct record *records;
static struct task me;
static uint32_t role;
static char act;
static char *program;
extern char **environ;

static void die(const char *what);

// read_text reads a small file of /proc.
static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = 0;
	return 0;
}

// look finds a process's identity as the kernel shows it in this directory of /proc.
static struct task look(const char *dir)
{
	char path[64], text[1024];
	struct task t = { 0 };
	snprintf(path, sizeof path, "/proc/%s/stat", dir);
	if (read_text(path, text, sizeof text))
		return t;
	t.pid = atoi(text);
	char *field = strrchr(text, ')');
	for (int i = 0; field && i < 20; i++)
		field = strchr(field + 1, ' ');
	t.start = field ? strtoull(field + 1, 0, 10) : 0;
	snprintf(path, sizeof path, "/proc/%s/sessionid", dir);
	if (!read_text(path, text, sizeof text))
		t.session = strtoul(text, 0, 10);
	return t;
}

static struct task look_at(pid_t pid)
{
	char dir[16];
	snprintf(dir, sizeof dir, "%d", pid);
	return look(dir);
}

static void add(uint32_t kind, struct task t, struct task parent, uint64_t nonce, uint32_t status)
{
	uint64_t i = __atomic_fetch_add(&header->next, 1, __ATOMIC_RELAXED);
	if (i >= header->capacity)
		return;
	struct record *r = &records[i];
	r->kind = kind, r->task = t, r->parent = parent, r->nonce = nonce, r->status = status;
	r->role = role, r->act = act;
	__atomic_store_n(&r->done, 1, __ATOMIC_RELEASE);
}

static void die(const char *what)
{
	add(FAULT, me, (struct task){ .pid = what[0] }, 0, errno);
	syscall(SYS_exit_group, 99);
	__builtin_unreachable();
}

// reap takes what is still below, until nothing is.
static void reap(void)
{
	siginfo_t info;
	for (;;) {
		if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL)) {
			if (errno == ECHILD)
				return;
			continue;
		}
		struct task t = look_at(info.si_pid);
		int status;
		if (waitpid(info.si_pid, &status, __WALL) != info.si_pid)
			die("wait");
		add(EXIT, t, me, 0, status);
	}
}

static void leave(int code)
{
	reap();
	syscall(SYS_exit_group, code);
}

// born is the first that a child does.
static void born(void)
{
	struct task parent = me;
	me = look("self");
	add(BORN, me, parent, 0, syscall(SYS_getpid));
}

// fork_with returns in both, as fork does. The child has written down that it is there.
static pid_t fork_with(unsigned long flags)
{
	pid_t pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		die("fork");
	if (!pid)
		born();
	return pid;
}

static pid_t fork_into(int cgroup)
{
	struct clone_args a = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = cgroup };
	pid_t pid = syscall(SYS_clone3, &a, sizeof a);
	if (pid < 0)
		die("clone3");
	if (!pid)
		born();
	return pid;
}

struct call {
	char act[2], count[16], nonce[24];
	char *argv[6];
};

// call lays out the arguments of the next image: what it does, how often, and a number that no other has.
static char **call(struct call *c, char what, int count)
{
	snprintf(c->act, sizeof c->act, "%c", what);
	snprintf(c->count, sizeof c->count, "%d", count);
	snprintf(c->nonce, sizeof c->nonce, "%llu",
		 (unsigned long long)__atomic_add_fetch(&header->nonce, 1, __ATOMIC_RELAXED));
	c->argv[0] = program, c->argv[1] = c->act, c->argv[2] = c->count, c->argv[3] = c->nonce, c->argv[4] = 0;
	return c->argv;
}

static void become(char what, int count)
{
	struct call c;
	execve(program, call(&c, what, count), environ);
	die("exec");
}

static void run(char what, int count)
{
	if (!fork_with(0))
		become(what, count);
}

static int vforked(void *unused)
{
	struct call c;
	struct task t = look("self");
	add(BORN, t, me, 0, t.pid); // me is the parent's: memory is shared
	execve(program, call(&c, 'l', 0), environ);
	syscall(SYS_exit_group, 98);
	return 0;
}

static void run_vfork(void)
{
	static char stack[STACK] __attribute__((aligned(16)));
	if (clone(vforked, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, 0) < 0)
		die("vfork");
}

static void run_spawn(void)
{
	struct call c;
	pid_t pid;
	if (posix_spawn(&pid, program, 0, 0, call(&c, 'l', 0), environ))
		die("spawn");
	add(BORN, look_at(pid), me, 0, pid);
}

static void thread(int (*f)(void *), void *argument)
{
	static char stack[STACK] __attribute__((aligned(16)));
	if (clone(f, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		  argument) < 0)
		die("thread");
}

static int thread_execs(void *unused)
{
	become('l', 0);
	return 0;
}

static int thread_forks(void *done)
{
	if (!fork_with(0))
		leave(11);
	__atomic_store_n((int *)done, 1, __ATOMIC_RELEASE);
	return 0;
}

// wait_alone has a thread wait until the first thread of its process is gone.
static void wait_alone(void)
{
	char path[64], text[1024], *state;
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", me.pid);
	do {
		sched_yield();
		if (read_text(path, text, sizeof text))
			die("alone");
		state = strrchr(text, ')');
	} while (!state || state[2] != 'Z');
}

static int alone_execs(void *unused)
{
	wait_alone();
	become('l', 0);
	return 0;
}

static int alone_exits(void *unused)
{
	wait_alone();
	syscall(SYS_exit, 5);
	return 0;
}

static int alone_ends(void *unused)
{
	wait_alone();
	syscall(SYS_exit_group, 7);
	return 0;
}

static void leaderless(int (*f)(void *))
{
	if (!fork_with(0)) {
		thread(f, 0);
		syscall(SYS_exit, 3);
	}
}

static void threads(void)
{
	if (!fork_with(0)) {
		thread(thread_execs, 0);
		for (;;)
			pause();
	}
	if (!fork_with(0)) {
		int done = 0;
		thread(thread_forks, &done);
		while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
			sched_yield();
		leave(12);
	}
	leaderless(alone_execs);
	leaderless(alone_exits);
	leaderless(alone_ends);
}

// adopted waits until whoever made the process is gone.
static void adopted(pid_t maker)
{
	while (getppid() == maker)
		sched_yield();
}

static void twice(void)
{
	if (fork_with(0))
		return;
	pid_t maker = me.pid;
	if (fork_with(0))
		syscall(SYS_exit_group, 21); // with a child alive
	adopted(maker);
	run('l', 0);
	leave(22);
}

static void siblings(void)
{
	if (!fork_with(0)) {
		if (!fork_with(CLONE_PARENT))
			become('l', 0);
		leave(31);
	}
	if (!fork_with(CLONE_PARENT)) // the starter's child, were it not for the caller
		leave(32);
}

static void signals(void)
{
	static const int numbers[] = { SIGKILL, SIGTERM, SIGSEGV };
	for (int i = 0; i < 3; i++)
		if (!fork_with(0)) {
			signal(numbers[i], SIG_DFL);
			kill(getpid(), numbers[i]);
			for (;;)
				pause();
		}
	// One that is killed before it does anything: its parent writes it down.
	pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		for (;;)
			pause();
	if (pid < 0)
		die("fork");
	add(BORN, look_at(pid), me, 0, pid);
	kill(pid, SIGKILL);
}

// space makes the first of a PID namespace, with a process in it that goes when the first does.
static void space(void)
{
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC))
		die("pipe");
	if (!fork_with(CLONE_NEWPID)) {
		struct task below;
		if (!fork_with(0)) {
			if (write(pipes[1], &me, sizeof me) != sizeof me)
				die("write");
			for (;;)
				pause();
		}
		if (read(pipes[0], &below, sizeof below) != sizeof below)
			die("read");
		add(EXIT, below, me, 0, SIGKILL);
		become('x', 0);
	}
	close(pipes[0]), close(pipes[1]);
}

static void images(void)
{
	struct call c;
	char script[4096];
	run('c', 4);
	if (!fork_with(0)) {
		snprintf(script, sizeof script, "%s.script", program);
		execve(script, call(&c, 'l', 0), environ);
		die("script");
	}
	if (!fork_with(0)) {
		int fd = open(program, O_RDONLY); // it stays open: by this name the kernel opens it
		syscall(SYS_execveat, fd, "", call(&c, 'l', 0), environ, AT_EMPTY_PATH);
		die("execveat");
	}
	if (!fork_with(0)) {
		execve("/proc/self/none", call(&c, 'l', 0), environ); // no image, no event
		leave(41);
	}
}

// round_of does each act once: ROUND processes, as the Go side has it.
static void round_of(void)
{
	const char *unified = getenv("THEATRE_UNIFIED");
	int i;
	for (act = '4', i = 0; i < 4; i++)
		if (!fork_with(0))
			leave(i);
	for (act = 'e', i = 0; i < 4; i++)
		run('l', 0);
	act = 't', run('t', 6);
	reap();
	act = 'd', twice();
	act = 'p', siblings();
	act = 's';
	if (!fork_with(0)) {
		setsid();
		if (!fork_with(0))
			leave(51);
		leave(52);
	}
	reap();
	act = 'v', run_vfork();
	act = 'w', run_spawn();
	act = '3';
	int cgroup = unified && *unified ? open(unified, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (!(cgroup < 0 ? fork_with(0) : fork_into(cgroup)))
		become('l', 0);
	close(cgroup);
	act = 'h', threads();
	reap();
	act = 'k', signals();
	act = 'n', space();
	act = 'i', images();
	reap();
}

static void tree(int depth)
{
	if (depth == 0)
		return;
	run('t', depth - 1);
	if (!fork_with(0))
		leave(depth);
}

static void join(const char *directory, pid_t pid)
{
	char path[4096], text[16];
	snprintf(path, sizeof path, "%s/cgroup.procs", directory);
	int fd = open(path, O_WRONLY | O_CLOEXEC), n = snprintf(text, sizeof text, "%d", pid);
	if (fd < 0 || write(fd, text, n) != n)
		die("join");
	close(fd);
}

// join_all moves a process into the container's cgroups.
static void join_all(pid_t pid)
{
	char all[8192], *rest = all, *directory;
	snprintf(all, sizeof all, "%s", getenv("THEATRE_CGROUPS") ?: "");
	while ((directory = strsep(&rest, ":")))
		if (*directory)
			join(directory, pid);
}

static void take_mark(const char *login)
{
	int fd = open("/proc/thread-self/loginuid", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, login, strlen(login)) != (ssize_t)strlen(login))
		die("loginuid");
	close(fd);
}

static int thread_leaves(void *login)
{
	take_mark(login);
	become('l', 0);
	return 0;
}

// leave_session has a process, and a thread that is not its process's first, take another mark, which needs
// CAP_AUDIT_CONTROL.
static void leave_session(const char *login)
{
	if (!fork_with(0)) {
		take_mark(login);
		me = look("self");
		if (!fork_with(0))
			leave(61);
		become('l', 0);
	}
	if (!fork_with(0)) {
		thread(thread_leaves, (void *)login);
		for (;;)
			pause();
	}
	reap();
}

static void say(struct task t)
{
	char line[96];
	int n = snprintf(line, sizeof line, "%u %llu %u\n", t.pid, (unsigned long long)t.start, t.session);
	if (write(1, line, n) != n)
		die("say");
}

static void hear(int fd)
{
	char c;
	ssize_t n = read(fd, &c, 1);
	if (n != 1)
		leave(n < 0 ? 97 : 0); // the test gave up
}

// start is the runtime: its child makes a sibling that becomes the session's first process, as runc's does.
static void start(const char *login, int rounds)
{
	if (*login != '0')
		take_mark(login);
	me = look("self");
	say(me);
	hear(0);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die("subreaper");
	int go[2], first[2];
	if (pipe2(go, 0) || pipe2(first, 0))
		die("pipe");
	char ends[3] = { go[0], first[1], 0 };
	setenv("THEATRE_ENDS", ends, 1);
	pid_t init = fork_with(0);
	if (!init) {
		if (getenv("THEATRE_EARLY"))
			join_all(getpid()); // as CLONE_INTO_CGROUP has it
		become('r', rounds);
	}
	unsetenv("THEATRE_ENDS");
	if (!getenv("THEATRE_EARLY"))
		join_all(init);
	if (write(go[1], "", 1) != 1)
		die("write");
	struct task t;
	if (read(first[0], &t, sizeof t) != sizeof t)
		die("read");
	say(t);
	close(0), close(go[0]), close(go[1]), close(first[0]), close(first[1]);
	leave(0);
}

// init is what the runtime has in the container before the session's first program.
static void init(int rounds)
{
	char ends[3];
	strcpy(ends, getenv("THEATRE_ENDS"));
	unsetenv("THEATRE_ENDS");
	hear(ends[0]);
	if (!fork_with(CLONE_PARENT)) {
		if (write(ends[1], &me, sizeof me) != sizeof me)
			die("write");
		close(ends[0]), close(ends[1]);
		if (unshare(CLONE_NEWNS)) // a container has its own
			die("unshare");
		become('R', rounds);
	}
	leave(0);
}

int main(int argc, char **argv)
{
	struct stat file;
	if (argc > 2 && !strcmp(argv[1], "script"))
		argv[2] = argv[0], argv += 2, argc -= 2;
	if (argc < 4 || fstat(TRUTH, &file))
		return 96;
	header = mmap(0, file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, TRUTH, 0);
	if (header == MAP_FAILED)
		return 96;
	records = (struct record *)(header + 1);
	program = argv[0];
	act = argv[1][0];
	if (act == 'm')
		start(argv[3], atoi(argv[2]));
	int count = atoi(argv[2]);
	uint64_t nonce = strtoull(argv[3], 0, 10);
	me = look("self");
	role = act == 'r' ? RUNTIME : SESSION;
	add(EXEC, me, (struct task){ 0 }, nonce, 0);
	switch (act) {
	case 'r':
		init(count);
		break;
	case 'R':
		signal(SIGSEGV, SIG_DFL);
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		while (count--)
			round_of();
		act = 'q';
		if (getenv("THEATRE_LEAVE"))
			leave_session(getenv("THEATRE_LEAVE"));
		break;
	case 't':
		tree(count);
		break;
	case 'c':
		if (count > 0)
			become('c', count - 1);
		break;
	case 'x':
		syscall(SYS_exit_group, nonce & 63); // whatever is below goes too
	}
	leave(nonce & 63);
	return 0;
}
