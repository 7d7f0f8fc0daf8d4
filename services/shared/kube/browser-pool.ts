import { type Static, Type } from 'typebox'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { pools } from '#shared/capture/lane.ts'
import { podTemplate } from './browser-pool-template.ts'
import { bulkWaitMs, lowerQueueWait, normalWaitMs, queueWait } from '#shared/policy/lane-objectives.ts'
import { enumSchema, text } from '#shared/schema/fields.ts'
import { apiGroup } from './names.ts'
import type { Resource } from './resource.ts'
import { poolEstimate } from './pool-estimate.ts'
import { count, countOrPercent, group, int32, listMap, partial, withRules } from './schema-parts.ts'

/** The resource BrowserPool. */
export const browserPools = {
  apiVersion: `${apiGroup}/v1beta1`,
  kind: 'BrowserPool',
  plural: 'browserpools',
} as const satisfies Resource

/** Most workers of a pool. */
export const workersMax = 1000
const longestBudgetSeconds = attemptBudgetMs({ timeout: 60, delay: 10 }) / 1000

const maxReplicasDefault = 4
/** Most slots of a worker. */
export const slotsMax = 16

const schedulesMax = 16

/** A field of a cron expression: values, ranges and steps, in a list. */
const cronField = (value: string): string => {
  const step = '(/[1-9][0-9]?)?'
  const part = `([*]${step}|${value}(-${value}${step})?)`
  return `${part}(,${part})*`
}
const cronPattern = `(?i)^${[
  '[0-5]?[0-9]',
  '([01]?[0-9]|2[0-3])',
  '(0?[1-9]|[12][0-9]|3[01])',
  '(0?[1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)',
  '([0-7]|sun|mon|tue|wed|thu|fri|sat)',
]
  .map((value) => cronField(value))
  .join(' ')}$`

// Rules, not patterns, because the controller skips a pool whose spec does not match the schema.
const cron = (field: 'start' | 'end', description: string) =>
  text(description, {
    maxLength: 100,
    ...withRules({
      rule: `self.matches('${cronPattern}')`,
      message: `${field} must be a cron expression of five fields, minute, hour, day, month and weekday, such as 0 8 * * 1-5`,
    }),
  })

const schedule = Type.Object({
  start: cron('start', 'When it comes into force: a cron expression of five fields, such as `0 8 * * 1-5`.'),
  end: cron('end', 'When it ends, in the same form.'),
  timeZone: text('IANA time zone of both, such as `Europe/Berlin`.', {
    maxLength: 64,
    default: 'UTC',
    ...withRules({
      // The API server rejects what it cannot evaluate, such as an unknown zone.
      rule: "self.matches('^[A-Za-z]') && timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0",
      message: 'timeZone must be an IANA time zone such as Europe/Berlin',
    }),
  }),
  minReplicas: int32('Fewest workers while it is in force; no effect below `autoscaling.minReplicas`.', {
    minimum: 1,
    maximum: workersMax,
  }),
})

const autoscaling = group(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        'What sizes the pool: the queue, or with false `spec.replicas`, which `kubectl scale`, a HorizontalPodAutoscaler and KEDA write.',
    }),
    minReplicas: int32('Fewest workers. 0 needs `cooldownSeconds`.', { minimum: 0, maximum: workersMax, default: 1 }),
    maxReplicas: int32('Most workers.', { minimum: 1, maximum: workersMax, default: maxReplicasDefault }),
    slots: int32(
      'Captures that one worker serves at a time. More than its number of cores gains nothing. A change replaces the workers.',
      { minimum: 1, maximum: slotsMax, default: 1 },
    ),
    buffer: int32('Idle workers kept on top of what is needed, for bursts.', { minimum: 0, maximum: 100, default: 0 }),
    reservedSlots: int32(
      'Slots of each worker that never serve a capture of a batch, so that a batch of slow pages leaves them to other captures. ' +
        'Fewer than `slots`. A change replaces the workers.',
      { minimum: 0, maximum: slotsMax - 1, default: 0 },
    ),
    queueWaitMs: int32(
      'Milliseconds that a synchronous capture should wait at most; more workers are started to meet it.',
      queueWait,
    ),
    normalQueueWaitMs: Type.Optional(
      int32(
        `The same for an asynchronous capture; at least \`queueWaitMs\`. Default: ${normalWaitMs}, or \`queueWaitMs\` if that is longer.`,
        lowerQueueWait,
      ),
    ),
    bulkQueueWaitMs: Type.Optional(
      int32(
        `The same for a capture of a batch; at least \`normalQueueWaitMs\`. Default: ${bulkWaitMs}, or \`normalQueueWaitMs\` if that is longer.`,
        lowerQueueWait,
      ),
    ),
    cooldownSeconds: Type.Optional(
      int32(
        'Idle time after which the last worker is stopped, with `minReplicas: 0`. The next capture then waits for a start.',
        { minimum: 10, maximum: 86_400 },
      ),
    ),
    prediction: Type.Boolean({
      default: true,
      description:
        'Whether workers are started ahead of captures that an hourly, daily or weekly pattern of the past predicts.',
    }),
    schedules: Type.Optional(
      Type.Array(schedule, {
        maxItems: schedulesMax,
        'x-kubernetes-list-type': 'atomic',
        description:
          'Times with a larger minimum. A schedule is in force from its start to its next end; the largest minimum of all in force counts.',
      }),
    ),
  },
  {
    description: 'How the queue sizes the pool.',
    ...withRules(
      {
        rule: 'self.minReplicas <= self.maxReplicas',
        message: `minReplicas must not be above maxReplicas, which is ${maxReplicasDefault} unless given`,
        fieldPath: '.minReplicas',
      },
      {
        rule: '!has(self.schedules) || self.schedules.all(schedule, schedule.minReplicas <= self.maxReplicas)',
        message: `minReplicas of a schedule must not be above maxReplicas, which is ${maxReplicasDefault} unless given`,
        fieldPath: '.schedules',
      },
      {
        rule: 'self.buffer <= self.maxReplicas',
        message: `buffer must not be above maxReplicas, which is ${maxReplicasDefault} unless given`,
        fieldPath: '.buffer',
      },
      {
        rule: 'self.minReplicas > 0 || has(self.cooldownSeconds)',
        message: 'minReplicas 0 needs cooldownSeconds, the idle time after which the last worker goes',
        fieldPath: '.minReplicas',
      },
      {
        rule: 'self.minReplicas == 0 || !has(self.cooldownSeconds)',
        message: 'cooldownSeconds has no effect unless minReplicas is 0',
        fieldPath: '.cooldownSeconds',
      },
      {
        rule: 'self.reservedSlots < self.slots',
        message: 'reservedSlots must be below slots, which is 1 unless given',
        fieldPath: '.reservedSlots',
      },
      {
        rule: '!has(self.normalQueueWaitMs) || self.normalQueueWaitMs >= self.queueWaitMs',
        message: `normalQueueWaitMs must not be below queueWaitMs, which is ${queueWait.default} unless given`,
        fieldPath: '.normalQueueWaitMs',
      },
      {
        rule:
          '!has(self.bulkQueueWaitMs) || self.bulkQueueWaitMs >= (has(self.normalQueueWaitMs) ? self.normalQueueWaitMs : ' +
          `self.queueWaitMs > ${normalWaitMs} ? self.queueWaitMs : ${normalWaitMs})`,
        message: `bulkQueueWaitMs must not be below normalQueueWaitMs, which is ${normalWaitMs} unless given, or queueWaitMs if that is longer`,
        fieldPath: '.bulkQueueWaitMs',
      },
    ),
  },
)

const scaleDown = group(
  {
    stabilizationWindowSeconds: int32(
      'How long the largest number of workers that the queue needed is kept. `spec.replicas` is not stabilized.',
      { minimum: 1, maximum: 3600, default: 30 },
    ),
    periodSeconds: int32(
      'Time between two scale-down steps; each removes one worker, or a quarter of them if that is more.',
      { minimum: 1, maximum: 600, default: 5 },
    ),
  },
  { description: 'How the pool is scaled down: workers drain before they terminate.' },
)

const rollingUpdate = group(
  {
    maxSurge: countOrPercent('Workers of a new template above the size; 0 if a quota leaves no room for one.', '25%'),
    maxUnavailable: countOrPercent('Workers that may be missing during the rollout; at least 1 with `maxSurge` 0.', 0),
  },
  {
    description: 'How a change of the template replaces workers, as in a Deployment.',
    ...withRules({
      rule: "!(string(self.maxSurge) in ['0', '0%'] && string(self.maxUnavailable) in ['0', '0%'])",
      message: 'maxUnavailable must be at least 1 where maxSurge is 0: otherwise no worker can be replaced',
      fieldPath: '.maxUnavailable',
    }),
  },
)

const jobs = group(
  {
    max: int32('Most unfinished Jobs.', { minimum: 1, maximum: workersMax, default: 20 }),
    spares: int32('Jobs kept waiting with a warm browser, for captures that must not wait for a start.', {
      minimum: 0,
      maximum: 100,
      default: 0,
    }),
    spareSeconds: int32('Time that a Job waits for its capture before it ends.', {
      minimum: 30,
      maximum: 86_400,
      default: 600,
    }),
    ttlSecondsAfterFinished: int32('Time after which a Job that has ended is deleted.', {
      minimum: 0,
      maximum: 86_400,
      default: 120,
    }),
  },
  {
    description: 'How captures of pool `proxied` are served: each by its own Job.',
    ...withRules({
      rule: 'self.spares <= self.max',
      message: 'spares must not be above max, which is 20 unless given',
      fieldPath: '.spares',
    }),
  },
)

/** Schema of a pool's spec, with every default and bound. Source of the CRD and of docs/browser-pool.md. */
export const browserPoolSpec = Type.Object(
  {
    pool: enumSchema(
      pools,
      "Queue that is served, and how: `standard` with the headless shell, `stealth` with full Chromium, `proxied` (a caller's " +
        'proxy) with a Job for each capture; of the spec only `paused`, `jobs` and `template` apply to it.',
      withRules({ rule: 'self == oldSelf', message: 'pool cannot be changed; make another BrowserPool' }),
    ),
    replicas: int32(
      'Number of workers while `autoscaling.enabled` is false, also written through the scale subresource; ignored otherwise.',
      { minimum: 0, maximum: workersMax, default: 1 },
    ),
    paused: Type.Boolean({
      default: false,
      description: 'Leaves the pool as it is: no worker is started, drained or replaced.',
    }),
    autoscaling,
    scaleDown,
    rollingUpdate,
    terminationGracePeriodSeconds: int32(
      'Time that a worker gets to finish when it terminates; interrupted captures are retried elsewhere. None runs longer ' +
        `than ${longestBudgetSeconds} s. A change replaces the workers.`,
      { minimum: 10, maximum: 3600, default: longestBudgetSeconds + 10 },
    ),
    jobs,
    template: podTemplate,
  },
  {
    description: 'Desired state of the pool.',
    ...withRules({
      // 1 is the default, which the API server sets if the field was removed.
      rule: '!self.autoscaling.enabled || !oldSelf.autoscaling.enabled || self.replicas == oldSelf.replicas || self.replicas == 1',
      message: 'the queue sizes the pool: replicas have no effect unless autoscaling.enabled is false',
      fieldPath: '.replicas',
    }),
  },
)

/** The conditions of a pool: when each is True, and every reason that it may have. */
export const poolConditions = {
  Ready: {
    help: 'At least the desired number of workers take captures, all of the current template',
    reasons: ['WorkersReady', 'ScaledToZero', 'WorkersMissing', 'WorkersUnknown', 'RollingOut', 'RolloutFailed'],
  },
  Reconciling: {
    help: 'The pool is being brought to its spec (kstatus: `InProgress`)',
    reasons: ['RollingOut', 'WorkersMissing', 'Reconciled'],
  },
  Stalled: {
    help: 'The pool cannot reach its spec without intervention (kstatus: `Failed`)',
    reasons: ['AsExpected', 'ApplyFailed', 'PoolTaken', 'RolloutFailed'],
  },
  Progressing: {
    help: 'Workers are being started, drained or replaced',
    reasons: ['Starting', 'WaitingForNodes', 'Draining', 'Replacing', 'Settled'],
  },
  MetricsAvailable: {
    help: 'Queue and workers can be read; otherwise the size is frozen',
    reasons: ['MetricsRead', 'BacklogUnknown', 'WorkersUnknown', 'MissingHeartbeats'],
  },
  ScalingActive: {
    help: 'The queue decides the size; `spec.replicas` is ignored',
    reasons: ['AutoscalingOn', 'AutoscalingOff', 'Paused', 'QueuePaused'],
  },
  ScalingLimited: {
    help: 'More workers are needed than may be started',
    reasons: ['WithinBounds', 'AtMaximum', 'QuotaExceeded'],
  },
  Degraded: {
    help: 'The pool needs attention',
    reasons: [
      'AsExpected',
      'CrashLooping',
      'Unschedulable',
      'ImagePull',
      'ConfigError',
      'NotStarting',
      'PodsRefused',
      'InvalidSchedule',
      'SizedByAnother',
      'PoolTaken',
      'ApplyFailed',
    ],
  },
} as const

/** A kind of condition. */
export type PoolConditionType = keyof typeof poolConditions

const condition = Type.Object({
  type: text('Type of the condition.', { maxLength: 316, pattern: '^[A-Za-z]+$' }),
  status: enumSchema(['True', 'False', 'Unknown'], 'Whether the condition holds.'),
  reason: text('Reason, in one word.', { maxLength: 1024, minLength: 1, pattern: '^[A-Za-z]+$' }),
  message: text('Explanation for people.', { maxLength: 4096 }),
  lastTransitionTime: Type.String({ format: 'date-time', description: 'When `status` changed last.' }),
  observedGeneration: count('Generation of the pool that the condition describes.'),
})

/** Schema of a pool's status. Unknown values are left out. */
export const browserPoolStatus = partial(
  {
    observedGeneration: count('Generation of the pool that the status describes.'),
    replicas: count('Workers that exist, without terminating ones.'),
    readyReplicas: count('Workers that take captures.'),
    desiredReplicas: count('Workers that the load requires, within the bounds.'),
    scheduledMinReplicas: count(
      'Fewest workers while a schedule in force raises `autoscaling.minReplicas`; otherwise absent.',
    ),
    busySlots: count('Captures that are being served.'),
    queue: count('Captures that are accepted and have not begun.'),
    oldestWaitSeconds: count('Seconds that the oldest of them has waited.'),
    reason: text('Why the pool has its size: the reason that logs and metrics use, or `ApplyFailed`.', {
      maxLength: 40,
      pattern: '^[A-Za-z]+(-[a-z]+)*$',
    }),
    estimate: poolEstimate,
    selector: text('Selector of the pods, for HorizontalPodAutoscalers and disruption budgets.', { maxLength: 1024 }),
    conditions: listMap(condition, {
      keys: ['type'],
      maxItems: 16,
      description: 'Conditions of the pool, one for each type.',
    }),
  },
  { description: 'Observed state of the pool; written by the controller.' },
)

/** Spec of a pool as the API server returns it, with all defaults. */
export type BrowserPoolSpec = Static<typeof browserPoolSpec>

/** A time with a larger minimum. */
export type PoolSchedule = Static<typeof schedule>

/** A condition of a pool, with a reason that belongs to its type. */
export type PoolCondition = {
  [T in PoolConditionType]: Omit<Static<typeof condition>, 'type' | 'reason'> & {
    type: T
    reason: (typeof poolConditions)[T]['reasons'][number]
  }
}[PoolConditionType]

/** The status of a pool. */
export type BrowserPoolStatus = Omit<Static<typeof browserPoolStatus>, 'conditions'> & { conditions?: PoolCondition[] }

/** A BrowserPool as the API server returns it. */
export type BrowserPool = {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly resourceVersion: string
    readonly generation: number
    readonly creationTimestamp: string
    readonly deletionTimestamp?: string
  }
  readonly spec: BrowserPoolSpec
  readonly status?: BrowserPoolStatus
}
