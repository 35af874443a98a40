package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/io/store/must"
)

// exitsOf are the exit statuses that the help of a command lists.
func exitsOf(command string) (statuses []string) {
	c := program.Command(command)
	if c == nil {
		c = program.Main
	}
	for _, e := range c.Exits {
		statuses = append(statuses, e.Status)
	}
	return statuses
}

// A message has the name of what it is about once, whoever opens that: a file that
// cannot be read, a folder where a file should be, a file that is missing, empty or cut. The
// exit status is one of those in the help.
func TestMessagesNameOnce(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(folder, name)
		must.Do(t, os.WriteFile(name, []byte(text), 0o666))
		return name
	}
	urls, agents, rules := write("urls.txt", "https://a.example/\n"), write("agents.txt", "CCBot\n"), filepath.Join(sample, "rules")
	subfolder := filepath.Join(folder, "folder")
	must.Do(t, os.Mkdir(subfolder, 0o777))
	arrow := readFile(t, filepath.Join(sample, "frontier.arrow"))
	parquet := filepath.Join(folder, "whole.parquet")
	mustRun(t, "-in", urls, "-rules", rules, "-out", parquet)
	for _, name := range []string{
		"/proc/self/mem", subfolder, filepath.Join(folder, "missing"), write("empty.arrow", ""), write("cut.arrow", string(arrow[:len(arrow)/2])),
		write("cut.parquet", string(readFile(t, parquet)[:100])), write("cut.rules", "robotsbatch rules"), write("cut.gz", "\x1f\x8b\x08"),
		write("cut.zst", "\x28\xb5\x2f\xfd"), write("cut.warc", "WARC/1.0\r\n"),
	} {
		for _, args := range [][]string{
			{"-in", name, "-rules", rules},
			{"-in", urls, "-rules", name},
			{"-in", urls, "-rules", rules, "-agents", name},
			{"-files-from", name, "-rules", rules},
			{"verify", name},
			{"lint", name},
			{"survey", "-as", "text", name},
			{"verify", "-merge", name},
			{"explain", "-rules", name, "https://a.example/"},
			{"compile", "-rules", name, "-out", filepath.Join(folder, "made.rules")},
			{"export", "-rules", name, "-table", "rules"},
			{"survey", "-rules", name, "-agents", agents},
			{"diff", rules, name},
			{"diff", rules, rules, "-in", name},
			{"hosts", "-in", name, "-rules", rules},
		} {
			status, _, stderr := runWith(t.Context(), "", args...)
			says := exitsOf(args[0])
			must.Be(t, slices.Contains(says, strconv.Itoa(status)), "%s: exit status %d, and the help says %q", strings.Join(args, " "), status, says)
			for line := range strings.Lines(stderr) {
				must.Be(t, strings.Count(line, name) <= 1, "%s: %s", strings.Join(args, " "), line)
			}
		}
	}
}

// diskError is a job whose rule pack is on a disk that becomes smaller than the
// file system on it, once the job has opened the pack: then the system has
// nothing to give for its pages but SIGBUS, although the file has the size that
// it had. The job has read more of its input by then than a pipe holds, but not
// enough for a batch.
const diskError = `
set -eu
truncate -s 16M image
mke2fs -q -F -t ext2 image
device=$(losetup -f --show image)
trap 'umount mnt; losetup -d $device' EXIT
mkdir mnt
mount $device mnt
robotsbatch compile -quiet -rules "$SAMPLE/rules" -out mnt/site.rules
dd if=/dev/zero of=mnt/rest bs=1M count=4 2>/dev/null
umount mnt
mount -o ro $device mnt
mkfifo urls
robotsbatch -in urls -rules mnt/site.rules -out out.csv &
exec 3>urls
for i in 1 2 3 4 5 6 7 8; do
  yes http://nobody.example/ | head -n 1000 >&3
done
truncate -s 64K image
losetup -c $device
zstd -dcq "$SAMPLE/frontier.txt.zst" >&3 2>/dev/null || true
exec 3>&-
status=0
wait $! || status=$?
exit $status
`

// A read error of the disk under a mapped rule pack ends the job, with a message
// that says what it is: the pack was neither cut nor changed.
func TestDiskErrorUnderRulePack(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIP: only root can mount a file system")
	}
	for _, tool := range []string{"unshare", "losetup", "mke2fs", "mount", "zstd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("SKIP: ", err)
		}
	}
	sample := must.Get(filepath.Abs(filepath.FromSlash("../../bench/corpus/sample")))(t)
	t.Chdir(t.TempDir())
	if out, err := exec.Command("unshare", "-m", "sh", "-c", `truncate -s 1M x && device=$(losetup -f --show x) && losetup -d $device`).CombinedOutput(); err != nil {
		t.Skipf("SKIP: there are no loop devices here: %v: %s", err, out)
	}
	cmd := exec.Command("unshare", "-m", "sh", "-c", diskError)
	cmd.Env = append(os.Environ(), "SAMPLE="+sample)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	must.Need(t, errors.As(err, &exit) && exit.ExitCode() == exitRetry && strings.Contains(string(out), "site.rules: the file cannot be read any more: an error of the disk"), "%v: %s", err, out)
	must.Fail(t, must.Err(os.Stat("out.csv")), "there is an output")
}

// A table that cannot be written leaves nothing running that makes its rows.
func TestFailedTableCloses(t *testing.T) {
	ignored := goleak.IgnoreCurrent()
	rules, urls := filepath.Join(sample, "rules"), filepath.Join(sample, "frontier.txt.zst")
	empty := t.TempDir()
	for _, args := range [][]string{
		{"export", "-rules", rules, "-table", "rules"},
		{"survey", "-rules", rules, "-agent", "CCBot"},
		{"hosts", "-in", urls, "-rules", rules, "-max-age", "1s"},
		{"diff", rules, empty, "-allow-no-rules", "-agent", "CCBot"},
	} {
		args = append(args, "-out", "/dev/full", "-out-format", "arrows", "-batch-rows", "1")
		status, _, stderr := runWith(t.Context(), "", args...)
		must.Be(t, status == exitRetry && strings.Contains(stderr, "no space left on device"), "%s: status %d: %s", strings.Join(args, " "), status, stderr)
		if err := goleak.Find(ignored); err != nil {
			t.Errorf("%s: %v", args[0], err)
		}
	}
}
