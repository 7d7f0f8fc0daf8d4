// Command seccomp-profile prints the seccomp profile of workers as nodes read it, which is the OCI form of containerd, not
// Docker's: what containerd allows a container without capabilities, and what keeping browsers apart takes on top.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

var added = []string{
	// Chromium's sandbox: namespaces for its renderers, which have no files.
	"clone", "unshare", "chroot",
	// bwrap: a file tree for each browser, in namespaces that its user owns.
	"mount", "umount2", "pivot_root",
}

func main() {
	spec := &specs.Spec{Process: &specs.Process{Capabilities: &specs.LinuxCapabilities{}}}
	profile := seccomp.DefaultProfile(spec)
	for i := range profile.Syscalls {
		rule := &profile.Syscalls[i]
		// Conditions and refusals of theirs would be weighed against the rule for all that follows.
		rule.Names = slices.DeleteFunc(rule.Names, func(name string) bool { return slices.Contains(added, name) })
	}
	profile.Syscalls = slices.DeleteFunc(profile.Syscalls, func(rule specs.LinuxSyscall) bool { return len(rule.Names) == 0 })
	profile.Syscalls = append(profile.Syscalls, specs.LinuxSyscall{Names: added, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{}})
	profile.Architectures = []specs.Arch{specs.ArchX86_64, specs.ArchX86, specs.ArchX32, specs.ArchAARCH64, specs.ArchARM}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(profile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
