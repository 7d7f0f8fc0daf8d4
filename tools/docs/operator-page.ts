import { poolSizing } from './operator-pool-sizing.ts'
import { type SkipReason, skipReasons } from '#controller/operator/pools/skip-reason.ts'
import { type Reason, reasons } from '#controller/decide/pool.ts'
import { type PoolCondition, poolConditions } from '#shared/kube/browser-pool.ts'

/** Meaning of each reason of a decision, and the remedy. */
const reasonHelp: Readonly<Record<Reason, string>> = {
  unschedulable:
    'No node has room for the missing workers: `kubectl describe pod` of a pending one shows what it lacks',
  'image-pull': 'Nodes cannot fetch the image: name, tag, `imagePullSecrets`',
  'crash-looping':
    'Workers exit before they are ready: read their log. Kubernetes restarts pods itself; Jobs are retried one at a time',
  'config-error':
    'Nodes cannot create the container, or a Job is rejected: a missing seccomp profile, an image without `node`; the message has the cause',
  'not-starting':
    'A node has not started a worker for two minutes: `kubectl describe pod` shows why. Typically the Secret of the pool is missing, the network setup fails, or the node does not support `hostUsers: false`; a slow image pull looks the same until it completes. A Job is given up after five minutes in total',
  quota:
    'A ResourceQuota of the namespace is exhausted; for `proxied`, a quota on Jobs (`count/jobs.batch`). A quota on pods, cpu or memory does not block the creation of Jobs; for them it is reported as `pods-refused`',
  'pods-refused':
    'The cluster rejects the pods: admission, a missing priority class; the message has the cause. A Job without a pod for ten seconds shows the same, also for a quota of pods, cpu or memory: `kubectl describe job` shows why',
  paused: '`spec.paused`: nothing is started, drained or replaced',
  'queue-paused': 'An operator has paused the queue (`pool pause`): nothing is started above the minimum',
  fixed: '`autoscaling.enabled` is false: `spec.replicas` sets the size',
  steady: 'The number of workers matches the load',
  load: 'The arrival rate of captures needs more workers',
  backlog: 'Captures wait longer than the objective of their lane allows',
  buffer: 'Idle workers, or spares, are kept in addition to the required ones',
  'below-minimum': 'Fewer workers than `minReplicas`',
  predicted:
    'Captures come at this time by an hourly, daily or weekly pattern, and what is known needs no more workers yet',
  scheduled: 'A schedule in force sets the minimum, and the load needs no more workers',
  'at-maximum': 'More workers are needed than `maxReplicas` (or `jobs.max`) allows',
  holding:
    'More workers than needed, kept for `scaleDown.stabilizationWindowSeconds`, up to half an hour if the difference may be chance (the last one for `cooldownSeconds`)',
  starting: 'Not scaled down while workers are starting: a ReplicaSet would remove those first',
  rollout:
    'Not scaled down during a rollout of a changed template: Kubernetes then chooses the pods to terminate, busy workers included. If the rollout hangs, `Degraded` shows why new workers do not start: fix or revert the template',
  stepping: 'Not scaled down until `scaleDown.periodSeconds` after the last step',
  excess: 'More workers than needed: some are drained, or stuck ones are removed',
  drained: 'Drained workers are removed',
  lost: 'Workers without a heartbeat for 10 s are replaced',
  'backlog-unknown': 'No report from the ledger or NATS: the size is held',
  'workers-unknown': 'The API server does not respond: the size is held',
  'missing-heartbeats':
    'Heartbeats of most workers stopped at once, which suggests a failed subscription: the size is held, and workers are replaced at most one at a time',
}

/** Meaning of each reason to skip a pool. */
const skipReasonHelp: Readonly<Record<SkipReason['code'], string>> = {
  'pool-taken': 'An older BrowserPool is sized by the same queue: this one is skipped',
  'unsupported-spec':
    "The spec contains fields unknown to this controller: another release's CustomResourceDefinition is installed. The pool is skipped",
}

/** Meaning of each reason of a condition. */
const conditionHelp: Readonly<Record<PoolCondition['reason'], string>> = {
  WorkersReady: 'The required minimum of workers takes captures: the minimum in force, one, or the fixed size',
  ScaledToZero: 'No worker is required',
  WorkersMissing: 'Fewer workers take captures than required',
  WorkersUnknown: 'The workers cannot be read',
  RollingOut:
    'Not all workers run the current template yet. After an update of the controller, pools roll out one after another',
  RolloutFailed:
    'The rollout of the template exceeded its progress deadline: see `Degraded`, fix or revert the template',
  Reconciled: 'The pool matches its spec',
  Starting: 'Workers are starting',
  WaitingForNodes:
    'No node has room for some workers yet: a node autoscaler gets `SHUTTERFLEET_NODE_PROVISION_SECONDS` to bring one',
  Draining: 'Workers finish their captures before they terminate',
  Replacing: 'Lost workers, or those of an older template, are being replaced; the pool is not scaled down meanwhile',
  Settled: 'No worker is starting or terminating',
  MetricsRead: 'Queue and workers can be read',
  BacklogUnknown: 'No report from the ledger or NATS',
  MissingHeartbeats: 'Heartbeats of most workers stopped at once',
  AutoscalingOn: 'The queue decides the size; `spec.replicas` is ignored',
  AutoscalingOff: '`spec.replicas` decides the size',
  Paused: '`spec.paused`: the size stays',
  QueuePaused: 'An operator has paused the queue (`pool pause`): nothing is started above the minimum',
  WithinBounds: 'The required size is within the bounds',
  AtMaximum: '`maxReplicas` (or `jobs.max`) is below the required size',
  QuotaExceeded: 'A ResourceQuota is exhausted',
  AsExpected: 'No action needed',
  CrashLooping: 'Workers exit before they are ready',
  Unschedulable: 'No node has room',
  ImagePull: 'The image cannot be pulled',
  ConfigError: 'Nodes cannot create the container, or a Job is rejected; the message has the cause',
  NotStarting:
    'A node has not started a worker for two minutes: a volume, the network, or a long download of the image',
  PodsRefused: 'The cluster rejects the pods',
  InvalidSchedule:
    'The API server has accepted a schedule that the controller cannot read: the message has field, value and error. The schedule has no effect, everything else does',
  SizedByAnother:
    'A HorizontalPodAutoscaler names the Deployment of the workers, not the BrowserPool: it and the controller overwrite each other, and it ends workers that have captures',
  PoolTaken: 'An older BrowserPool is sized by the same queue: this one is skipped',
  ApplyFailed:
    "The API server rejects an apply, or a CustomResourceDefinition other than this release's is installed; the message says which. Retried when the pool changes, else with back-off of up to five minutes",
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

On Kubernetes the controller is an operator: it reads [BrowserPools](browser-pool.md) and runs the workers that they specify. This
page describes its behaviour and status; the chart ([kubernetes.md](kubernetes.md)) installs it. The tables at the end are
generated from the code by \`make docs\`.

## Requirements

Kubernetes 1.33 or newer with default feature gates, and nodes with Linux 6.3, containerd 2.0 and runc 1.2 or newer (or CRI-O and
crun with user namespaces). With \`SHUTTERFLEET_POD_ISOLATION\` = \`flags-only\`, 1.29 or newer, and no node requirements. Tested
with 1.36.

| What is used | Where | On by default since |
|---|---|---|
| \`hostUsers: false\` | pods, unless \`flags-only\`: gives each a user namespace | 1.33 |
| \`procMount: Unmasked\` | pods, unless \`flags-only\`: browsers get their own /proc | 1.33 |
| \`podReplacementPolicy\` | Jobs | 1.29 |
| \`fieldPath\` of rules | the CustomResourceDefinition | 1.28 |
| \`matchLabelKeys\` | pods with \`template.topologySpreadConstraints\` | 1.27 |
| \`unhealthyPodEvictionPolicy\` | the PodDisruptionBudget | 1.27 |
| \`batch.kubernetes.io/job-name\` | pods of Jobs, by which they are found | 1.27 |
| \`podFailurePolicy\` | Jobs | 1.26 |

Nodes need the seccomp profile [k8s/seccomp/shutterfleet-worker.json](../k8s/seccomp/shutterfleet-worker.json) in
\`/var/lib/kubelet/seccomp\`; \`SHUTTERFLEET_POD_SECCOMP\` sets another file name. If it is missing, the pool is \`config-error\`
with the name of the file. The container runtime's default profile denies the namespaces that isolate browsers: with
\`SHUTTERFLEET_POD_SECCOMP=RuntimeDefault\` a worker logs the reason and exits at startup, unless
\`SHUTTERFLEET_POD_ISOLATION=flags-only\` and \`SHUTTERFLEET_POD_UNSAFE_NO_SANDBOX=true\` disable both protections, which it logs
at each start ([images](images.md#on-kubernetes)).

Where AppArmor is enabled, as on Ubuntu and Debian, the container runtime's default profile also denies the mounts by which browsers are
kept apart: nodes need [k8s/apparmor/shutterfleet-worker](../k8s/apparmor/shutterfleet-worker), and the operator
\`SHUTTERFLEET_POD_APPARMOR=shutterfleet-worker\`. If it is not set, workers exit at startup and the pool is
\`crash-looping\` with the name of the setting; if the node has not loaded the profile, the pool is \`config-error\` with the node and the
profile. A node without AppArmor refuses pods with a profile: set it only where all nodes of the workers have AppArmor
([platforms](platforms.md)).

An API server without support for \`hostUsers\` or \`procMount\` drops them silently, and workers cannot start their browsers; a
node without support does not start the workers (\`not-starting\`). A namespace with Pod Security Admission must allow
\`procMount: Unmasked\`; otherwise the reason is \`pods-refused\`.

## What it creates

| For a BrowserPool of pool | It manages |
|---|---|
| \`standard\`, \`stealth\` | a Deployment of workers and a PodDisruptionBudget (20 %), both owned by the BrowserPool and named \`shutterfleet-NAME\` |
| \`proxied\` | Jobs, each of which serves one capture through its caller's proxy and exits |

Everything is in the namespace of the BrowserPools (\`SHUTTERFLEET_POOLS_NAMESPACE\`), Jobs in \`SHUTTERFLEET_JOBS_NAMESPACE\`, so
that a ResourceQuota and a network policy can apply to them alone. The controller has a Role, no ClusterRole:
[k8s/controller-role.yaml](../k8s/controller-role.yaml). It lists exactly the verbs that the code uses; tests compare it with the
API server's audit log.

### Several installations in one cluster

Each needs a separate namespace for its BrowserPools: a second one in the same namespace stays standby behind the Lease of the
first. They may share the CustomResourceDefinition, and a namespace for Jobs; then each needs a unique name,
\`SHUTTERFLEET_INSTANCE\` (\`shutterfleet\`), and a separate \`SHUTTERFLEET_POD_SECRET\`. The name is the label
\`app.kubernetes.io/instance\` of all objects of an installation, which it selects by:
\`kubectl get deployments,pdb,jobs,pods -l app.kubernetes.io/instance=shutterfleet\`.

A Deployment selects its pods by \`app.kubernetes.io/instance\` and \`shutterfleet.dev/pool\`, which is immutable. After
a change of the name the pool is \`ApplyFailed\`: restore the name, or run
\`kubectl delete deployment shutterfleet-POOL --cascade=orphan\`, wait for the new workers, and delete the old ReplicaSet.

### Pods

| What | Value | Why |
|---|---|---|
| requests | cpu 500m for each slot; memory 300 MiB and 400 MiB for each slot; disk 128 MiB and 128 MiB for each slot | memory of a worker with one slot after many captures of one account ([benchmarks.md](benchmarks.md), "One worker over many captures"; of several: a spare browser host for each slot on top), full Chromium takes 255 MiB more ([ADR 27](adr/0027-serve-stealth-with-full-chromium.md)); CPU of two small pages a second ([benchmarks.md](benchmarks.md), "The engine beside a bare loop"), full Chromium takes about three times that; disk is for the log, of which a kubelet keeps 50 MiB, and with \`flags-only\` the profile of each browser |
| limits | memory 512 MiB and 3 GiB for each slot; disk 256 MiB and 1 GiB for each slot; no CPU limit | the worker's own bounds: 2 GiB for each browser (\`SHUTTERFLEET_WORKER_BROWSER_MEMORY_MAX\`) and 1 GiB of its files, in memory, or with \`flags-only\` on disk |
| \`emptyDir\` | /tmp of 1 GiB, /dev/shm of 256 MiB (memory), for each slot | everything else is read-only |
| \`cluster-autoscaler.kubernetes.io/safe-to-evict\` | \`true\`, of Jobs \`false\` | a node with workers may be drained although they have \`emptyDir\` volumes |
| \`karpenter.sh/do-not-disrupt\` | \`true\` of Jobs | the capture of a Job would restart; the Job ends soon by itself |
| startup probe | \`/livez\`, 600 tries, one a second | a slow node gets ten minutes before liveness counts |
| \`args\` | \`node services/worker/main.js\`, of Jobs \`main-job.js\` | the image's entry point, an init, reaps orphaned browser processes: a custom image needs one too |

\`template.resources\` replaces all requests and limits, \`template.annotations\` single annotations.

### What RBAC cannot express

The Role cannot restrict the content of Deployments, Jobs and pods: a compromised controller could run any program with any Secret
of the namespace. [k8s/admission-policy.yaml](../k8s/admission-policy.yaml) is a ValidatingAdmissionPolicy (Kubernetes 1.30) that
states what a worker is: program, probes, variables, volumes by source, mounts, security contexts and labels as the controller makes them of its
settings, and no other field. What remains free places the pods or sizes them; \`test/e2e/admission-policy-mutations.test.ts\` lists
it with reasons, and tries every other change. Each installation has a copy, with its own values of:

| Where | Field | What |
|---|---|---|
| both | \`metadata.name\`, \`spec.policyName\` | a name for each installation |
| binding | \`matchResources.namespaceSelector\` | the namespaces of BrowserPools and Jobs |
| policy | variable \`controller\` | user of the controller, \`system:serviceaccount:NAMESPACE:NAME\` |
| policy | variable \`instance\` | \`SHUTTERFLEET_INSTANCE\` |
| policy | variable \`images\` | images that may run: \`SHUTTERFLEET_POD_IMAGE\`, those of templates and of injected containers |
| policy | variable \`repositories\` | repositories of which any tag and digest may run |
| policy | variable \`secrets\` | Secrets that may be pulled with, or mounted by injected containers |
| policy | variable \`settings\` | \`SHUTTERFLEET_POD_SECRET\`, \`_EGRESS\`, \`_EGRESS_CA\`, \`_EXTRA_CA\`, \`_NATS_FILES\`, \`_SECCOMP\`, \`_APPARMOR\`, \`_SECURITY_CONTEXT\` (three texts), \`_ISOLATION\`, \`_UNSAFE_NO_SANDBOX\`: those in force, and those before until all pods are replaced |
| policy | variables \`sidecars\`, \`configMaps\`, \`runtimeClasses\` | what templates of BrowserPools have: sidecars, in the form that the file describes; names of the ConfigMaps in volumes; runtime classes |
| policy | variables \`podLabels\`, \`podAnnotations\` | \`SHUTTERFLEET_POD_LABELS\`, \`_ANNOTATIONS\`, as \`NAME=VALUE\` |
| policy | variable \`allPods\` | \`false\`: checks pods with this installation's labels and all writes of the controller; \`true\`: every pod, for namespaces with workers only |

If Pod Security of a namespace is \`privileged\`, to allow the unmasked \`/proc\`, set \`allPods\`.

### Secrets

Workers get NATS address and keys from a Secret for each pool (\`SHUTTERFLEET_POD_SECRET\`-\`standard\`, …, with the keys
\`nats-url\`, \`opening-keys\` and \`egress-token\`, one of the egress tokens, and with \`SHUTTERFLEET_POD_EXTRA_CA\` the key
\`ca.crt\`, CA certificates of NATS or the object store, and with \`SHUTTERFLEET_POD_EGRESS_CA=secret\` the key \`egress-ca.crt\`, certificates
of egress, and those by which workers identify themselves to NATS, which \`SHUTTERFLEET_POD_NATS_FILES\` names), mounted as files. The Secret of \`proxied\`, and the pull secrets of its
template, belong into the namespace of the Jobs. Browsers see the folder of those files as empty, unless
\`SHUTTERFLEET_POD_ISOLATION\` is \`flags-only\`. No Kubernetes object contains a caller's credentials: captures arrive encrypted
over NATS.

## The loops

\`\`\`
                       ┌ once a second, and at once when something happens ┐
 ledger: backlog ─┐    │                                                   │
 JetStream: depth ├─▶ observe ─▶ decide ─▶ act ─▶ drain (NATS), /scale, Jobs
 heartbeats ──────┤       │
 pods, Jobs ──────┘       └▶ status, conditions, events, metrics, pool.proxied.state
\`\`\`

- **Children**: when a BrowserPool, its Deployment or its PodDisruptionBudget changes: the Deployment is applied server-side,
  except its size. Changes by others to managed fields are reverted; fields added by others stay. Changes by a new release or new
  settings of the controller are rolled out pool by pool; a rollout that exceeds its deadline does not block the next one.
- **Size**: one loop for each pool. A read that fails is *unknown*, never zero, and freezes the size.
- **Jobs**: one loop for the pool \`proxied\`.
- **Leader**: any number of controllers may run. One holds the Lease \`shutterfleet-controller\` and acts; the others keep the
  same watches and subscriptions, so a new leader has current state at once. Each write is checked against the leader's term right
  before it is sent: a process that was frozen and resumes after its term writes nothing.

## How queue depth becomes a size

[How a pool is sized](autoscaling.md) explains the law, its formulae and how to tune it. In short:

1. **Load**: by lane, what the arrivals keep busy, and as many slots more as let 99 % of captures begin well within the lane's objective.
2. **Backlog**: what waits must begin within the objective, or as soon as a new worker can start it. While a capture has waited for
   half of it, no worker is removed.
3. The larger of both, plus \`buffer\`, within \`minReplicas\`, the minimum of a [schedule](autoscaling.md#schedules) in force or what a
   [prediction](autoscaling.md#prediction) requires, and \`maxReplicas\`.
4. **Up** immediately, from zero directly to the size that the backlog needs. **Down** when the load has required less for
   \`stabilizationWindowSeconds\`: one worker, or a quarter of them, every \`scaleDown.periodSeconds\`.
5. **Drain, then scale** ([ADR 11](adr/0011-scale-a-deployment-after-draining.md)): a worker gets a drain request, finishes its
   captures and reports \`drained\`; only then is its pod marked and the Deployment reduced by exactly the marked pods. If load
   rises first, the worker resumes.

The kubelet restarts a worker that has not responded on \`/livez\` for 10 s. Give the controller, and services that you deploy
yourself, half a minute, since restarts on busy nodes only add to what waits for a processor: \`httpGet\` of \`/livez\` on the probe port,
\`periodSeconds: 5\`, \`timeoutSeconds: 5\`, \`failureThreshold: 6\`.

Pods that cannot start (no room, no image, no Secret, crash loop, quota) do not count as capacity, do not cause more pods of the
same kind, and show as condition, event and metric.

For \`proxied\`: unfinished Jobs = waiting captures + Jobs that have claimed one + \`spares\`, at most \`jobs.max\`
([ADR 12](adr/0012-give-each-proxied-capture-a-job.md)). \`kubectl get jobs -L shutterfleet.dev/capture\` shows the capture of
each Job. While Jobs cannot start, only an occasional probe Job is created, and a capture that has waited for
\`SHUTTERFLEET_PROXIED_WAIT_SECONDS\` fails with \`JOB_FAILED\`.

${poolSizing}
## Inspecting

\`\`\`sh
kubectl get bp                  # ready, desired, busy, queue, wait (s) and the reason of the last decision
kubectl describe bp standard    # conditions with sentences, and events
kubectl get lease shutterfleet-controller -o yaml   # who leads
kubectl get jobs -L shutterfleet.dev/capture        # proxied captures
\`\`\`

- \`kubectl wait bp/standard --for=condition=Ready\` waits until the least required number of workers takes captures:
  \`minReplicas\` or that of a schedule in force, one if any is required, or \`replicas\` with autoscaling off.
- To freeze a pool during an investigation: \`kubectl patch bp standard --type=merge -p '{"spec":{"paused":true}}'\`.
- To set the size manually, in one change, since \`replicas\` is 1 until set:
  \`kubectl patch bp standard --type=merge -p '{"spec":{"replicas":5,"autoscaling":{"enabled":false}}}'\`; later by \`kubectl scale bp standard --replicas=6\`
  ([Who sizes a pool](#who-sizes-a-pool)).
- Two BrowserPools may serve one queue if the queue sizes at most one of them; a second such pool is \`PoolTaken\` and skipped.
- [k8s/user-roles.yaml](../k8s/user-roles.yaml) lets users with the ClusterRole \`view\` in a namespace read its BrowserPools, and
  with \`edit\` or \`admin\` change and scale them. [k8s/argocd-health.yaml](../k8s/argocd-health.yaml) is a health check for Argo
  CD.
- Metrics of the controller: [metrics.md](metrics.md); dashboards and alerts:
  [monitoring.md](monitoring.md#alerts-and-dashboards).

## Behaviour on failures

| Failure | Behaviour |
|---|---|
| API server unreachable or slow | Holds every size (\`workers-unknown\`); workers keep serving. Its Lease expires; it resumes once it holds the Lease again |
| API server restarted from an older state | Reads everything again; trusts its own previous writes for ten seconds, Jobs that it created for thirty. Waits for its own Lease of that state to expire, like for another's |
| The leading controller or its node is killed | Sizes are held, and no Job is created, for at most 12 s: up to 9 s until another holds the Lease (\`SHUTTERFLEET_CONTROLLER_LEASE_SECONDS\`, 6 s, and half as much again), then 2.5 s in which that one listens for heartbeats. In order, as in a rollout, it takes less than 5 s |
| A controller frozen past its Lease, then resumed | Another has taken over; the resumed one writes nothing and competes again |
| NATS or the ledger unreachable | Holds every size (\`backlog-unknown\`), at least \`minReplicas\`; if only the ledger is unreachable, Jobs are still created |
| A pod deleted, evicted, its node gone | The ReplicaSet replaces it; its capture is redelivered |
| A browser that starts slowly | The worker starts it again, with 30, 60, 120 and then 240 s of time, and keeps reporting meanwhile; after a quarter of an hour without one its container is restarted |
| A worker that hangs | After 10 s without a heartbeat its pod is deleted, with its grace period |
| Fewer workers report than are missing, while the ledger reports | Holds the size (\`missing-heartbeats\`); after 30 s one pod is deleted, and the next one only when its replacement reports, so the others keep serving while heartbeats are lost |
| Manual edits of Deployment or PodDisruptionBudget | Reverted in the fields that the controller manages |
| The BrowserPool is deleted, or the release uninstalled | Its Deployment and, in the same namespace, its Jobs are deleted with it; workers finish their captures. Jobs in another namespace (\`SHUTTERFLEET_JOBS_NAMESPACE\`) cannot be owned by it: each ends with its capture, spares after \`jobs.spareSeconds\`; \`kubectl delete jobs -n NAMESPACE -l app.kubernetes.io/instance=INSTANCE\` ends them at once |
| An older CustomResourceDefinition is installed | Fields missing from it have their defaults; fields that this release does not know are dropped; a pool with a setting, label or annotation that this release does not allow is skipped, and says so in its conditions |
`

/** The text of docs/operator.md: the controller on Kubernetes, and the reasons that it reports. */
export const operatorPage = (): string => `${intro}
## Reasons of a size

In the column REASON, in \`status.reason\`, in the log, and as the label \`reason\` of \`shutterfleet_pool_decisions_total\`.

| Reason | Means |
|---|---|
${rows(reasonHelp, reasons)}

The size of a skipped pool is not decided; the column REASON and \`status.reason\` show why, but no metric does:

| Reason | Means |
|---|---|
${rows(skipReasonHelp, skipReasons)}

## Conditions

${conditionTables()}
`
