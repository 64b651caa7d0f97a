package check

// The names of the cases.
const (
	CaseAnswer   = caseAnswer
	CaseVersions = caseVersions
	CaseKeys     = caseKeys
	CaseEcho     = caseEcho
	CaseSilent   = caseSilent
	CaseUnknown  = caseUnknown
	CaseGarbage  = caseGarbage
	CaseEmpty    = caseEmpty
)
