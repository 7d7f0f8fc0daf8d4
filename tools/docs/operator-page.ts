import { type SkipReason, skipReasons } from '#controller/operator/pools/skip-reason.ts'
import { type Reason, reasons } from '#controller/pool.ts'
import { type PoolCondition, poolConditions } from '#shared/kube/browser-pool.ts'

/** What each reason of a decision means, and what a person may do about it. */
const reasonHelp: Readonly<Record<Reason, string>> = {
  unschedulable:
    'No node has room for the workers that are missing: `kubectl describe pod` of a pending one says what it lacks',
  'image-pull': 'Nodes cannot fetch the image: name, tag, `imagePullSecrets`',
  'crash-looping':
    'Workers end before they are ready: read their log. Kubernetes tries a pod again itself; a Job is tried one at a time',
  'config-error':
    'Nodes cannot make the container, or a Job is refused: a seccomp profile that is not there, an image without `node`; the message says it',
  'not-starting':
    'A node has not started a worker for two minutes: `kubectl describe pod` tells why. Mostly the Secret of the pool is missing, the network cannot be made, or the node knows no `hostUsers: false`; an image that takes longer to fetch looks the same until it is there. A Job is given up after five minutes in all',
  quota:
    'A ResourceQuota of the namespace is used up. For `proxied` only one that counts Jobs (`count/jobs.batch`): one of pods, cpu or memory lets Jobs be made, and shows as `pods-refused`',
  'pods-refused':
    'The cluster refuses to make the pods: admission, a priority class that is not there; the message says it. A Job that gets no pod for ten seconds shows the same, a quota of pods, cpu or memory included: `kubectl describe job` says why',
  paused: '`spec.paused`: nothing is started, drained or replaced',
  fixed: '`autoscaling.enabled` is false: `spec.replicas` rules',
  steady: 'As many workers as the work needs',
  load: 'Captures arrive at a rate that needs more workers',
  backlog: 'Captures wait longer than `queueWaitMs` allows',
  buffer: 'Idle workers, or spares, are kept on top of what is needed',
  'below-minimum': 'Fewer workers than `minReplicas`',
  'at-maximum': 'More workers are needed than `maxReplicas` (or `jobs.max`) allows',
  holding:
    'More workers than needed, kept for `scaleDown.stabilizationWindowSeconds` (the last one for `cooldownSeconds`)',
  starting: 'Not made smaller while workers are starting: a ReplicaSet would remove those first',
  rollout:
    'Not made smaller while a changed template is rolled out: Kubernetes decides then who goes, workers that serve included. Where it hangs, `Degraded` says why new workers do not come up: mend the template, or take it back',
  stepping: 'Not made smaller before `scaleDown.periodSeconds` have passed since the last step',
  excess: 'More workers than needed: some are told to drain, or stuck ones are taken away',
  drained: 'Workers that have finished what they had are taken away',
  lost: 'Workers that say nothing for 10 s are replaced',
  'backlog-unknown': 'The ledger or NATS says nothing: the size is held',
  'workers-unknown': 'The API server says nothing: the size is held',
  'missing-heartbeats':
    'Most workers fell silent together, which rather means that nothing is heard: the size is held, one worker at most is replaced at a time',
}

/** Why a pool is left alone. */
const asideHelp: Readonly<Record<SkipReason['word'], string>> = {
  'pool-taken': 'An older BrowserPool is sized by the same queue: this one is skipped',
  'unsupported-spec':
    "The spec holds what this controller does not know: another release's CustomResourceDefinition is installed. The pool is skipped",
}

/** What each reason of a condition means. */
const conditionHelp: Readonly<Record<PoolCondition['reason'], string>> = {
  WorkersReady: 'At least as many workers take captures as minReplicas, one, or the fixed size ask for',
  ScaledToZero: 'No worker is wanted',
  WorkersMissing: 'Fewer workers take captures than are wanted',
  WorkersUnknown: 'The workers cannot be read',
  RollingOut:
    'Not all workers are of the template yet. After an update of the controller pools get theirs one after another',
  RolloutFailed:
    'The rollout of the template exceeded its progress deadline: see `Degraded`, mend the template or take it back',
  Reconciled: 'The pool is as its spec says',
  Starting: 'Workers are on their way in',
  WaitingForNodes:
    'No node has room for some workers yet: a node autoscaler gets `SHUTTERFLEET_NODE_PROVISION_SECONDS` to bring one',
  Draining: 'Workers finish what they have before they go',
  Replacing: 'Lost workers are being replaced, or those of an older template; the pool is not made smaller meanwhile',
  Settled: 'Nobody comes or goes',
  MetricsRead: 'Queue and workers are read',
  BacklogUnknown: 'The ledger or NATS says nothing',
  MissingHeartbeats: 'Most workers fell silent together',
  AutoscalingOn: 'The queue decides the size; `spec.replicas` is ignored',
  AutoscalingOff: '`spec.replicas` decides the size',
  Paused: '`spec.paused`: the size stays',
  WithinBounds: 'What is wanted is allowed',
  AtMaximum: '`maxReplicas` (or `jobs.max`) is below what is wanted',
  QuotaExceeded: 'A ResourceQuota is used up',
  AsExpected: 'Nobody has to look',
  CrashLooping: 'Workers end before they are ready',
  Unschedulable: 'No node has room',
  ImagePull: 'The image cannot be fetched',
  ConfigError: 'Nodes cannot make the container, or a Job is refused; the message says why',
  NotStarting:
    'A node has not started a worker for two minutes: a volume, the network, or a long download of the image',
  PodsRefused: 'The cluster refuses to make the pods',
  PoolTaken: 'An older BrowserPool is sized by the same queue: this one is skipped',
  ApplyFailed:
    "The API server refuses what the controller applies, or another CustomResourceDefinition than this release's is installed; the message says which. It is tried again when the pool changes, else after waits of up to five minutes",
}

const rows = (help: Readonly<Record<string, string>>, words: readonly string[]) =>
  words.map((word) => `| \`${word}\` | ${help[word]} |`).join('\n')

const conditionTables = () =>
  Object.entries(poolConditions)
    .map(
      ([type, { help, reasons: words }]) =>
        `### ${type}\n\n${help}.\n\n| Reason | Means |\n|---|---|\n${rows(conditionHelp, words)}`,
    )
    .join('\n\n')

const intro = `# The operator

On Kubernetes the controller is an operator: it reads [BrowserPools](browser-pool.md) and keeps the workers that they ask
for. This page says what it does and how to read what it says; the chart ([kubernetes.md](kubernetes.md)) sets all of it up. The
tables at its end are generated from the code by \`make docs\`.

## What it needs

Kubernetes 1.33 or newer as it comes, and nodes with Linux 6.3, containerd 2.0 and runc 1.2 or newer (or CRI-O and crun
that know user namespaces). With \`SHUTTERFLEET_POD_ISOLATION\` = \`flags-only\`, 1.29 or newer, and no requirement of the nodes. It is
tested with 1.36.

| What is used | Where | On by default since |
|---|---|---|
| \`hostUsers: false\` | pods, unless \`flags-only\`: gives each a user namespace | 1.33 |
| \`procMount: Unmasked\` | pods, unless \`flags-only\`: browsers get a /proc of their own | 1.33 |
| \`podReplacementPolicy\` | Jobs | 1.29 |
| \`fieldPath\` of rules | the CustomResourceDefinition | 1.28 |
| \`matchLabelKeys\` | pods with \`template.topologySpreadConstraints\` | 1.27 |
| \`unhealthyPodEvictionPolicy\` | the PodDisruptionBudget | 1.27 |
| \`batch.kubernetes.io/job-name\` | pods of Jobs, by which they are found | 1.27 |
| \`podFailurePolicy\` | Jobs | 1.26 |

Nodes need the seccomp profile [k8s/seccomp/shutterfleet-worker.json](../k8s/seccomp/shutterfleet-worker.json) in
\`/var/lib/kubelet/seccomp\`; \`SHUTTERFLEET_POD_SECCOMP\` gives it another name there. Where it is missing, the pool is \`config-error\`
with the name of the file. The container runtime's own profile refuses the namespaces that browsers are kept apart with: under
\`SHUTTERFLEET_POD_SECCOMP=RuntimeDefault\` a worker ends at its start and says why, unless \`SHUTTERFLEET_POD_ISOLATION=flags-only\`
and \`SHUTTERFLEET_POD_UNSAFE_NO_SANDBOX=true\` give both up, which it announces at each start ([images](images.md#on-kubernetes)).

An API server that does not know \`hostUsers\` or \`procMount\` leaves them out without a word, and workers cannot
start their browsers; a node that cannot do it does not start them (\`not-starting\`). A namespace with Pod Security
Admission must allow \`procMount: Unmasked\`; where it does not, \`pods-refused\` says so.

## What it makes

| For a BrowserPool of pool | It keeps |
|---|---|
| \`standard\`, \`stealth\` | a Deployment of workers and a PodDisruptionBudget (20 %), both owned by the BrowserPool and named after it |
| \`proxied\` | Jobs, each of which serves one capture behind its caller's proxy and ends |

Everything is in the namespace of the BrowserPools (\`SHUTTERFLEET_POOLS_NAMESPACE\`), Jobs in that of
\`SHUTTERFLEET_JOBS_NAMESPACE\`, so that a ResourceQuota and a network policy can be theirs alone. The rights of the
controller are a Role, no ClusterRole: [k8s/controller-role.yaml](../k8s/controller-role.yaml). It lists exactly the verbs
that the code uses; the tests compare it with the API server's audit log.

### Several installations in one cluster

Each has a namespace of its own for its BrowserPools: of two in one, the second stays standby behind the Lease of the first. They may share
the CustomResourceDefinition, and a namespace for Jobs; then each needs a name of its own, \`SHUTTERFLEET_INSTANCE\`
(\`shutterfleet\`), and a \`SHUTTERFLEET_POD_SECRET\` of its own. The name is the label \`app.kubernetes.io/instance\` of everything that
an installation makes, by which it finds it again: \`kubectl get deployments,pdb,jobs,pods -l app.kubernetes.io/instance=shutterfleet\`.

A Deployment selects its pods by \`app.kubernetes.io/instance\` and \`shutterfleet.dev/pool\`, which cannot be changed. One of an older
release keeps the selector that it has. After a change of the name the pool is \`ApplyFailed\`: set it back, or run
\`kubectl delete deployment shutterfleet-POOL --cascade=orphan\`, wait for the new workers, and delete the old ReplicaSet.

### Pods

| What | Value | Why |
|---|---|---|
| requests | cpu 500m for each slot; memory 300 MiB and 400 MiB for each slot; disk 128 MiB and 128 MiB for each slot | measured: a worker of one slot takes 361 MiB after 500 captures, full Chromium 255 MiB more; a small page takes 240 processor ms, with full Chromium about three times that; its disk is the log, of which a kubelet keeps 50 MiB, and with \`flags-only\` the profile of each browser |
| limits | memory 512 MiB and 3 GiB for each slot; disk 256 MiB and 1 GiB for each slot; no limit of cpu | what the worker allows itself: 2 GiB for each browser (\`SHUTTERFLEET_WORKER_BROWSER_MEMORY_MAX\`) and 1 GiB of its files, in memory, or with \`flags-only\` on disk |
| \`emptyDir\` | /tmp of 1 GiB, /dev/shm of 256 MiB (memory), for each slot | nothing else can be written to |
| \`cluster-autoscaler.kubernetes.io/safe-to-evict\` | \`true\`, of Jobs \`false\` | a node with workers may be emptied although they have folders of their own |
| \`karpenter.sh/do-not-disrupt\` | \`true\` of Jobs | the capture of a Job would begin anew; it ends by itself soon |
| startup probe | \`/livez\`, 120 tries, one a second | a slow node gets two minutes before liveness counts |
| \`args\` | \`node services/worker/main.ts\`, of Jobs \`main-job.ts\` | the image's entry point, an init, reaps what browsers leave behind: an image of your own needs one too |

\`template.resources\` replaces all requests and limits, \`template.annotations\` single annotations.

### What RBAC cannot express

The Role allows Deployments, Jobs and pods, not which: whoever takes over the controller could run any image with any Secret of the
namespace. [k8s/admission-policy.yaml](../k8s/admission-policy.yaml) is a ValidatingAdmissionPolicy (Kubernetes 1.30) that forbids it.
An installation has a copy of it, in which these are its own:

| Where | Field | What |
|---|---|---|
| both | \`metadata.name\`, \`spec.policyName\` | a name for each installation |
| binding | \`matchResources.namespaceSelector\` | the namespaces of BrowserPools and Jobs |
| policy | variable \`controller\` | user of the controller, \`system:serviceaccount:NAMESPACE:NAME\` |
| policy | variable \`instance\` | \`SHUTTERFLEET_INSTANCE\` |
| policy | variable \`images\` | images that may run: \`SHUTTERFLEET_POD_IMAGE\`, those of templates and of injected containers |
| policy | variable \`secrets\` | Secrets that may be mounted or pulled with |
| policy | variable \`allPods\` | \`false\`: looks at pods with this installation's labels and at whatever the controller writes; \`true\`: at every pod, for namespaces of workers alone |

Where Pod Security of a namespace is \`privileged\`, so that it takes the unmasked \`/proc\`, set \`allPods\`.

### Secrets

Workers get NATS address and keys from a Secret for each pool (\`SHUTTERFLEET_POD_SECRET\`-\`standard\`, …, with the keys
\`nats-url\`, \`opening-keys\` and \`egress-token\`, one of the tokens of egress, and with \`SHUTTERFLEET_POD_EXTRA_CA\` the key
\`ca.crt\`, authorities that NATS or the object store may have), mounted as files; that of \`proxied\`, and the pull secrets of its template, in the
namespace of the Jobs. Browsers find the folder of those files empty, unless \`SHUTTERFLEET_POD_ISOLATION\` is \`flags-only\`. No credential of a caller is in any Kubernetes object: captures arrive
sealed over NATS.

## The loops

\`\`\`
                       ┌ once a second, and at once when something happens ┐
 ledger: backlog ─┐    │                                                   │
 JetStream: depth ├─▶ observe ─▶ decide ─▶ act ─▶ drain (NATS), /scale, Jobs
 heartbeats ──────┤       │
 pods, Jobs ──────┘       └▶ status, conditions, events, metrics, pool.proxied.state
\`\`\`

- **Children**: when a BrowserPool, its Deployment or its PodDisruptionBudget changes: the Deployment is applied server-side, everything but its
  size. What somebody else changed of it is taken back; what somebody else added is left alone. What a new release or new
  settings of the controller change is rolled out pool by pool; a rollout that Kubernetes gives up on does not stop the next one.
- **Size**: one loop for each pool. A read that fails is *unknown*, never zero, and freezes the size.
- **Jobs**: one loop for the pool \`proxied\`.
- **Leader**: any number of controllers may run. One holds the Lease \`shutterfleet-controller\` and acts; the others watch
  and listen as it does, so that whoever follows knows everything at once. Each write is checked against the leader's
  term right before it leaves: a process that was frozen and wakes up after its term writes nothing.

## How queue depth becomes a size

1. **Load**: captures per second (of the last ten) × mean service time = slots that are busy; the square root of it on top
   for the scatter (square-root staffing); divided by \`slots\`.
2. **Backlog**: what waits must begin within \`queueWaitMs\` of the time that a new worker takes to start. What the workers
   at hand, starting ones included, serve until then is subtracted; the rest is divided by what one new worker serves. While a capture has waited longer than that, no worker is taken away.
3. The larger of both, never more than one slot for each capture that is known, plus \`buffer\`, within \`minReplicas\` and
   \`maxReplicas\`.
4. **Up** at once, from zero straight to what the backlog needs. **Down** when even the largest number wanted within
   \`stabilizationWindowSeconds\` is below the size: one worker, or a quarter of them, each \`scaleDown.periodSeconds\`.
5. **Drain, then scale** ([ADR 11](adr/0011-scale-a-deployment-after-draining.md)): a worker is told to drain, finishes what
   it has, says \`drained\`; only then is its pod marked and the Deployment made smaller by exactly the marked ones.
   If more work comes first, it takes work again.

A worker whose event loop has not answered \`/livez\` for 10 s is restarted by the kubelet. Give the controller, and the
services that you deploy beside it, a liveness probe of the same kind: \`httpGet\` of \`/livez\` on the probe port,
\`periodSeconds: 5\`, \`timeoutSeconds: 5\`, \`failureThreshold: 2\`.

Pods that cannot come up (no room, no image, no Secret, crash loop, quota) are no capacity, are not answered with more pods of the
same kind, and show as condition, event and metric.

For \`proxied\`: unfinished Jobs = captures that wait + Jobs that have claimed one + \`spares\`, at most \`jobs.max\`
([ADR 12](adr/0012-give-each-proxied-capture-a-job.md)). \`kubectl get jobs -L shutterfleet.dev/capture\` shows who serves what.
While Jobs cannot begin, none but a try now and then is made, and a capture that has waited for all of
\`SHUTTERFLEET_PROXIED_WAIT_SECONDS\` fails with \`JOB_FAILED\`.

## Who sizes a pool

\`spec.autoscaling.enabled\` says who does:

| \`autoscaling.enabled\` | Size | Through the scale subresource |
|---|---|---|
| \`true\` (default) | the queue, within \`minReplicas\` and \`maxReplicas\` | refused: "the queue sizes the pool" |
| \`false\` | \`spec.replicas\` | \`kubectl scale\`, a HorizontalPodAutoscaler, KEDA |

Either way workers drain before they terminate, \`scaleDown.periodSeconds\` apart. With \`false\` nothing else of \`autoscaling\` but
\`slots\` applies: stabilization, bounds and scale to zero are those of whoever writes the scale. Leave \`replicas\` out of manifests that
are applied again (Argo CD, Flux, \`kubectl apply --server-side\`): the first write through the scale subresource takes the ownership of
the field over, and an apply that still sets it is a conflict.

A HorizontalPodAutoscaler by the captures that wait, which an adapter such as prometheus-adapter serves as an external metric:

\`\`\`yaml
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: standard }
spec:
  scaleTargetRef: { apiVersion: shutterfleet.dev/v1beta1, kind: BrowserPool, name: standard }
  minReplicas: 1
  maxReplicas: 20
  metrics:
    - type: External
      external:
        metric: { name: shutterfleet_pool_captures_waiting, selector: { matchLabels: { queue: standard } } }
        target: { type: AverageValue, averageValue: "2" }
\`\`\`

KEDA by the same metric, to zero after five minutes:

\`\`\`yaml
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: standard }
spec:
  scaleTargetRef: { apiVersion: shutterfleet.dev/v1beta1, kind: BrowserPool, name: standard }
  minReplicaCount: 0
  maxReplicaCount: 20
  cooldownPeriod: 300
  triggers:
    - type: prometheus
      metadata:
        serverAddress: http://prometheus:9090
        query: max(shutterfleet_pool_captures_waiting{queue="standard"})
        threshold: "2"
\`\`\`

The first is what \`test/e2e/horizontal-autoscaler.test.ts\` gives to Kubernetes' own autoscaler, with what the controller's metrics
say; KEDA makes such an autoscaler, and writes 0 and 1 to the scale subresource itself, as \`kubectl scale\` does in tests.

Both know neither how long a worker takes to start nor how long a capture lasts, which the queue's own law does.

## How to read it

\`\`\`sh
kubectl get bp                  # ready, desired, busy, queue, wait (s) and the reason of the last decision
kubectl describe bp standard    # conditions with sentences, and events
kubectl get lease shutterfleet-controller -o yaml   # who leads
kubectl get jobs -L shutterfleet.dev/capture        # proxied captures
\`\`\`

- \`kubectl wait bp/standard --for=condition=Ready\` waits until as many workers take captures as at least are wanted:
  \`minReplicas\`, one where any is wanted, or \`replicas\` with autoscaling off.
- To hold a pool still while you look: \`kubectl patch bp standard --type=merge -p '{"spec":{"paused":true}}'\`.
- To decide the size yourself: \`autoscaling.enabled: false\`, then \`kubectl scale bp standard --replicas=5\`
  ([Who sizes a pool](#who-sizes-a-pool)).
- Two BrowserPools may serve one queue if at most one of them is sized by it; a second one that asks for that is
  \`PoolTaken\` and skipped.
- [k8s/user-roles.yaml](../k8s/user-roles.yaml) lets whoever has the ClusterRole \`view\` in a namespace see its BrowserPools, and with
  \`edit\` or \`admin\` change and scale them. [k8s/argocd-health.yaml](../k8s/argocd-health.yaml) tells Argo CD how one is.
- Metrics: [metrics.md](metrics.md), those of the controller; dashboards and alerts: [operations.md](operations.md#alerts-and-dashboards).

## What it does when things break

| What breaks | What it does |
|---|---|
| API server away or slow | Holds every size (\`workers-unknown\`); workers go on serving. Its Lease runs out; it goes on when it has it again |
| API server restarted from an older state | Reads everything anew; what it wrote before is believed for ten seconds, Jobs that it made for thirty. An own Lease of that state is waited for like another's |
| A controller frozen past its Lease, then thawed | Another has taken over; the thawed one writes nothing and competes again |
| NATS or the ledger away | Holds every size (\`backlog-unknown\`), at least \`minReplicas\`; with the ledger alone away, Jobs are made as ever |
| A pod deleted, evicted, its node gone | The ReplicaSet replaces it; the capture that it had is delivered again |
| A worker that hangs | After 10 s without a heartbeat its pod is deleted, with its grace period |
| More workers fall silent than report, while the ledger reports | Holds the size (\`missing-heartbeats\`); after 30 s one pod is deleted, and the next one only when its replacement reports: while heartbeats do not arrive, the others go on |
| Somebody edits Deployment or PodDisruptionBudget | What the controller decides is applied again |
| The BrowserPool is deleted, or the release uninstalled | Its Deployment and, in the same namespace, its Jobs go with it; workers finish what they have. Jobs in another namespace (\`SHUTTERFLEET_JOBS_NAMESPACE\`) cannot belong to it: each ends with its capture, spares after \`jobs.spareSeconds\`; \`kubectl delete jobs -n NAMESPACE -l app.kubernetes.io/instance=INSTANCE\` ends them at once |
| An older CustomResourceDefinition is installed | Fields that it does not know have their defaults |
`

/** The text of docs/operator.md: the controller on Kubernetes, and the words in which it says what it does. */
export const operatorPage = (): string => `${intro}
## Reasons of a size

In the column REASON, in \`status.reason\`, in the log, and as the label \`reason\` of \`shutterfleet_pool_decisions_total\`.

| Reason | Means |
|---|---|
${rows(reasonHelp, reasons)}

Nothing is decided about a pool that is skipped; the column REASON and \`status.reason\` say why, no metric does:

| Reason | Means |
|---|---|
${rows(asideHelp, skipReasons)}

## Conditions

${conditionTables()}
`
