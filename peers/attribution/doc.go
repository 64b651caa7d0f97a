// Package attribution holds what is compared with the module execaudit/attribution: a seeded generator of the two logs
// that an investigator joins, and other people's ways of joining them.
package attribution
