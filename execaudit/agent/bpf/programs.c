//go:build ignore

// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only

// The kernel's side of the agent: what the processes of marked sessions do. Everything that is not marked leaves at the
// first comparison. programs_bpfel.o is this file as it is: programs that load what they need from the kernel's types
// directly, which a locked down kernel allows. raw_bpfel.o is the same with RAW, for kernels that take raw tracepoints
// only: they read the kernel's memory by a helper.

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))
#define ALWAYS_INLINE inline __attribute__((always_inline))

// Helpers, by their numbers in the kernel's interface.
static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static __u32 (*const processor_id)(void) = (void *)8;
static long (*const read_user)(void *to, __u32 size, const void *from) = (void *)112;
static long (*const read_kernel)(void *to, __u32 size, const void *from) = (void *)113;
static long (*const read_user_string)(void *to, __u32 size, const void *from) = (void *)114;
static __u64 (*const boot_time)(void) = (void *)125;
static long (*const ring_output)(void *ring, void *data, __u64 size, __u64 flags) = (void *)130;
static void *(*const ring_reserve)(void *ring, __u64 size, __u64 flags) = (void *)131;
static void (*const ring_discard)(void *data, __u64 flags) = (void *)133;

enum { MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_RINGBUF = 27 };
enum { FLAG_MMAPABLE = 1 << 10, FLAG_NO_WAKEUP = 1 << 0, FLAG_FORCE_WAKEUP = 1 << 1 };

// Of the kernel's types only the fields that are read here. Loading replaces the offsets by those of the kernel there.
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	__u32 val;
} kuid_t;

typedef struct {
	__u32 val;
} kgid_t;

typedef struct {
	int counter;
} atomic_t;

struct cred {
	kuid_t uid, euid;
	kgid_t gid, egid;
};

struct ns_common {
	__u32 inum;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct pid_namespace {
	struct ns_common ns;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	__u32 level;
	struct upid numbers[];
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[16];
	struct cgroup *dfl_cgrp;
};

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	__u32 flags;
};

struct mm_struct {
	unsigned long arg_start, arg_end, env_start, env_end;
};

struct linux_binprm {
	unsigned long exec;
};

struct task_struct {
	kuid_t loginuid;
	__u32 sessionid;
	int pid, tgid;
	int exit_code;
	__u64 start_boottime;
	__u64 self_exec_id;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct nsproxy *nsproxy;
	struct cred *cred;
	struct css_set *cgroups;
	struct signal_struct *signal;
	struct mm_struct *mm;
};

#pragma clang attribute pop

// One of css_set.subsys.
struct states {
	struct cgroup_subsys_state *state;
};

enum { GROUP_EXIT = 4 }; // SIGNAL_GROUP_EXIT of signal_struct.flags

// What the loader knows of this kernel and of the options. They are constants when the verifier reads the programs.
volatile const __u32 min_login_uid;
volatile const __u32 login_uid_span;
volatile const __u32 arg_bytes;
volatile const __u32 env_bytes;
volatile const __u32 generation;
volatile const __u32 has_group_dead;   // sched_process_exit has a second argument
volatile const __u32 numbers;          // how pid.numbers can be read
volatile const __u32 pids_subsys;      // index into css_set.subsys, or NO_SUBSYS
volatile const __u32 memory_subsys;

enum { NO_SUBSYS = 16 };

// Before Linux 6.5 the types give pid.numbers a length of 1, and the verifier follows no further index. A locked down
// kernel refuses the helper, too.
enum { NUMBERS_FIRST, NUMBERS_DIRECT, NUMBERS_READ };

enum { KIND_FORK, KIND_EXEC, KIND_EXIT, KINDS };
enum { CUT_ARGS = 1 };
enum { FILE_BYTES = 4096 };

// A record of the ring. File, arguments and environment follow it, in this order.
struct record {
	__u8 layout, kind, flags, unused;
	__u32 cpu;
	__u64 sequence;
	__u64 at;
	__u64 start, parent_start;
	__u64 cgroup;
	__u64 exec; // how many times the process executed a program
	__u32 pid, parent_pid, inner_pid;
	__u32 session, login_uid;
	__u32 mount_ns, pid_ns;
	__u32 uid, gid, euid, egid;
	__u32 status;
	__u32 generation;
	__u32 file_len, arg_len, env_len;
};

enum { LAYOUT = 1, RECORD_BYTES = 120 }; // decode.go has both
_Static_assert(sizeof(struct record) == RECORD_BYTES, "the decoder knows another size");

// Of each kind. A program never runs twice at once on a CPU, but it may interrupt another kind's where tracepoints can
// be preempted: each has numbers of its own.
struct counters {
	__u64 sequence[KINDS], dropped[KINDS];
};

struct {
	int (*type)[MAP_RINGBUF];
	int (*max_entries)[4096];
} ring SEC(".maps");

struct {
	int (*type)[MAP_PERCPU_ARRAY];
	__u32 *key;
	struct counters *value;
	int (*max_entries)[1];
} counters SEC(".maps");

// What the reader leaves for the next one. Of the programs only those of the generation tell anything: to change it
// turns those that were replaced off and the new ones on, all at once. The kernel detaches them some time later.
struct reader {
	__u64 read, lost_told, missed_before, generation, configuration, allotted, waiting;
};

struct {
	int (*type)[MAP_ARRAY];
	int (*map_flags)[FLAG_MMAPABLE];
	__u32 *key;
	struct reader *value;
	int (*max_entries)[1];
} reader SEC(".maps");

// Where an exec is put together, for each CPU. The loader sets the sizes.
struct scratch {
	struct record r;
	__u8 data[FILE_BYTES];
};

struct {
	int (*type)[MAP_ARRAY];
	__u32 *key;
	struct scratch *value;
	int (*max_entries)[1];
} scratch SEC(".maps");

// Keeps the compiler from deriving a bound that the verifier then does not see.
#define OPAQUE(x) asm volatile("" : "+r"(x))

// The field, by the helper.
#define READ(pointer, field)                                             \
	({                                                               \
		typeof((pointer)->field) value_ = 0;                     \
		read_kernel(&value_, sizeof(value_), &(pointer)->field); \
		value_;                                                  \
	})

#ifdef RAW
#define PROGRAM(name) SEC("raw_tp/" name)
#define GET(pointer, field) READ(pointer, field)
#else
#define PROGRAM(name) SEC("tp_btf/" name)
#define GET(pointer, field) ((pointer)->field)
#endif

static ALWAYS_INLINE bool marked(struct task_struct *p)
{
	return GET(p, loginuid.val) - min_login_uid <= login_uid_span;
}

static ALWAYS_INLINE bool replaced(void)
{
	__u32 key = 0;
	struct reader *now = map_lookup(&reader, &key);
	return !now || now->generation != generation;
}

static ALWAYS_INLINE __u64 start_of(struct task_struct *p)
{
	struct task_struct *leader = GET(p, group_leader);
	return GET(leader, start_boottime);
}

static ALWAYS_INLINE __u64 cgroup_id(struct cgroup *c)
{
	struct kernfs_node *node = GET(c, kn);
	return GET(node, id);
}

// The ID of the cgroup in the hierarchy that the controller is mounted on: 0 where that is cgroup v2's own, or nowhere.
static ALWAYS_INLINE __u64 legacy_cgroup(struct css_set *set, __u32 subsys)
{
	if (subsys >= NO_SUBSYS)
		return 0;
	struct states *states = (void *)set + __builtin_preserve_field_info(set->subsys, 0) + subsys * sizeof(void *);
	struct cgroup_subsys_state *state = GET(states, state);
	struct cgroup *c = GET(state, cgroup);
	struct cgroup_root *root = GET(c, root);
	return GET(root, hierarchy_id) > 0 ? cgroup_id(c) : 0;
}

static ALWAYS_INLINE __u64 cgroup_of(struct task_struct *p)
{
	struct css_set *set = GET(p, cgroups);
	__u64 id = legacy_cgroup(set, pids_subsys);
	if (!id)
		id = legacy_cgroup(set, memory_subsys);
	if (!id)
		id = cgroup_id(GET(set, dfl_cgrp));
	return id;
}

static ALWAYS_INLINE void read_pid(struct record *r, struct pid *pid, __u32 level)
{
	struct upid *own = (void *)pid->numbers + level * sizeof(struct upid);
	r->inner_pid = READ(own, nr);
	struct pid_namespace *ns = READ(own, ns);
	r->pid_ns = READ(ns, ns.inum);
}

#ifndef RAW
// The PID namespace's depth is not a constant, and the verifier follows only constant indexes: one comparison for each.
#define LEVEL(n)                                    \
	if (level == n) {                           \
		r->inner_pid = pid->numbers[n].nr;  \
		ns = pid->numbers[n].ns;            \
	}

static ALWAYS_INLINE void load_pid(struct record *r, struct pid *pid, __u32 level)
{
	struct pid_namespace *ns = 0;
	LEVEL(0);
	if (numbers == NUMBERS_DIRECT) {
		LEVEL(1);
		LEVEL(2);
		LEVEL(3);
		LEVEL(4);
		LEVEL(5);
		LEVEL(6);
		LEVEL(7);
	}
	if (ns)
		r->pid_ns = ns->ns.inum;
}
#endif

static ALWAYS_INLINE void fill_pid(struct record *r, struct task_struct *p)
{
	struct task_struct *leader = GET(p, group_leader);
	struct pid *pid = GET(leader, thread_pid);
	__u32 level = GET(pid, level);
	r->inner_pid = 0;
	r->pid_ns = 0;
#ifdef RAW
	read_pid(r, pid, level);
#else
	if (numbers == NUMBERS_READ)
		read_pid(r, pid, level);
	else
		load_pid(r, pid, level);
#endif
}

// What every record has, of the process of p.
static ALWAYS_INLINE void fill(struct record *r, struct task_struct *p, __u8 kind)
{
	r->layout = LAYOUT;
	r->kind = kind;
	r->flags = 0;
	r->unused = 0;
	r->at = boot_time();
	r->start = start_of(p);
	r->parent_start = 0;
	r->cgroup = cgroup_of(p);
	r->exec = GET(p, self_exec_id);
	r->pid = GET(p, tgid);
	r->parent_pid = 0;
	fill_pid(r, p);
	r->session = GET(p, sessionid);
	r->login_uid = GET(p, loginuid.val);
	struct nsproxy *proxy = GET(p, nsproxy);
	r->mount_ns = 0;
	if (proxy) {
		struct mnt_namespace *mount = GET(proxy, mnt_ns);
		r->mount_ns = GET(mount, ns.inum);
	}
	struct cred *cred = GET(p, cred);
	r->uid = GET(cred, uid.val);
	r->gid = GET(cred, gid.val);
	r->euid = GET(cred, euid.val);
	r->egid = GET(cred, egid.val);
	r->status = 0;
	r->generation = generation;
	r->file_len = 0;
	r->arg_len = 0;
	r->env_len = 0;
}

// Numbers the record and puts it into the ring. The number of one that does not fit is left out. The kernel would wake
// the reader only when it had freed the whole ring, and to wake it is most of what a record costs: it says when it waits.
static ALWAYS_INLINE void put(struct record *r, __u64 size, __u8 kind)
{
	__u32 key = 0;
	struct counters *c = map_lookup(&counters, &key);
	struct reader *now = map_lookup(&reader, &key);
	if (!c || !now)
		return;
	r->cpu = processor_id();
	r->sequence = ++c->sequence[kind];
	__u64 waits = *(volatile __u64 *)&now->waiting;
	if (ring_output(&ring, r, size, waits ? FLAG_FORCE_WAKEUP : FLAG_NO_WAKEUP)) {
		__sync_fetch_and_add(&c->dropped[kind], 1);
		return;
	}
	if (waits || !*(volatile __u64 *)&now->waiting)
		return;
	// It came to wait in between, and may not have seen the record: nothing wakes it.
	void *nothing = ring_reserve(&ring, sizeof(__u64), 0);
	if (nothing)
		ring_discard(nothing, FLAG_FORCE_WAKEUP);
}

PROGRAM("sched_process_fork")
int process_fork(__u64 *ctx)
{
	struct task_struct *child = (void *)ctx[1];
	if (!marked(child) || replaced())
		return 0;
	if (GET(child, pid) != GET(child, tgid))
		return 0; // a thread

	// The first argument is who called clone, whoever becomes the parent.
	struct task_struct *parent = (void *)ctx[0];
	struct record r;
	fill(&r, child, KIND_FORK);
	r.parent_pid = GET(parent, tgid);
	r.parent_start = start_of(parent);
	put(&r, sizeof(r), KIND_FORK);
	return 0;
}

PROGRAM("sched_process_exit")
int process_exit(__u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	if (!marked(p) || replaced())
		return 0;
	struct signal_struct *signal = GET(p, signal);
	if (has_group_dead) {
		if (!(ctx[1] & 1))
			return 0; // other threads go on
	} else if (GET(signal, live.counter)) {
		return 0;
	}
	struct record r;
	fill(&r, p, KIND_EXIT);
	if (GET(signal, flags) & GROUP_EXIT) {
		r.status = GET(signal, group_exit_code);
	} else {
		struct task_struct *leader = GET(p, group_leader);
		r.status = GET(leader, exit_code);
	}
	put(&r, sizeof(r), KIND_EXIT);
	return 0;
}

// Copies the user's memory from begin to end, at most limit bytes, and returns the number of bytes copied. It sets the
// flag where that is not all.
static ALWAYS_INLINE __u32 copy(struct record *r, void *to, unsigned long begin, unsigned long end, __u32 limit,
				__u8 flag)
{
	__u64 size = end - begin;
	if (end < begin)
		size = 0;
	if (size > limit) {
		size = limit;
		r->flags |= flag;
	}
	OPAQUE(size);
	if (size > limit)
		return 0;
	if (read_user(to, size, (void *)begin)) {
		r->flags |= flag;
		return 0;
	}
	return size;
}

PROGRAM("sched_process_exec")
int process_exec(__u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	if (!marked(p) || replaced())
		return 0;
	struct linux_binprm *bprm = (void *)ctx[2];
	__u32 cpu = processor_id();
	struct scratch *s = map_lookup(&scratch, &cpu);
	if (!s)
		return 0;
	fill(&s->r, p, KIND_EXEC);

	__u64 file = read_user_string(s->data, FILE_BYTES, (void *)GET(bprm, exec));
	OPAQUE(file);
	if (file > FILE_BYTES)
		file = 0;
	__u8 *data = s->data + file;
	struct mm_struct *mm = GET(p, mm);
	__u32 args = copy(&s->r, data, GET(mm, arg_start), GET(mm, arg_end), arg_bytes, CUT_ARGS);
	data += args;
	__u32 env = copy(&s->r, data, GET(mm, env_start), GET(mm, env_end), env_bytes, 0);
	s->r.file_len = file;
	s->r.arg_len = args;
	s->r.env_len = env;
	put(&s->r, sizeof(s->r) + file + args + env, KIND_EXEC);
	return 0;
}

char licence_of_programs[] SEC("license") = "GPL";
