// Package k8s checks the manifest for Kubernetes: it has the fields that there are, and
// its command does the job in the environment that it gives.
package k8s

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// readJob decodes the manifest: a field that there is not is an error.
func readJob(t *testing.T) *batchv1.Job {
	t.Helper()
	text, err := os.ReadFile("indexed-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job := new(batchv1.Job)
	if err := yaml.UnmarshalStrict(text, job, yaml.DisallowUnknownFields); err != nil {
		t.Fatal(err)
	}
	return job
}

// What the API server checks of such a job, and what the statuses ask for.
func TestManifest(t *testing.T) {
	job := readJob(t)
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Name == "" {
		t.Errorf("%s %s %q", job.APIVersion, job.Kind, job.Name)
	}
	spec, pod := job.Spec, job.Spec.Template.Spec
	if spec.CompletionMode == nil || *spec.CompletionMode != batchv1.IndexedCompletion || spec.Completions == nil || spec.BackoffLimitPerIndex == nil {
		t.Fatal("it is no Indexed Job whose indices are tried again one by one")
	}
	if pod.RestartPolicy != corev1.RestartPolicyNever || len(pod.Containers) != 1 {
		t.Errorf("restart policy %s, %d containers: a failure policy needs Never", pod.RestartPolicy, len(pod.Containers))
	}
	container := pod.Containers[0]
	if got, want := environment(&container)["SHARDS"], fmt.Sprint(*spec.Completions); got != want {
		t.Errorf("SHARDS is %s and completions %s", got, want)
	}
	for _, mount := range container.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }) {
			t.Errorf("there is no volume %s", mount.Name)
		}
	}
	actions := make(map[int32]batchv1.PodFailurePolicyAction)
	for _, rule := range spec.PodFailurePolicy.Rules {
		if rule.OnExitCodes == nil {
			continue
		}
		if name := rule.OnExitCodes.ContainerName; name == nil || *name != container.Name || rule.OnExitCodes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn {
			t.Errorf("a rule is of container %v, operator %s", name, rule.OnExitCodes.Operator)
		}
		for _, code := range rule.OnExitCodes.Values {
			actions[code] = rule.Action
		}
	}
	if actions[2] != batchv1.PodFailurePolicyActionFailJob || actions[1] != batchv1.PodFailurePolicyActionFailIndex ||
		actions[3] != batchv1.PodFailurePolicyActionFailIndex || actions[75] != "" || actions[143] != "" {
		t.Errorf("actions %v: status 2 fails the job, 1 and 3 the index, and others count as a try", actions)
	}
}

func environment(c *corev1.Container) map[string]string {
	values := make(map[string]string)
	for _, e := range c.Env {
		values[e.Name] = e.Value
	}
	return values
}

var reference = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// expand puts variables in the place of $(NAME), as the kubelet does: a name that is not
// known stays as it is.
func expand(text string, values map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if value, ok := values[found[2:len(found)-1]]; ok {
			return value
		}
		return found
	})
}

// The container's command is run for each index with the variables that the manifest and
// Kubernetes set, and none else. A temporary folder stands for the volume.
func TestCommand(t *testing.T) {
	program, data := build(t), t.TempDir()
	sample := filepath.Join("..", "..", "bench", "corpus", "sample")
	if err := os.Mkdir(filepath.Join(data, "frontier"), 0o777); err != nil {
		t.Fatal(err)
	}
	frontier, err := os.ReadFile(filepath.Join(sample, "frontier.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(data, "frontier", fmt.Sprintf("part-%d.arrow", i)), frontier, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	must(t, exec.Command(program, "compile", "-rules", filepath.Join(sample, "rules"), "-out", filepath.Join(data, "site.rules")))

	job := readJob(t)
	container := job.Spec.Template.Spec.Containers[0]
	values := environment(&container)
	for name, value := range values {
		for _, mount := range container.VolumeMounts {
			if rest, ok := strings.CutPrefix(value, mount.MountPath); ok {
				values[name] = data + rest
			}
		}
	}
	merge := exec.Command(program, "verify", "-merge", filepath.Join(data, "verdicts"))
	for index := range *job.Spec.Completions {
		values["JOB_COMPLETION_INDEX"] = fmt.Sprint(index)
		command := exec.Command(program)
		command.Args, command.Env = nil, []string{}
		for _, word := range container.Command {
			command.Args = append(command.Args, expand(word, values))
		}
		if command.Args[0] != "robotsbatch" {
			t.Fatalf("the command is %q", command.Args)
		}
		for name, value := range values {
			command.Env = append(command.Env, name+"="+value)
		}
		must(t, command)
		if index == 7 { // a part of the array is not the whole
			if err := exec.Command(merge.Path, merge.Args[1:]...).Run(); err == nil {
				t.Error("verify -merge says whole after 8 of 16")
			}
		}
	}
	if said := must(t, merge); !strings.Contains(said, "16 shards make a whole: 80,000 rows") {
		t.Errorf("verify -merge: %s", said)
	}
}

// build builds the program, unless ROBOTSBATCH names it.
func build(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("ROBOTSBATCH"); program != "" {
		return program
	}
	program := filepath.Join(t.TempDir(), "robotsbatch")
	command := exec.Command("go", "build", "-o", program, "./cmd/robotsbatch")
	command.Dir = filepath.Join("..", "..")
	must(t, command)
	return program
}

func must(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	said, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", command.Args, err, said)
	}
	return string(said)
}
