import t from 'tap'
import { startNodeCluster } from '#test/helpers/nodes/node-cluster.ts'

const cluster = await startNodeCluster(t, { count: 1, images: ['worker'] })
await cluster.apply({
  apiVersion: 'v1', kind: 'Pod', metadata: { name: 'try', namespace: 'default' },
  spec: { hostUsers: false, automountServiceAccountToken: false, containers: [{ name: 'x', image: 'shutterfleet/worker:local', imagePullPolicy: 'Never', args: ['sleep', '600'],
    securityContext: { runAsUser: 10001, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true, procMount: 'Unmasked', seccompProfile: { type: 'Localhost', localhostProfile: 'shutterfleet-worker.json' } },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }, { name: 'shm', mountPath: '/dev/shm' }] }],
    volumes: [{ name: 'tmp', emptyDir: {} }, { name: 'shm', emptyDir: { medium: 'Memory' } }] },
})
console.error(cluster.place.folder)
try {
await cluster.kubectl(['wait', 'pod/try', '--for=condition=Ready', '--timeout=40s'])
} catch (e) { console.error(e); }
console.error(await cluster.kubectl(['describe', 'pod', 'try']))
const sh = (c: string) => cluster.kubectl(['exec', 'try', '--', 'sh', '-c', c]).catch((e) => String(e) + String(e.stderr) + String(e.stdout))
for (const c of ['id; cat /proc/self/uid_map; grep -E "Seccomp|NoNew|CapBnd" /proc/self/status; cat /proc/1/cmdline | tr "\\0" " "', 'touch /x; ls /run/secrets', 'bwrap --unshare-user --unshare-net --unshare-pid --unshare-ipc --unshare-uts --die-with-parent --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp -- sh -c "id; ls /proc | head -3"', 'shutterfleet --version'])
  console.error(await sh(c))
await new Promise((r) => setTimeout(r, Number(process.env['WAIT'] ?? 0)))
t.pass()
