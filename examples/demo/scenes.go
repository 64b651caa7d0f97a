package demo

// Scenes returns the story in its order.
func Scenes() []Scene {
	return []Scene{
		overlapping(),
		withoutShell(),
		spoofed(),
		olderRuntime(),
		leastPrivilege(),
		groups(),
		rotation(),
		pullAsWorkload(),
		whoRanWhat(),
	}
}
