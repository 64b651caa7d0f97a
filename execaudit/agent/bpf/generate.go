package bpf

// The compiler is pinned: another one makes another object. That for bpfel fits amd64 and arm64 alike.
//
//go:generate -command compile go tool bpf2go -cc clang-14 -strip llvm-strip-14 -target bpfel -tags linux
//go:generate compile -no-global-types programs programs.c -- -Wall -Werror
//go:generate compile -no-global-types raw programs.c -- -Wall -Werror -DRAW
