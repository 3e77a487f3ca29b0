// Package examples holds the example repositories, embedded so that the program can set one up by itself.
package examples

import "embed"

// Quickstart is a repository with one environment and two Terraform Units, of which the second reads an output of the
// first. The text StatePlaceholder in its Units stands for the directory of the Terraform states.
//
//go:embed all:quickstart
var Quickstart embed.FS

// StatePlaceholder stands for an absolute directory in the Quickstart's Units.
const StatePlaceholder = "/STATE"
