// Package theatre makes sessions of real processes and writes down what happened, without the agent: what the agent's
// tests judge it by. Processes come in every way that the kernel has (fork, vfork, posix_spawn, clone3 into a cgroup,
// CLONE_PARENT, from threads), run programs by every kind of exec, and go by exit, by signal, and after their first
// thread. Each writes down itself, or is written down by who reaps it, in a file that all of them share.
package theatre
