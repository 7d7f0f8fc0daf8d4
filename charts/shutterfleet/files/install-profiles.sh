# Installs the profiles of workers on a node, and loads the AppArmor profile with the node's own parser. Of the chart (workers.profiles),
# whose DaemonSet mounts the profiles at /mnt/profiles, the kubelet's folder seccomp at /mnt/seccomp and, if AppArmor is used, the root of
# the node at /mnt/node. Ends with 1 if that fails.
set -eu
cp /mnt/profiles/shutterfleet-worker.json /mnt/seccomp/shutterfleet-worker.json.new
mv /mnt/seccomp/shutterfleet-worker.json.new /mnt/seccomp/shutterfleet-worker.json
echo 'seccomp profile installed'
if [ ! -d /mnt/node ]; then
  exit
elif [ -d /mnt/node/sys/kernel/security/apparmor ]; then
  # Not from a file of the node: after its next start this runs again.
  chroot /mnt/node /sbin/apparmor_parser --replace --skip-cache </mnt/profiles/shutterfleet-worker
  echo 'AppArmor profile loaded'
else
  echo 'AppArmor is not enabled on this node, which will refuse workers with an AppArmor profile' >&2
fi
