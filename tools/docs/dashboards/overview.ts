import { type Dashboard, hideZeros, type Panel, quantile, series, sum, total } from './panel.ts'

const budget: Panel = {
  title: 'Error budget left, 30 days',
  description: 'Share of the failures that the objective allows in 30 days, not yet used.',
  unit: 'percentunit',
  isStat: true,
  bad: { below: [0.5, 0.1] },
  runbook: 'budget-forecast',
  link: 'captures',
  queries: [{ expr: `min by (objective) (${series('shutterfleet:budget_left:ratio')})`, legend: '{{objective}}' }],
}

const desired = `max by (namespace, browserpool) (${series('pool_workers_desired')})`

/** Eight numbers above two graphs, on one screen. Colours: green as it should be, orange look at it, red act. */
const panels: readonly Panel[] = [
  {
    title: 'Captures without a service fault',
    description: 'Of the captures that ended lately; faults of pages and callers are none of the service.',
    unit: 'percentunit',
    isStat: true,
    bad: { below: [0.999, 0.995] },
    runbook: 'capture-faults',
    link: 'captures',
    queries: [
      {
        expr: `1 - (sum(rate(${series('captures_ended_total', 'fault="service"')}[$__rate_interval])) or vector(0)) / sum(rate(${series('captures_ended_total')}[$__rate_interval]))`,
        legend: '',
      },
    ],
  },
  budget,
  {
    title: 'Wait against objective',
    description:
      'Of the lane that is worst, the 99th percentile of the wait for a worker as a share of its objective; bulk is left out.',
    unit: 'percentunit',
    isStat: true,
    bad: { above: [0.5, 1] },
    runbook: 'queue-wait',
    link: 'pools',
    queries: [
      {
        expr: `max(${quantile(0.99, 'capture_queue_seconds', ['lane'], 'lane!="bulk"').expr} / on (lane) min by (lane) (${series('pool_lane_objective_seconds', 'lane!="bulk"')}))`,
        legend: '',
      },
    ],
  },
  {
    title: 'Captures in the queue',
    description: 'That wait, and that workers have begun.',
    unit: 'short',
    isStat: true,
    runbook: 'captures-not-starting',
    link: 'pools',
    queries: [total('backlog_captures', ['status'], ['namespace', 'queue'])],
  },
  {
    title: 'Workers ready of desired',
    description: 'Of all pools.',
    unit: 'short',
    isStat: true,
    runbook: 'workers-not-ready',
    link: 'pools',
    console: '/pools',
    queries: [
      { ...sum('pool_workers', [], 'state="ready"'), legend: 'ready' },
      { expr: `sum(${desired})`, legend: 'desired' },
    ],
  },
  {
    title: 'Stores that take writes',
    description: 'PostgreSQL, NATS and the object store, by a write of each service every few seconds.',
    unit: 'percentunit',
    isStat: true,
    bad: { below: [1, 0.5] },
    runbook: 'store-down',
    link: 'services',
    console: '/health',
    queries: [{ expr: `min by (store) (${series('store_up')})`, legend: '{{store}}' }],
  },
  {
    title: 'Firing alerts',
    description: 'By name; each links to the runbooks.',
    unit: 'short',
    isStat: true,
    bad: { above: [0.5, 0.5] },
    seriesLink: { title: 'Runbooks', url: '${runbooks:raw}docs/runbooks' },
    queries: [
      hideZeros(
        {
          expr: 'count by (alertname) (ALERTS{alertname=~"Shutterfleet.*",alertstate="firing",namespace=~"$namespace"})',
          legend: '{{alertname}}',
        },
        'alertname',
      ),
    ],
  },
  {
    title: 'Busiest accounts',
    description: 'Captures in the queue of the three accounts with most, by id; each links to its page in the console.',
    unit: 'short',
    isStat: true,
    link: 'tenants',
    console: '/accounts/${__field.labels.account}',
    queries: [
      hideZeros(
        {
          expr: `topk(3, max by (account) (${series('account_captures_waiting')} + ${series('account_captures_processing')}))`,
          legend: '{{account}}',
        },
        'account',
      ),
    ],
  },
  {
    title: 'Wait for a worker, 99th percentile by lane',
    description: 'The objective is ten seconds; bulk has none.',
    unit: 's',
    bad: { above: [5, 10] },
    runbook: 'queue-wait',
    link: 'pools',
    queries: [quantile(0.99, 'capture_queue_seconds', ['lane'])],
  },
  {
    title: 'Workers: ready, starting, desired',
    description: 'Each pool; blue lines are decisions to start or to drain workers.',
    unit: 'short',
    runbook: 'workers-not-ready',
    link: 'pools',
    console: '/pools',
    queries: [
      { ...sum('pool_workers', ['browserpool'], 'state="ready"'), legend: '{{browserpool}} ready' },
      { ...sum('pool_workers', ['browserpool'], 'state="starting"'), legend: '{{browserpool}} starting' },
      {
        expr: `sum by (browserpool) (max by (namespace, browserpool) (${series('pool_workers_desired')}))`,
        legend: '{{browserpool}} desired',
      },
    ],
  },
]

/** The wallboard: one look says whether somebody has to act. */
export const overview: Dashboard = {
  name: 'overview',
  title: 'Shutterfleet / Overview',
  panels,
  showsScaling: true,
  isWall: true,
}
