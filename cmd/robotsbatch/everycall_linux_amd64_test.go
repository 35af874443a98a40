package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"robotsbatch/io/store/must"
)

var everyCall = flag.Bool("everycall", false, "fail each call in TestEveryCallFails, instead of one of 29")

// fault makes one system call of a program fail: of those about files in its folder, the
// at-th, from 1 on. It is for one run.
type fault struct {
	at    int
	errno syscall.Errno // 0: the program is killed instead

	made  int    // the number of such calls
	call  string // the call that failed, and its file
	file  string
	calls map[string]int // by name
}

// fileCalls are the system calls that fail, with the argument that is a path (or -1) or a
// descriptor. A failed close of what was only read means nothing, and neither does advice.
var fileCalls = map[uint64]struct {
	name             string
	path, descriptor int
}{
	unix.SYS_OPENAT: {"open", 1, -1}, unix.SYS_NEWFSTATAT: {"stat", 1, 0}, unix.SYS_MKDIRAT: {"mkdir", 1, -1},
	unix.SYS_RENAMEAT: {"rename", 1, -1}, unix.SYS_RENAMEAT2: {"rename", 1, -1}, unix.SYS_LINKAT: {"link", 1, -1},
	unix.SYS_READ: {"read", -1, 0}, unix.SYS_PREAD64: {"read", -1, 0}, unix.SYS_GETDENTS64: {"list", -1, 0}, unix.SYS_FSTAT: {"stat", -1, 0},
	unix.SYS_WRITE: {"write", -1, 0}, unix.SYS_PWRITE64: {"write", -1, 0}, unix.SYS_FSYNC: {"sync", -1, 0}, unix.SYS_FDATASYNC: {"sync", -1, 0},
	unix.SYS_FTRUNCATE: {"cut", -1, 0}, unix.SYS_CLOSE: {"close", -1, 0}, unix.SYS_MMAP: {"map", -1, 4}, unix.SYS_FLOCK: {"lock", -1, 0},
	unix.SYS_UNLINKAT: {"remove", 1, -1},
}

// traceFileCalls becomes the program that its arguments name, whose tracer is asked before
// each of fileCalls.
func traceFileCalls() {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the call's number
	for number := range fileCalls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(number)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	panic(err)
}

func init() { programs["tracefilecalls"] = traceFileCalls }

// run runs the program in a folder until it ends, and returns its status, -1 if it was killed,
// and what it said.
func (f *fault) run(t *testing.T, dir string, args ...string) (exit int, said string) {
	t.Helper()
	robotsbatch := must.Get(exec.LookPath("robotsbatch"))(t)
	var stderr strings.Builder
	cmd := exec.Command("tracefilecalls", append([]string{robotsbatch}, args...)...)
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &stderr, append(os.Environ(), "GOMAXPROCS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	runtime.LockOSThread() // which alone may trace
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		t.Skip("needs ptrace: ", err)
	}
	pid, status := cmd.Process.Pid, syscall.WaitStatus(0)
	must.Get(syscall.Wait4(pid, &status, 0, nil))(t)
	const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(pid, options); err != nil {
		t.Skip("needs ptrace: ", err)
	}
	f.calls = make(map[string]int)
	for thread, signal := pid, 0; ; {
		_ = syscall.PtraceCont(thread, signal) // it may just have been killed
		thread = must.Get(syscall.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil))(t)
		if signal = 0; !status.Stopped() {
			if thread == pid {
				_ = cmd.Wait() // for what it said: the program has ended
				return status.ExitStatus(), stderr.String()
			}
			continue
		}
		switch stop := status.StopSignal(); stop {
		case syscall.SIGTRAP:
			if status.TrapCause() != unix.PTRACE_EVENT_SECCOMP {
				break
			}
			var r syscall.PtraceRegs
			if syscall.PtraceGetRegs(thread, &r) != nil || !f.meets(dir, pid, &r) {
				break
			}
			if f.errno == 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
			r.Orig_rax, r.Rax = ^uint64(0), -uint64(f.errno) // no call at all
			must.Do(t, syscall.PtraceSetRegs(thread, &r))
		case syscall.SIGSTOP: // a new thread
		default:
			signal = int(stop)
		}
	}
}

// meets reports whether a call is the one that fails.
func (f *fault) meets(dir string, pid int, r *syscall.PtraceRegs) bool {
	call, arguments, name := fileCalls[r.Orig_rax], []uint64{r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8}, ""
	if call.path >= 0 {
		memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
		if err != nil {
			return false
		}
		defer memory.Close()
		text := make([]byte, 256)
		n, _ := memory.ReadAt(text, int64(arguments[call.path])) // as far as it is there
		name, _, _ = strings.Cut(string(text[:n]), "\x00")
	}
	if call.path < 0 || name == "" {
		name, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, int32(arguments[call.descriptor])))
	} else if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	name, err := filepath.Rel(dir, name)
	if err != nil || strings.HasPrefix(name, "..") {
		return false
	}
	f.made++
	f.calls[call.name]++
	if f.made != f.at {
		return false
	}
	f.call, f.file = call.name+" "+name, name
	return true
}

// Whatever call of a job fails, each of its outputs is whole or absent, a message names the
// file, the exit status says that another run may succeed, and that run makes what is missing.
// So it is when the job is killed before any call.
func TestEveryCallFails(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, d := range []string{"in", "rules"} {
		must.Do(t, os.Mkdir(d, 0o777))
	}
	list := ""
	for i := range 9 {
		must.WriteFile(t, fmt.Sprintf("rules/%c.example", 'a'+i/3), fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i/3))
		list += fmt.Sprintf("http://%c.example/%d\n", 'a'+i/3, i%3)
	}
	must.WriteFile(t, "in/0.txt", list)
	must.WriteFile(t, "rows.jsonl", `{"url":"http://a.example/robots.txt","body":"User-agent: *\nDisallow: /0"}`+"\n")
	mustRun(t, "-in", "in/0.txt", "-rules", "rules", "-out", "in/1.parquet", "-prefix", "x_", "-quiet")
	mustRun(t, "compile", "-rules", "rules", "-out", "site.rules", "-quiet")
	step := must.Short(61, 29)
	if *everyCall {
		step = 1
	}
	for _, job := range []struct {
		name string
		args []string
	}{
		{"rules", []string{"-in", "in", "-rules", "rules", "-out", "out/", "-quiet", "-resume"}},
		{"pack", []string{"-in", "in", "-rules", "site.rules", "-out", "out/", "-quiet", "-resume"}},
		{"compile", []string{"compile", "-rules", "rows.jsonl", "-rules", "rules", "-out", "out/site.rules", "-quiet"}},
	} {
		t.Run(job.name, func(t *testing.T) {
			whole := &fault{}
			outputs := func() map[string]string {
				files := make(map[string]string)
				entries, _ := os.ReadDir("out")
				for _, e := range entries {
					if e.Name() != "_robotsbatch.manifest.jsonl" {
						files[e.Name()] = string(readFile(t, filepath.Join("out", e.Name())))
					}
				}
				return files
			}
			empty := func() { must.Do(t, errors.Join(os.RemoveAll("out"), os.Mkdir("out", 0o777))) }
			empty()
			status, said := whole.run(t, dir, job.args...)
			must.Need(t, status == exitDone, "status %d: %s", status, said)
			want := outputs()
			t.Logf("%d calls: %v", whole.made, whole.calls)
			for at := 1; at <= whole.made; at += step {
				for _, errno := range []syscall.Errno{[]syscall.Errno{syscall.EIO, syscall.ENOSPC}[at%2], 0} {
					empty()
					f := &fault{at: at, errno: errno}
					status, said := f.run(t, dir, job.args...)
					got := outputs()
					for name, text := range got {
						if own := strings.HasPrefix(name, "."); own && errno != 0 && !mayStay.MatchString(f.call) || !own && text != want[name] {
							t.Errorf("%d, %s: status %d: %s is left: %s", at, f.call, status, name, said)
						}
					}
					switch {
					case f.call == "", errno == 0 && status == -1:
					case status == exitRetry && f.named(said) && strings.Contains(said, errno.Error()):
					case status != exitDone:
						t.Errorf("%d, %s: status %d: %s", at, f.call, status, said)
					default:
						for name := range want {
							must.Equal(t, got[name], want[name], at, f.call, "status", status, "output", name, said)
						}
					}
					status, said = (&fault{}).run(t, dir, job.args...)
					got = outputs()
					maps.DeleteFunc(got, func(name, _ string) bool { return mayStay.MatchString(f.call) && strings.HasPrefix(name, ".") })
					must.Be(t, status == exitDone && maps.Equal(got, want), "%d, %s, then again: status %d: %s, %v", at, f.call, status, said, slices.Collect(maps.Keys(got)))
				}
			}
		})
	}
}

// mayStay is what fails if one of the program's own files cannot be removed. A lock file that
// cannot be locked may be another run's.
var mayStay = regexp.MustCompile(`^remove |^lock .*\.lock$`)

// named reports whether a message names the file of the call, or its folder.
func (f *fault) named(message string) bool {
	folder, base := filepath.Split(f.file)
	return strings.Contains(message, ownName.ReplaceAllString(base, "$1")) || strings.Contains(message, folder) || base == "."
}

// ownName is how the program calls the files that lie beside an output until it is there.
var ownName = regexp.MustCompile(`^\.(.*)\.robotsbatch(-[0-9a-f]{8}\.tmp|\.lock)( \(deleted\))?$`)
