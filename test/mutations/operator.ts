import { against, type Mutation } from './mutation.ts'

const unit = 'test/unit/controller'
const operator = 'services/controller/operator'

/** Faults in the observations that a controller requires before it decides. */
const knowledge: readonly Mutation[] = [
  ...against(`${unit}/operator/scale/reconcile-deployment.test.ts`, `${operator}/scale/reconcile-deployment.ts`, [
    { at: 'reconcileDeployment', drop: '$subscriptions.waitForSync($$args)' },
    { at: 'holdDuringRollout', replace: '!$hasSurplus || $isStalled || !$isStep', by: '!$hasSurplus || !$isStep' },
    { at: 'holdDuringRollout', drop: "$decision.reason === 'stepping'" },
  ]),
  ...against(`${unit}/reconcile/pool-subscriptions.test.ts`, 'services/controller/reconcile/pool-subscriptions.ts', [
    { at: 'waitForSync', drop: "backlog() !== 'unknown'" },
    { at: 'waitForSync', drop: '$pods.every($hasHeartbeat)' },
    { at: 'waitForSync', drop: 'now() - $sinceMs >= heartbeatMsMax' },
    { at: 'waitForSync', drop: 'now() - $sinceMs < syncMsMax' },
  ]),
  ...against(`${unit}/decide/worker-groups.test.ts`, 'services/controller/decide/worker-groups.ts', [
    { at: 'isSubscriptionSuspect', replace: '$missing > 1 && $missing > $reporting', by: 'false' },
    { at: 'isSubscriptionSuspect', replace: '$silentMs < suspectForMs', by: '$silentMs < Infinity' },
    { at: 'replaceableOf', drop: 'isSubscriptionSuspect($groups)' },
  ]),
  ...against(`${unit}/decide/predicted-workers.test.ts`, 'services/controller/decide/predicted-workers.ts', [
    { at: 'followPrediction', replace: 'absence.share * $sum', by: '$sum' },
    { at: 'predictedWorkers', replace: '$lastMs + absence.forMs', by: 'Number.POSITIVE_INFINITY' },
    { at: 'predictedWorkers', drop: 'earlyMs' },
    { at: 'predictedWorkers', replace: '$slots - otherPools.slots', by: '$slots' },
    { at: 'predictedWorkers', replace: '$counted - backlog.atMs', by: '$counted - nowMs' },
  ]),
  ...against(`${unit}/decide/decide.test.ts`, 'services/controller/decide/decide.ts', [
    {
      at: 'decideByQueue',
      replace: "$observation.backlog === 'unknown' && $isEnough",
      by: "$observation.backlog === 'unknown'",
    },
    {
      at: 'decideByQueue',
      replace: "observation.backlog === 'unknown' ? scaleUp($next, $target) : scale($next, $target)",
      by: 'scale($next, $target)',
    },
  ]),
  ...against(`${unit}/operator/watch/informers.test.ts`, `${operator}/watch/informers.ts`, [
    { at: 'openInformers > assertFresh', drop: '$informer.downMs() <= $staleMs' },
  ]),
]

/** Faults in the fences against writes by a non-leader and writes based on stale objects. */
const fences: readonly Mutation[] = [
  ...against(`${unit}/operator/lead.test.ts`, `${operator}/lead.ts`, [
    { at: 'fencedQueue > publish', drop: '$term.isValid()' },
    { at: 'fencedQueue > publish', drop: '$queue.isConnected()' },
  ]),
  ...against(`${unit}/operator/scale/deployment-actuator.test.ts`, `${operator}/scale/deployment-actuator.ts`, [
    { at: 'createDeploymentActuator', drop: '!$size.isObserved($deployment)' },
    { at: 'createDeploymentActuator', drop: '$deployment.status.replicas !== $pods.length' },
    { at: 'createDeploymentActuator', drop: 'if (mayDeleteServing($$args)) return' },
    {
      at: 'createDeploymentActuator > stop',
      replace: 'if ($deployment && $isSettled) $remove',
      by: 'if ($deployment) $remove',
    },
    { at: 'scaleDown', drop: "if (outcomeOf($error) === 'unavailable') $markTerminating" },
  ]),
]

/** Faults in counting the capacity of unscheduled pods, and in the reason of their wait. */
const capacity: readonly Mutation[] = [
  ...against(`${unit}/operator/pods/pod-trouble.test.ts`, `${operator}/pods/pod-trouble.ts`, [
    { at: 'troubleOf', replace: '$unscheduledMs > nodeProvisionMs', by: '$unscheduledMs >= 0' },
    { at: 'troubleOf', replace: '$startingMs > startingMsMax', by: '$startingMs >= 0' },
  ]),
  ...against(`${unit}/operator/pods/pod-starts.test.ts`, `${operator}/pods/pod-starts.ts`, [
    {
      at: 'createPodStarts',
      replace: '$hasWaited ? { provisionMs: $waitedMs } : { startMs: $ageMs }',
      by: '{ startMs: $ageMs }',
    },
    { at: 'updateWaits', drop: '$start.hasWaited ||= $isWaiting' },
  ]),
  ...against(`${unit}/decide/worker-groups.test.ts`, 'services/controller/decide/worker-groups.ts', [
    {
      at: 'classifyWorkers',
      replace: '$failures > 0 ? [] : [...$starting, ...$unscheduled]',
      by: '$failures > 0 ? [] : [...$starting]',
    },
    { at: 'classifyWorkers', drop: 'if ($isNodeLost) return $silentMs > lostAfterMs' },
  ]),
  ...against(`${unit}/operator/pods/list-workers.test.ts`, `${operator}/pods/list-workers.ts`, [
    { at: 'listWorkers', drop: '!$surplus.has($pod)' },
    { at: 'refusedOf', drop: '$missing <= 0' },
  ]),
]

/** Faults in the applied objects and their order. */
const applied: readonly Mutation[] = [
  ...against(`${unit}/operator/apply/children.test.ts`, `${operator}/apply/children.ts`, [
    { at: 'createChild > hasDrift', drop: '$found.applied !== hashIn($fields)' },
    { at: 'createChild > hasDrift', drop: '$last.generation !== $generation' },
    { at: 'createChild > hasDrift', drop: '$clock.nowMs() - $last.atMs >= reapplyMs' },
    { at: 'createChild > hasDrift', drop: '!$isObserved' },
    { at: 'createChild > hasDrift', drop: 'assertOwned($$args)' },
    {
      at: 'createChildren',
      replace: 'if (!$found) { $replicas; $spec; $create; $created; await handOver($$args); $$apply } else $update',
      by: 'if (!$found) { $replicas; $spec; $create; $created; $$apply } else $update',
    },
    { at: 'createChildren', drop: 'if ($found.ownsReplicas) await handOver($$args)' },
    { at: 'createChildren > reconcile', drop: 'if ($pool.spec.paused) return retries.reset()' },
  ]),
  ...against(`${unit}/operator/apply/retries.test.ts`, `${operator}/apply/retries.ts`, [
    { at: 'createRetries > run', drop: '$failure.mustWait' },
    { at: 'createRetries > run', drop: '$failure.desired === $desired' },
  ]),
  ...against(`${unit}/operator/apply/rollout-turns.test.ts`, `${operator}/apply/rollout-turns.ts`, [
    { at: 'createRolloutTurns > take', drop: 'if (!$informers.hasSynced()) return undefined' },
    {
      at: 'createRolloutTurns > take',
      replace: '$isTaken || $rolling.some($isRecent)',
      by: '$rolling.some($isRecent)',
    },
  ]),
  ...against(`${unit}/operator/apply/rollout.test.ts`, `${operator}/apply/rollout.ts`, [
    { at: 'rolloutOf', drop: "if ($generation < $since) return 'pending'" },
  ]),
  ...against(`${unit}/operator/jobs/kubernetes-jobs.test.ts`, `${operator}/jobs/job-creations.ts`, [
    { at: 'JobCreations > #createOne', replace: "if ($outcome === 'unavailable') $remember; else $keep", by: '$keep' },
    { at: 'JobCreations > create', drop: 'this.#isCreating' },
  ]),
]

/** Faults in guards, caught by the tests of test/faults. */
const worlds: readonly Mutation[] = [
  ...against('test/faults/heartbeats-lost.test.ts', 'services/controller/decide/worker-groups.ts', [
    { at: 'isSubscriptionSuspect', replace: '$missing > 1 && $missing > $reporting', by: 'false' },
    { at: 'reportsOf', replace: '$silentMs < missedMs', by: '$silentMs < lostAfterMs' },
    { at: 'replaceableOf', replace: '$suspectMs < missedMs ? $certain : $lost', by: '$lost' },
  ]),
  ...against('test/faults/heartbeats-lost.test.ts', 'services/controller/loop/subscribe-to-pool.ts', [
    { at: 'followBacklog > listeningMs', replace: 'Math.max($fromMs, $last.sinceMs)', by: '$fromMs' },
  ]),
  ...against('test/faults/leader-changed.test.ts', `${operator}/scale/reconcile-deployment.ts`, [
    { at: 'reconcileDeployment', drop: '$subscriptions.waitForSync($$args)' },
  ]),
  ...against('test/faults/leader-changed.test.ts', `${operator}/lead.ts`, [
    { at: 'fencedQueue > publish', drop: '$term.isValid()' },
  ]),
]

/** Faults of certificates that would fail captures when one is replaced, or let a stranger be egress. */
const certificates: readonly Mutation[] = [
  ...against('test/unit/cli/cluster/egress-certificates.test.ts', 'services/cli/cluster/egress-certificates.ts', [
    { at: 'renewCertificates', replace: 'Math.min(renewMs, ageMs($next.certificate, $nowMs))', by: 'renewMs' },
    {
      at: 'renewCertificates',
      replace: '[$next.certificate, $current.certificate, ...$unexpired]',
      by: '[$next.certificate, $current.certificate]',
    },
    {
      at: 'renewCertificates',
      replace: '[$next.certificate, $current.certificate, ...$unexpired]',
      by: '[$current.certificate, ...$unexpired]',
    },
    { at: 'renewCertificates', replace: '$leftMs < Math.min(renewMs, ageMs($next.certificate, $nowMs))', by: 'false' },
    { at: 'renewCertificates', drop: 'isFor($certificate, $hosts)' },
  ]),
  ...against('test/unit/shared/net/egress-trust.test.ts', 'services/shared/net/egress-trust.ts', [
    { at: 'openEgressTrust', drop: '...($session && { session: $session })' },
    { at: 'openEgressTrust', drop: '$session = undefined' },
    {
      at: 'openEgressTrust',
      replace: '...($used && { secureContext: $used })',
      by: 'rejectUnauthorized: false',
    },
  ]),
  ...against('test/unit/shared/config/watch-files.test.ts', 'services/shared/config/watch-files.ts', [
    { at: 'watchFiles', drop: '$isFailing = false' },
    { at: 'watchFiles', drop: '$isFailing = true' },
  ]),
]

/** Faults of the operator, each caught by a unit test or a test of test/faults. */
export const operatorFaults: readonly Mutation[] = [
  ...knowledge,
  ...fences,
  ...capacity,
  ...applied,
  ...worlds,
  ...certificates,
]
