import type { Mutation } from './mutation.ts'

const unit = 'test/unit/controller'
const operator = 'services/controller/operator'

const against = (test: string, file: string, changes: readonly (readonly [find: string, replace: string])[]) =>
  changes.map(([find, replace]): Mutation => ({ test, file, find, replace }))

/** Faults in the observations that a controller requires before it decides. */
const knowledge: readonly Mutation[] = [
  ...against(`${unit}/operator/scale/reconcile-deployment.test.ts`, `${operator}/scale/reconcile-deployment.ts`, [
    ['  await subscriptions.waitForSync(pool, readyPods, loop.stop)\n', ''],
    ['!hasSurplus || isRolloutStalled || !isStep', '!hasSurplus || !isStep'],
    ["decision.kind === 'drain' || decision.reason === 'stepping'", "decision.kind === 'drain'"],
  ]),
  ...against(`${unit}/reconcile/pool-subscriptions.test.ts`, 'services/controller/reconcile/pool-subscriptions.ts', [
    ["backlog() !== 'unknown' && ", ''],
    [' && pods().every((pod) => heartbeats.has(pod))', ''],
    ['now() - sinceMs >= heartbeatMsMax && ', ''],
    ['&& now() - sinceMs < syncMsMax', ''],
  ]),
  ...against(`${unit}/decide/worker-groups.test.ts`, 'services/controller/decide/worker-groups.ts', [
    ['const isMost = missing > 1 && missing > reporting', 'const isMost = false'],
    [' < suspectForMs', ' < Infinity'],
    ['if (isSubscriptionSuspect(groups) || isAwaited) return certain', 'if (isAwaited) return certain'],
  ]),
  ...against(`${unit}/decide/decide.test.ts`, 'services/controller/decide/decide.ts', [
    ["if (observation.backlog === 'unknown' && wanted.wanted <= size) {", "if (observation.backlog === 'unknown') {"],
    ['? { decision: scaleUp(next, wanted), memory: next.memory }', '? scaled(next, wanted)'],
  ]),
  ...against(`${unit}/operator/watch/informers.test.ts`, `${operator}/watch/informers.ts`, [
    [' && each.downMs() <= staleAfterMs', ''],
  ]),
]

/** Faults in the fences against writes by a non-leader and writes based on stale objects. */
const fences: readonly Mutation[] = [
  ...against(`${unit}/operator/lead.test.ts`, `${operator}/lead.ts`, [
    ['if (term.isValid() && queue.isConnected())', 'if (queue.isConnected())'],
    ['if (term.isValid() && queue.isConnected())', 'if (term.isValid())'],
  ]),
  ...against(`${unit}/operator/scale/deployment-actuator.test.ts`, `${operator}/scale/deployment-actuator.ts`, [
    ['!size.isObserved(deployment) || ', ''],
    [' || deployment.status.replicas !== all.length', ''],
    ['      if (mayDeleteServing(all, leaving)) return\n', ''],
    ['if (deployment && isSettled) await', 'if (deployment) await'],
    ["if (outcomeOf(thrown) === 'unavailable') terminating.add(of.victims)", ''],
  ]),
]

/** Faults in counting the capacity of unscheduled pods, and in the reason of their wait. */
const capacity: readonly Mutation[] = [
  ...against(`${unit}/operator/pods/pod-trouble.test.ts`, `${operator}/pods/pod-trouble.ts`, [
    ['return unscheduledMs > nodeProvisionMs ? ', 'return unscheduledMs >= 0 ? '],
    ['startingMs > startingMsMax ? ', 'startingMs >= 0 ? '],
  ]),
  ...against(`${unit}/operator/pods/pod-starts.test.ts`, `${operator}/pods/pod-starts.ts`, [
    ['hasWaited ? { provisionMs: clock.nowMs() - firstObservedMs } : { startMs: ageMs }', '{ startMs: ageMs }'],
    ['start.hasWaited ||= isWaiting', ''],
  ]),
  ...against(`${unit}/decide/worker-groups.test.ts`, 'services/controller/decide/worker-groups.ts', [
    ['...starting, ...unscheduled', '...starting'],
    ['if (isNodeLost) return silentMs > lostAfterMs', ''],
  ]),
  ...against(`${unit}/operator/pods/list-workers.test.ts`, `${operator}/pods/list-workers.ts`, [
    ['&& !surplus.has(pod)', ''],
    ["failure?.status !== 'True' || missing <= 0", "failure?.status !== 'True'"],
  ]),
]

/** Faults in the applied objects and their order. */
const applied: readonly Mutation[] = [
  ...against(`${unit}/operator/apply/children.test.ts`, `${operator}/apply/children.ts`, [
    [' || found.applied !== hashIn(fields)', ''],
    [' || last.generation !== generation', ''],
    [' || clock.nowMs() - last.atMs >= reapplyMs', ''],
    ['!isObserved || found.ownsReplicas', 'found.ownsReplicas'],
    ['      assertOwned(found, pool)\n', ''],
    ['      await handOver(deps.api, created, signal)\n', ''],
    ['      if (found.ownsReplicas) await handOver(deps.api, found, signal)\n', ''],
    ['      if (pool.spec.paused) return retries.reset()\n', ''],
  ]),
  ...against(`${unit}/operator/apply/retries.test.ts`, `${operator}/apply/retries.ts`, [
    ['failure.mustWait || ', ''],
    [' || failure.desired === desired', ''],
  ]),
  ...against(`${unit}/operator/apply/rollout-turns.test.ts`, `${operator}/apply/rollout-turns.ts`, [
    ['if (!informers.hasSynced()) return undefined', ''],
    ['isTaken || ', ''],
  ]),
  ...against(`${unit}/operator/apply/rollout.test.ts`, `${operator}/apply/rollout.ts`, [
    ["if (observedGeneration < sinceGeneration) return 'pending'", ''],
  ]),
  ...against(`${unit}/operator/jobs/kubernetes-jobs.test.ts`, `${operator}/jobs/job-creations.ts`, [
    ["if (outcome === 'unavailable') this.#unanswered.set(name, this.#deps.now())", ''],
    ['if (this.#isCreating || requests.isThrottled()) return', 'if (requests.isThrottled()) return'],
  ]),
]

/** Faults in guards, caught by the tests of test/faults. */
const worlds: readonly Mutation[] = [
  ...against('test/faults/heartbeats-lost.test.ts', 'services/controller/decide/worker-groups.ts', [
    ['const isMost = missing > 1 && missing > reporting', 'const isMost = false'],
    ['silentMs < missedMs', 'silentMs < lostAfterMs'],
    ['suspectMs < missedMs ? certain : groups.lost', 'groups.lost'],
  ]),
  ...against('test/faults/heartbeats-lost.test.ts', 'services/controller/loop/subscribe-to-pool.ts', [
    ['Math.max(fromMs, last.sinceMs)', 'fromMs'],
  ]),
  ...against('test/faults/leader-changed.test.ts', `${operator}/scale/reconcile-deployment.ts`, [
    ['  await subscriptions.waitForSync(pool, readyPods, loop.stop)\n', ''],
  ]),
  ...against('test/faults/leader-changed.test.ts', `${operator}/lead.ts`, [
    ['if (term.isValid() && queue.isConnected())', 'if (queue.isConnected())'],
  ]),
]

/** Faults of the operator, each caught by a unit test or a test of test/faults. */
export const operatorFaults: readonly Mutation[] = [...knowledge, ...fences, ...capacity, ...applied, ...worlds]
