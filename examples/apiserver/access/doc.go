// Package access decides who may do what at the reference API server: RBAC over the stored roles, the fixed rights of
// nodes, and two admission plugins, one for namespaces that must exist and one that keeps nodes to their own objects.
package access
