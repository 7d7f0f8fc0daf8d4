import { against, type Mutation } from './mutation.ts'

const laws = 'test/bench/autoscaler/laws'
const [hpa, keda, knative] = ['hpa', 'keda', 'knative'].map((name) => `test/lab/bench-autoscaler-${name}.test.ts`) as [
  string,
  string,
  string,
]

/** Faults in the autoscaler of Kubernetes that the benchmark simulates. */
const kubernetes: readonly Mutation[] = [
  ...against(hpa, `${laws}/hpa.ts`, [
    { at: 'externalReplicas', replace: '$isWithin ? $pods : $other', by: '$other' },
    { at: 'hpaDefaults', replace: 'up: 0.1', by: 'up: 0' },
    { at: 'hpaDefaults', replace: 'down: 0.1', by: 'down: 0.5' },
    { at: 'stabilizeDown', replace: '$isOld ? [] : size', by: '[]' },
    { at: 'limitDoubling', replace: 'Math.max(2 * $current, 4)', by: '2 * $current' },
    { at: 'Hpa > evaluate', drop: 'if ($current === 0) return 0' },
    { at: 'Hpa > evaluate', drop: 'if (this.#recommendations.length === 0) $recommendations = $initial' },
    { at: 'createHpa', drop: 'sight.starting' },
  ]),
  ...against(hpa, `${laws}/hpa-behavior.ts`, [
    { at: 'changeWithin', replace: '$isRecent ? $change : 0', by: '$change' },
    { at: 'stabilize', replace: '$isRecent ? size : []', by: '[]' },
    { at: 'stabilize', replace: '$isRecent ? size : []', by: 'size' },
    { at: 'limitRate', replace: 'Math.max($current, scaleUpLimit($$args))', by: 'scaleUpLimit($$args)' },
    { at: 'limitRate', replace: 'Math.min($current, scaleDownLimit($$args))', by: 'scaleDownLimit($$args)' },
    { at: 'scaleUpLimit', replace: "rules.select === 'Min' ? $least : $most", by: '$most' },
    { at: 'scaleDownLimit', replace: "rules.select === 'Min' ? $most : $least", by: '$least' },
    { at: 'store', replace: '$index === -1 ? $longer : $replaced', by: '$longer' },
  ]),
  ...against(hpa, `${laws}/schedule.ts`, [
    { at: 'unfinished', drop: 'running' },
    { at: 'scraped', replace: 'isDue($$args)', by: 'true' },
  ]),
]

/** Faults in KEDA's ScaledObject and ScaledJob. */
const kedaFaults: readonly Mutation[] = [
  ...against(keda, `${laws}/schedule.ts`, [
    { at: 'unfinished', drop: 'running' },
    { at: 'createSchedule', drop: 'offsetMs' },
  ]),
  ...against(keda, `${laws}/keda.ts`, [
    { at: 'requestScale', drop: 'min === 0' },
    { at: 'requestScale', replace: 'Math.max($min, 1)', by: '1' },
    { at: 'requestScale', replace: 'sinceActiveMs > cooldownMs', by: 'true' },
    { at: 'createKeda', replace: '$usage > $activation', by: '$usage > 0' },
    { at: 'createKeda', replace: 'Math.max($min, 1)', by: '$min' },
    { at: 'createKeda', drop: 'if ($isActive) activeMs = $nowMs' },
  ]),
  ...against(keda, `${laws}/keda-jobs.ts`, [
    { at: 'effectiveScale', replace: '{ most: $most - $running, $wanted }', by: '{ most: $most, $wanted }' },
    { at: 'effectiveScale', drop: '$strategy.deduction' },
    { at: 'effectiveScale', replace: 'most - pending', by: 'most' },
    { at: 'effectiveScale', replace: 'max - running - pending', by: 'max - running' },
    { at: 'decideJobs', drop: 'if ($missing > 0) return $created' },
    { at: 'decideJobs', replace: '$jobs.running - $min', by: '$jobs.running' },
    { at: 'kedaJobs', replace: '$isAccurate ? waitingOnly : unfinished', by: 'unfinished' },
  ]),
]

/** Faults in Knative's autoscaler. */
const knativeFaults: readonly Mutation[] = [
  ...against(knative, `${laws}/knative-kpa.ts`, [
    { at: 'scale', replace: 'Math.max(this.#maxPanicPods, $$sizes)', by: 'Math.max($$sizes)' },
    { at: 'scale', replace: 'Math.max(1, load.ready)', by: 'load.ready' },
    { at: 'scale', drop: 'if (this.#delay) $size = $delayed' },
    { at: '#panic', replace: '$ratio >= $panicThreshold', by: '$ratio > $panicThreshold' },
    { at: '#panic', drop: '$panicMs + $stableWindowMs < $nowMs' },
    { at: 'constructor', replace: '$ready > 1 ? $nowMs : undefined', by: 'undefined' },
  ]),
  ...against(knative, `${laws}/knative-window.ts`, [
    { at: 'average', replace: '$bucket > $oldest', by: 'true' },
    { at: 'average', replace: 'this.#buckets - silent', by: 'this.#buckets' },
    { at: 'AverageWindow > record', drop: 'if ($newerMs <= $oldest) return' },
    { at: 'AverageWindow > record', drop: 'if ($newerMs >= $windowMs) this.#sums.clear()' },
    { at: 'GreatestWindow > record', replace: 'this.#values.filter($recent)', by: 'this.#values' },
  ]),
  ...against(knative, `${laws}/knative-zero.ts`, [
    { at: 'stepToZero', replace: '$forMs >= stableWindowMs', by: 'true' },
    { at: 'stepToZero', drop: 'forMs >= graceMs' },
    { at: 'stepToZero', drop: 'proxiedMs >= graceMs' },
    { at: 'stepToZero', drop: "if ($phase === 'activating') return $held" },
    { at: 'ScaleToZero > #step', drop: 'if (!$desired) return $held' },
  ]),
  ...against(knative, `${laws}/knative.ts`, [
    { at: 'createKnative', drop: 'if ($isPoke) $collector.report($nowMs)' },
    { at: 'Collector > observe', replace: '$sight.ready > 0 || $concurrency > 0', by: 'true' },
    { at: 'Collector > observe', drop: 'this.#reported' },
  ]),
]

/** Faults in the laws that the built-in control law is compared with. */
export const autoscalerFaults: readonly Mutation[] = [...kubernetes, ...kedaFaults, ...knativeFaults]
