/** Sections of docs/operator.md on who sizes a pool, and on which nodes. */
export const poolSizing = `## Who sizes a pool

\`spec.autoscaling.enabled\` decides:

| \`autoscaling.enabled\` | Size | Through the scale subresource |
|---|---|---|
| \`true\` (default) | the queue, within \`minReplicas\` and \`maxReplicas\` | rejected: "the queue sizes the pool" |
| \`false\` | \`spec.replicas\` | \`kubectl scale\`, a HorizontalPodAutoscaler, KEDA |

Let the scaler name the BrowserPool, never the Deployment of its workers: two would then write one size, and Kubernetes would end
workers that have captures. While a HorizontalPodAutoscaler, also one of KEDA's, names that Deployment, the pool is \`Degraded\` with
the reason \`SizedByAnother\`, which needs the permission to read them in [k8s/controller-role.yaml](../k8s/controller-role.yaml).

Either way workers drain before they terminate, \`scaleDown.periodSeconds\` apart. With \`false\` only \`slots\` and
\`reservedSlots\` of \`autoscaling\` apply: stabilization, bounds, schedules, prediction and scale to zero are up to the external scaler. Omit \`replicas\` from manifests
that are re-applied (Argo CD, Flux, \`kubectl apply --server-side\`): the first write through the scale subresource takes
ownership of the field, and an apply that still sets it conflicts.

Scale on \`shutterfleet_pool_captures_unfinished\`, the captures that wait or run, with the \`slots\` of a worker as the target: one
slot for each. On waiting captures alone a scaler removes the workers of running captures, and starts them again for the next
ones. A HorizontalPodAutoscaler with the metric as an external one, served by an adapter such as prometheus-adapter:

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
        metric: { name: shutterfleet_pool_captures_unfinished, selector: { matchLabels: { queue: standard } } }
        target: { type: AverageValue, averageValue: "1" }
  behavior:
    scaleUp: { policies: [{ type: Pods, value: 1000, periodSeconds: 15 }] } # by default four pods or twice as many in 15 s
\`\`\`

KEDA on the same metric, to zero after five minutes:

\`\`\`yaml
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: standard }
spec:
  scaleTargetRef: { apiVersion: shutterfleet.dev/v1beta1, kind: BrowserPool, name: standard }
  minReplicaCount: 0
  maxReplicaCount: 20
  pollingInterval: 5 # seconds until a pool without workers gets one; 30 by default
  cooldownPeriod: 300
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        scaleUp: { policies: [{ type: Pods, value: 1000, periodSeconds: 15 }] } # by default four pods or twice as many in 15 s
  triggers:
    - type: prometheus
      metadata:
        serverAddress: http://prometheus:9090
        query: max(shutterfleet_pool_captures_unfinished{queue="standard"})
        threshold: "1"
        ignoreNullValues: "false" # no controller, or none that Prometheus can scrape, is not zero captures: hold the size
\`\`\`

Let Prometheus scrape every 5 s (\`metrics.interval\` of the chart): the autoscaler looks every 15 s, and a scrape of 15 s doubles that. What
the examples cost and how long captures wait beside the built-in law: [simulations.md](simulations.md#compared-with-other-laws).

Select by \`namespace\` too if Prometheus scrapes several installations. With \`ignoreNullValues\` at its default of true, KEDA scales
to zero while no controller exports the metric, although captures wait.

\`test/e2e/horizontal-autoscaler.test.ts\` runs the first example on Kubernetes' own autoscaler with the controller's metrics.
\`make test-keda\` runs the second one, with another address and shorter periods, on KEDA 2.21.0 and Prometheus: the pool grows from
zero and returns to it, and keeps the workers of captures that run while none waits. KEDA has the rights of its own manifests there.
That it holds the size at an error is read from its source; no test has shown it.

\`shutterfleet_pool_lane_captures_unfinished\` has the same captures by lane, by the ledger's count, for scalers that let batches wait;
\`shutterfleet_pool_slots\` the slots of the present workers.

Neither accounts for worker start time or capture duration, as the built-in control law does, nor for a paused queue.

## Spot and on-demand nodes

Which nodes a pool prefers is said in its template: the scheduler and the node autoscaler follow it, and the controller replaces what they
take away. This pool runs on spot nodes while there are any, otherwise on others; two workers beside it are independent of spot nodes:

\`\`\`yaml
apiVersion: shutterfleet.dev/v1beta1
kind: BrowserPool
metadata: { name: standard }
spec:
  pool: standard
  autoscaling: { minReplicas: 1, maxReplicas: 18 }
  template:
    affinity:
      nodeAffinity:
        preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            preference: { matchExpressions: [{ key: karpenter.sh/capacity-type, operator: In, values: [spot] }] }
    tolerations: [{ key: spot, operator: Exists, effect: NoSchedule }]
    topologySpreadConstraints: # instead of the scheduler's own, which spread over all nodes as strongly as this prefers some
      - { topologyKey: topology.kubernetes.io/zone, maxSkew: 5, whenUnsatisfiable: ScheduleAnyway }
---
apiVersion: shutterfleet.dev/v1beta1
kind: BrowserPool
metadata: { name: standard-base }
spec:
  pool: standard
  replicas: 2
  autoscaling: { enabled: false }
  template:
    nodeSelector: { karpenter.sh/capacity-type: on-demand }
\`\`\`

- The pool that the queue sizes subtracts the slots of the base.
- A pod that fits nowhere waits for a node: Karpenter makes one as the pod prefers it, and any that it tolerates if there is none; the
  cluster autoscaler chooses node groups by its expander \`priority\`. Meanwhile the pool is \`unschedulable\`.
- A spot node that is reclaimed ends its pods: workers finish what they run within the notice, what is cut off is captured again by another
  worker and counts as no attempt, and the pods are replaced. [Other conditions](simulations.md#other-conditions) has what pods that live for ten
  minutes, and a lost zone, cost.
`
