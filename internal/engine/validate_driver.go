package engine

import (
	"errors"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// checkDriver asks the Unit's driver for faults that would else show only when it runs (chapter G, 9).
func (v *validation) checkDriver(file string, u *resource.AuthoredUnit) error {
	checker, ok := v.engine.Drivers[u.Kind].(driver.Checker)
	if !ok {
		return nil
	}
	err := checker.Check(u.Spec)
	var fault *driver.Error
	if !errors.As(err, &fault) {
		return err
	}
	line, column := u.Spec.Locate(fault.Pointer)
	return &document.Error{File: file, Line: line, Column: column, Pointer: "/spec" + fault.Pointer, Message: fault.Detail, Fix: fault.Fix}
}
