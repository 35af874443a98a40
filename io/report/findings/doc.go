// Package findings writes what package lint finds: as text for people, as JSON lines for
// programs, and as SARIF 2.1 for the tools that show findings beside code.
package findings
