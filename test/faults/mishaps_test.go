package faults

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"
)

// dropRequest closes the connection; the server never saw the request.
func dropRequest(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// loseAnswer carries the request out and closes the connection instead of answering.
func loseAnswer(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// answer refuses the request with a status.
func answer(code int) mishap {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, http.StatusText(code), code)
	}
}

// gatewayLosesAnswer carries the request out, and a gateway in front of the server says that it did not answer.
func gatewayLosesAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	answer(http.StatusBadGateway)(w, r, next)
}

// delay lets the request through late.
func delay(d time.Duration) mishap {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(d):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// cutRequest lets the first half of the request through, so that the server gets half a pack, and closes the connection.
func cutRequest(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	if body, err := io.ReadAll(r.Body); err == nil {
		half := body[:len(body)/2]
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(half)), int64(len(half))
		next.ServeHTTP(httptest.NewRecorder(), r)
	}
	panic(http.ErrAbortHandler)
}

// cutAnswer closes the connection in the middle of the answer.
func cutAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	whole := writeHalf(w, r, next, true)
	if whole {
		panic(http.ErrAbortHandler)
	}
}

// halfAnswer ends in the middle of the answer as if that were all of it.
func halfAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	writeHalf(w, r, next, false)
}

// writeHalf writes the first half of the answer, and with promise the length of all of it.
func writeHalf(w http.ResponseWriter, r *http.Request, next http.Handler, promise bool) (written bool) {
	recorded := httptest.NewRecorder()
	next.ServeHTTP(recorded, r)
	for name, values := range recorded.Header() {
		w.Header()[name] = values
	}
	w.Header().Del("Content-Length")
	body := recorded.Body.Bytes()
	if promise {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(recorded.Code)
	if _, err := w.Write(body[:len(body)/2]); err != nil {
		return false
	}
	flusher, ok := w.(http.Flusher)
	if ok {
		flusher.Flush()
	}
	return ok
}
