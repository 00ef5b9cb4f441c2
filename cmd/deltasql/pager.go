package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// pager passes output to the terminal; once it is longer than the screen, to the user's pager ($PAGER, by default less).
type pager struct {
	height  int // lines to hold back; 0: no paging
	held    bytes.Buffer
	lines   int
	command *exec.Cmd
	pipe    io.WriteCloser
	onFirst func() // called once before the first byte is shown
}

// errPagerLeft ends a statement whose reader has left the pager: what remains is not wanted.
var errPagerLeft = errors.New("the pager was left")

func newPager(enabled bool) *pager {
	p := &pager{}
	if enabled && isatty.IsTerminal(os.Stdout.Fd()) {
		if _, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && height > 2 {
			p.height = height - 1
		}
	}
	return p
}

// Write holds text back while it fits the screen.
func (p *pager) Write(text []byte) (int, error) {
	if p.onFirst != nil && len(text) > 0 {
		p.onFirst()
		p.onFirst = nil
	}
	if p.pipe != nil {
		if _, err := p.pipe.Write(text); err != nil {
			return 0, errPagerLeft
		}
		return len(text), nil
	}
	if p.height == 0 {
		return os.Stdout.Write(text)
	}
	p.held.Write(text)
	p.lines += bytes.Count(text, []byte("\n"))
	if p.lines <= p.height {
		return len(text), nil
	}
	return len(text), p.start()
}

// start opens the pager with what was held back; where there is none, output goes to the terminal.
func (p *pager) start() error {
	name := os.Getenv("PAGER")
	if name == "" {
		name = "less -RSFX"
	}
	command := exec.Command("sh", "-c", name)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	pipe, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		p.height = 0
		_, err = p.held.WriteTo(os.Stdout)
		return err
	}
	p.command, p.pipe = command, pipe
	if _, err := p.held.WriteTo(pipe); err != nil {
		return errPagerLeft
	}
	return nil
}

// Close shows what is held back, or waits for the user to leave the pager.
func (p *pager) Close() error {
	if p.pipe == nil {
		_, err := p.held.WriteTo(os.Stdout)
		return err
	}
	p.pipe.Close()
	return p.command.Wait()
}
