//go:build faults

package faults

// full asks for the long form of each test.
const full = true
