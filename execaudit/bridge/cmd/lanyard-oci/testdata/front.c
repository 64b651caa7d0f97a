/* The least that a program in the runtime's place can do: it executes the next argument's program. */
#include <unistd.h>

int main(int argc, char **argv, char **environment)
{
	if (argc > 1)
		execve(argv[1], argv + 1, environment);
	return 127;
}
