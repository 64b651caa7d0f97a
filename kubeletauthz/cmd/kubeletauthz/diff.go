package main

// diff returns the lines of before and after in order, with "- " in front of those that went, "+ " of those that came
// and two spaces of those that stayed; of the latter, those near a change, with "..." for the others. It is nil when
// nothing changed.
func diff(before, after []string) []string {
	common := longest(before, after)
	var out []string
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			out = append(out, "  "+before[i])
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+before[i])
			i++
		default:
			out = append(out, "+ "+after[j])
			j++
		}
	}
	return near(out)
}

// margin is how many unchanged lines are shown on either side of a change.
const margin = 3

func near(all []string) []string {
	shown := make([]bool, len(all))
	for i, line := range all {
		if line[0] != ' ' {
			for k := max(0, i-margin); k <= min(len(all)-1, i+margin); k++ {
				shown[k] = true
			}
		}
	}
	var out []string
	for i, line := range all {
		switch {
		case shown[i]:
			out = append(out, line)
		case len(out) > 0 && out[len(out)-1] != "...":
			out = append(out, "...")
		}
	}
	return out
}

// longest holds, for every two rests of before and after, how many lines they have in common in order.
func longest(before, after []string) [][]int {
	table := make([][]int, len(before)+1)
	for i := range table {
		table[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if before[i] == after[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}
