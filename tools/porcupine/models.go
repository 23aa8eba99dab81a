// What each kind of object does, as Porcupine asks for it. Written from the meaning of the operations, not from the
// checker, so that the same mistake is not made twice.

package main

import (
	"strings"

	"github.com/anishathalye/porcupine"
)

const (
	noSuchFile = 2
	fileExists = 17
)

// step is one operation at one instant: whether it can answer so in this state, and the state after it.
type step func(state any, operation *operation) (bool, any)

var kinds = map[string]porcupine.Model{
	"register":       model(uint64(0), stepOfRegister),
	"attribute":      model(uint64(0), stepOfRegister),
	"session_file":   model(uint64(0), stepOfRegister),
	"entry":          model(uint64(0), stepOfEntry),
	"name_pair":      model(uint64(1), stepOfNamePair),
	"locked_counter": model(uint64(0), stepOfCounter),
	"append_log":     model("", stepOfLog),
}

// model makes a Porcupine model. An operation in doubt that would not be possible has not happened, and as it never
// ends it can also be last, where nobody sees it.
func model(initial any, next step) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			asked := input.(*operation)
			possible, after := next(state, asked)
			if asked.outcome == "Doubt" && !possible {
				return true, state
			}
			return possible, after
		},
	}
}

func stepOfRegister(state any, asked *operation) (bool, any) {
	switch {
	case asked.outcome == "Fail":
		return true, state
	case asked.action == "Write":
		return true, asked.valueIn
	}
	return state.(uint64) == asked.valueOut, state
}

func stepOfEntry(state any, asked *operation) (bool, any) {
	exists := state.(uint64) != 0
	if asked.outcome == "Fail" {
		switch {
		case asked.action == "Create" && asked.errno == fileExists:
			return exists, state
		case asked.action != "Create" && asked.action != "Replace" && asked.errno == noSuchFile:
			return !exists, state
		}
		return true, state
	}
	switch asked.action {
	case "Create":
		return !exists, asked.valueIn
	case "Replace":
		return true, asked.valueIn
	case "Remove":
		return exists, uint64(0)
	case "Exists":
		return exists == (asked.valueOut != 0), state
	}
	return state.(uint64) == asked.valueOut, state
}

// stepOfNamePair: the state is the name that leads to the object, 1 or 2.
func stepOfNamePair(state any, asked *operation) (bool, any) {
	isThere := state.(uint64) == asked.valueIn
	refused := asked.outcome == "Fail"
	switch {
	case refused && asked.errno != noSuchFile:
		return true, state
	case asked.action == "Move" && refused:
		return isThere, state
	case asked.action == "Move":
		return !isThere, asked.valueIn
	case refused:
		return !isThere, state
	}
	return isThere == (asked.valueOut != 0), state
}

func stepOfCounter(state any, asked *operation) (bool, any) {
	count := state.(uint64)
	switch {
	case asked.outcome == "Fail":
		return true, state
	case asked.action == "Read":
		return count == asked.valueOut, state
	case asked.outcome == "Doubt":
		return true, count + 1
	}
	return count == asked.valueOut, count + 1
}

// stepOfLog: the state is the list of all records as text, each with a comma behind it.
func stepOfLog(state any, asked *operation) (bool, any) {
	records := state.(string)
	switch {
	case asked.outcome == "Fail":
		return true, state
	case asked.action == "Append":
		return true, records + asked.text + ","
	case asked.action == "Length":
		return uint64(strings.Count(records, ",")) == asked.valueOut, state
	}
	return records == asked.list, state
}
