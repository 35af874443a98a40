package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/rules/agentlist"
	"robotsbatch/io/store/blob"
)

// mostColumns is how many agents have columns of their own unless -agents-as asks for
// them.
const mostColumns = 32

// agentsAs is how the verdicts on several agents are written.
type agentsAs int

const (
	agentsByNumber agentsAs = iota // in columns, if they are no more than mostColumns
	agentsInColumns
	agentsInList
)

var (
	combineWords = []cli.Word[batch.Combine]{
		{Name: "any-denied", Value: batch.CombineAnyDenied}, {Name: "all-denied", Value: batch.CombineAllDenied},
	}
	agentsAsWords = []cli.Word[agentsAs]{{Name: "columns", Value: agentsInColumns}, {Name: "list", Value: agentsInList}}
)

// addAgents adds the agents of a list to those of -agent.
func (c *jobConfig) addAgents() error {
	if c.agentsFile == "" {
		return nil
	}
	if c.agentsFile == blob.Stdio {
		return option.Usagef("-agents takes a file: stdin is for data")
	}
	text, err := readList(c.agentsFile)
	if errors.Is(err, fs.ErrNotExist) && !blob.IsURL(c.agentsFile) && !strings.ContainsAny(c.agentsFile, "./\\") {
		names := strings.FieldsFunc(c.agentsFile, func(r rune) bool { return r == ',' || r == ' ' })
		err = fmt.Errorf("-agents takes a file with an agent a line, and there is no file %s: to name agents here write -agent %s", c.agentsFile, strings.Join(names, " -agent "))
		if len(names) > 1 {
			return &option.UsageError{Err: err}
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("-agents: %w", err)
	}
	chains, err := agentlist.Parse(text)
	if err != nil {
		return option.Usagef("-agents %s: %w", blob.Shown(c.agentsFile), err)
	}
	for _, chain := range chains {
		name := strings.Join(chain, ",")
		if !c.hasAgent(name) {
			c.agents = append(c.agents, chain)
			c.listed++
			c.given["agents"] = append(c.given["agents"], name) // for -resume: the list, wherever it lies
		}
	}
	return nil
}

// hasAgent tells whether -agent has named a chain.
func (c *jobConfig) hasAgent(chain string) bool {
	for _, other := range c.agentChains() {
		if strings.EqualFold(other, chain) {
			return true
		}
	}
	return false
}

// readList reads a file of a size that lists have, and one byte more.
func readList(name string) ([]byte, error) {
	f, err := blob.Open(context.Background(), name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, agentlist.MaxSize+1))
}

// checkAgents finds what is wrong with the flags on several agents.
func (c *jobConfig) checkAgents() error {
	switch {
	case c.combine != batch.CombineNone && c.agentsAs != agentsByNumber:
		return option.Usagef("-combine makes one verdict of all agents': leave out -agents-as")
	case c.combine == batch.CombineNone && c.agentsAs == agentsByNumber && len(c.agents) > mostColumns:
		return option.Usagef("%d agents would be as many columns: take -combine any-denied for one verdict and the list of the agents that are denied, "+
			"-agents-as list for the list alone, or -agents-as columns if that is what you want", len(c.agents))
	}
	return nil
}

// combined is how verdicts are combined: a list alone has the rows in which any agent is
// denied as denied.
func (c *jobConfig) combined() batch.Combine {
	if c.agentsAs == agentsInList {
		return batch.CombineAnyDenied
	}
	return c.combine
}

// combinedName is what the summary calls the combined verdict; empty for none.
func (c *jobConfig) combinedName() string {
	for _, w := range combineWords {
		if w.Value == c.combined() {
			return w.Name
		}
	}
	return ""
}
