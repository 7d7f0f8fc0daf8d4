import { type Dashboard, hideIdle, hideZeros, max, quantile, rate, series, sum, type Panel } from './panel.ts'

const proxied = 'queue="proxied"'
const pool = ['browserpool'] as const

const workers: Panel = {
  title: 'Workers by state',
  unit: 'short',
  queries: [hideIdle(sum('pool_workers', ['browserpool', 'state']), 'browserpool')],
}

/** Workers, sizes and the controller. */
export const pools: Dashboard = {
  name: 'pools',
  title: 'Shutterfleet / Pools and scaling',
  showsScaling: true,
  panels: [
    workers,
    {
      title: 'Desired, minimum and maximum workers',
      runbook: 'pool-at-maximum',
      console: '/pools',
      unit: 'short',
      queries: ['desired', 'min', 'max'].map((bound) => ({
        ...max(`pool_workers_${bound}`, pool),
        legend: `{{browserpool}} ${bound}`,
      })),
    },
    {
      title: 'Busy slots and waiting captures',
      unit: 'short',
      queries: [
        { ...max('pool_slots_busy', pool), legend: '{{browserpool}} busy' },
        { ...max('pool_captures_waiting', pool), legend: '{{browserpool}} waiting' },
      ],
    },
    {
      title: 'Captures that wait or run, by lane',
      unit: 'short',
      queries: [hideIdle(max('pool_lane_captures_unfinished', ['queue', 'lane']), 'queue')],
    },
    {
      title: 'Age of the oldest waiting capture',
      runbook: 'captures-not-starting',
      unit: 's',
      queries: [max('backlog_oldest_seconds', ['queue'])],
    },
    {
      title: "Oldest waiting capture against its lane's objective",
      description: 'From 1 on, captures wait for longer than the objective.',
      runbook: 'queue-wait',
      unit: 'percentunit',
      bad: { above: [0.5, 1] },
      queries: [
        hideIdle(
          {
            expr: `max by (browserpool, lane) (${series('pool_lane_oldest_seconds')} / ${series('pool_lane_objective_seconds')})`,
            legend: '{{browserpool}} {{lane}}',
          },
          'browserpool',
        ),
      ],
    },
    {
      title: 'Scaling decisions by reason',
      runbook: 'pool-frozen',
      console: '/pools',
      unit: 'ops',
      queries: [rate('pool_decisions_total', ['browserpool', 'decision', 'reason'])],
    },
    {
      title: 'Changes of size',
      unit: 'short',
      queries: [
        hideZeros(
          {
            expr: `sum by (browserpool, direction) (increase(${series('pool_scale_events_total')}[$__rate_interval]))`,
            legend: '{{browserpool}} {{direction}}',
          },
          'browserpool',
        ),
      ],
    },
    {
      title: 'Workers that cannot start, by cause',
      runbook: 'pool-degraded',
      console: '/pools',
      unit: 'short',
      queries: [hideZeros(max('pool_workers_stuck', ['browserpool', 'trouble']), 'browserpool')],
    },
    {
      title: 'Worker startup time, 90th percentile',
      unit: 's',
      isEventOnly: true,
      queries: [hideZeros(quantile(0.9, 'pool_worker_start_seconds', pool), 'browserpool')],
    },
    { title: 'Workers ended', unit: 'ops', queries: [rate('pool_workers_ended_total', ['browserpool', 'end'])] },
    {
      title: 'Reconciliation time, 95th percentile',
      unit: 's',
      queries: [quantile(0.95, 'pool_reconcile_seconds', pool)],
    },
    {
      title: 'Failed reconciliations and reads',
      runbook: 'loop-failing',
      unit: 'ops',
      isEventOnly: true,
      queries: [
        { ...rate('pool_reconcile_failures_total', pool), legend: '{{browserpool}} failed' },
        {
          ...rate('pool_reads_unknown_total', ['browserpool', 'source']),
          legend: '{{browserpool}} {{source}} unknown',
        },
      ],
    },
    {
      title: 'Leading controllers',
      runbook: 'no-leader',
      unit: 'short',
      isKubernetes: true,
      queries: [{ ...sum('operator_leads', []), legend: 'leaders' }],
    },
    {
      title: 'True conditions of BrowserPools',
      runbook: 'pool-degraded',
      console: '/pools',
      unit: 'short',
      isKubernetes: true,
      queries: [hideZeros(max('operator_pool_condition', ['browserpool', 'condition', 'reason']), 'browserpool')],
    },
    {
      title: 'Captures in queues without a pool',
      runbook: 'queue-unserved',
      unit: 'short',
      isKubernetes: true,
      queries: [hideZeros(max('operator_queue_unserved_captures', ['queue', 'reason']), 'queue')],
    },
    {
      title: 'Requests to the API server',
      unit: 'ops',
      isKubernetes: true,
      queries: [rate('operator_api_requests_total', ['method', 'resource', 'code'])],
    },
    {
      title: 'Response time of the API server, 95th percentile',
      unit: 's',
      isKubernetes: true,
      queries: [quantile(0.95, 'operator_api_request_seconds', ['method'])],
    },
    {
      title: 'Failed writes to the API server',
      unit: 'ops',
      isKubernetes: true,
      isEventOnly: true,
      queries: [rate('operator_failures_total', ['what'])],
    },
  ],
}

/** Jobs for captures with a proxy. */
export const jobs: Dashboard = {
  name: 'proxied-jobs',
  title: 'Shutterfleet / Proxied Jobs',
  showsScaling: true,
  panels: [
    { title: 'Jobs by state', unit: 'short', queries: [hideIdle(sum('pool_workers', ['state'], proxied), 'state')] },
    {
      title: 'Desired, spare and maximum Jobs',
      unit: 'short',
      queries: [
        { ...max('pool_workers_desired', [], proxied), legend: 'desired' },
        { ...max('pool_workers_min', [], proxied), legend: 'spares' },
        { ...max('pool_workers_max', [], proxied), legend: 'maximum' },
      ],
    },
    {
      title: 'Captures waiting for a Job',
      unit: 'short',
      queries: [{ ...max('pool_captures_waiting', [], proxied), legend: 'waiting' }],
    },
    {
      title: 'Jobs created and claimed',
      unit: 'ops',
      queries: [
        { ...rate('pool_jobs_created_total', []), legend: 'created' },
        { ...rate('pool_jobs_claimed_total', []), legend: 'claimed' },
      ],
    },
    { title: 'Jobs ended, by result', unit: 'ops', queries: [rate('pool_workers_ended_total', ['end'], proxied)] },
    {
      title: 'Scaling decisions by reason',
      unit: 'ops',
      queries: [rate('pool_decisions_total', ['decision', 'reason'], proxied)],
    },
    {
      title: 'Queue wait (accepted to first attempt)',
      unit: 's',
      queries: [0.5, 0.95].map((q) => quantile(q, 'capture_queue_seconds', [], proxied)),
    },
    { title: 'Captures by outcome', unit: 'ops', queries: [rate('captures_ended_total', ['outcome'], proxied)] },
    {
      title: 'Rejected Jobs, by cause',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('pool_jobs_refused_total', ['trouble'])],
    },
  ],
}
