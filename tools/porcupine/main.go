// Reads histories as examples/export_histories.rs of leadline-checker writes them, judges each with Porcupine, and
// prints one line of JSON: how many, how many violating, where the two disagree, and how long either took.
//
// Ends with 1 when they disagree anywhere, and with 2 when it cannot read what it is given.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	action, outcome, text, list string
	errno, start, end           int64
	valueIn, valueOut           uint64
}

type outcome struct {
	Histories        int     `json:"histories"`
	Operations       int     `json:"operations"`
	Violating        int     `json:"violating"`
	Disagreements    []int   `json:"disagreements"`
	LeadlineSeconds  float64 `json:"leadline_seconds"`
	PorcupineSeconds float64 `json:"porcupine_seconds"`
}

func main() {
	found := outcome{Disagreements: []int{}}
	if err := judgeAll(bufio.NewReaderSize(os.Stdin, 1<<20), &found); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	json.NewEncoder(os.Stdout).Encode(found)
	if len(found.Disagreements) > 0 {
		os.Exit(1)
	}
}

func judgeAll(from *bufio.Reader, found *outcome) error {
	for {
		var kind, verdict string
		var count int
		var tookNs int64
		if _, err := from.Peek(1); err == io.EOF {
			return nil
		}
		if _, err := fmt.Fscanf(from, "history %s %d %s %d\n", &kind, &count, &verdict, &tookNs); err != nil {
			return fmt.Errorf("history %d does not begin as one: %w", found.Histories, err)
		}
		model, known := kinds[kind]
		if !known {
			return fmt.Errorf("there is no model of a %s", kind)
		}
		history, err := readHistory(from, count)
		if err != nil {
			return fmt.Errorf("history %d: %w", found.Histories, err)
		}
		found.add(model, history, verdict)
		found.LeadlineSeconds += float64(tookNs) / 1e9
		found.Operations += count
	}
}

func (found *outcome) add(model porcupine.Model, history []porcupine.Operation, verdict string) {
	begin := time.Now()
	held := porcupine.CheckOperations(model, history)
	found.PorcupineSeconds += time.Since(begin).Seconds()
	if !held {
		found.Violating++
	}
	if verdict != map[bool]string{true: "held", false: "violated"}[held] {
		found.Disagreements = append(found.Disagreements, found.Histories)
	}
	found.Histories++
}

func readHistory(from *bufio.Reader, count int) ([]porcupine.Operation, error) {
	history := make([]porcupine.Operation, 0, count)
	for range count {
		line, err := from.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("it is cut off: %w", err)
		}
		asked, err := parse(strings.Fields(line))
		if err != nil {
			return nil, err
		}
		looks := asked.action == "Read" || asked.action == "Exists" || asked.action == "Length"
		if asked.outcome == "Doubt" && looks {
			continue // it changed nothing and nobody knows what it saw
		}
		history = append(history, porcupine.Operation{Input: asked, Call: asked.start, Return: asked.end})
	}
	return history, nil
}

func parse(fields []string) (*operation, error) {
	if len(fields) != 8 {
		return nil, fmt.Errorf("an operation has 8 fields, not %d", len(fields))
	}
	read := operation{action: fields[0], outcome: fields[1], text: fields[3]}
	for place, into := range map[int]*int64{2: &read.errno, 5: &read.start, 6: &read.end} {
		number, err := strconv.ParseInt(fields[place], 10, 64)
		if err != nil {
			return nil, err
		}
		*into = number
	}
	for place, into := range map[int]*uint64{3: &read.valueIn, 4: &read.valueOut} {
		number, err := strconv.ParseUint(fields[place], 10, 64)
		if err != nil {
			return nil, err
		}
		*into = number
	}
	if read.outcome == "Doubt" {
		read.end = math.MaxInt64
	}
	if fields[7] != "-" {
		read.list = fields[7] + ","
	}
	return &read, nil
}
