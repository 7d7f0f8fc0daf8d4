import { type Dashboard, hideIdle, hideZeros, max, type Panel, quantile, rate, series, sum } from './panel.ts'

const budget: Panel = {
  title: 'Error budget left, 30 days',
  row: 'Are callers served?',
  unit: 'percentunit',
  isStat: true,
  bad: { below: [0.5, 0.1] },
  runbook: 'budget-forecast',
  link: 'captures',
  queries: [{ expr: `min by (objective) (${series('shutterfleet:budget_left:ratio')})`, legend: '{{objective}}' }],
}

/** Each row answers one question. Colours: green as it should be, orange look at it, red act. */
const panels: readonly Panel[] = [
  {
    title: 'Captures without a service fault',
    row: 'Are callers served?',
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
    title: 'Requests: 99th percentile',
    row: 'Are callers served?',
    description: 'Of those that do not wait for a capture; the objective is a second for 99 %.',
    unit: 's',
    isStat: true,
    bad: { above: [0.5, 1] },
    runbook: 'requests',
    link: 'captures',
    queries: [
      {
        ...quantile(
          0.99,
          'http_request_seconds',
          [],
          'operation!~"capture_get|capture_post|create|events|batch_events|status_wait|render|render_head|mcp"',
        ),
        legend: '',
      },
    ],
  },
  {
    title: 'Captures ended per second',
    row: 'Are callers served?',
    unit: 'ops',
    isStat: true,
    link: 'captures',
    queries: [{ ...rate('captures_ended_total', []), legend: '' }],
  },
  {
    title: 'Wait for a worker, 99th percentile by lane',
    row: 'Is it keeping up?',
    description: 'The objective is ten seconds; bulk has none.',
    unit: 's',
    bad: { above: [5, 10] },
    runbook: 'queue-wait',
    link: 'pools',
    queries: [quantile(0.99, 'capture_queue_seconds', ['lane'])],
  },
  {
    title: 'Captures in the queue',
    row: 'Is it keeping up?',
    unit: 'short',
    runbook: 'captures-not-starting',
    link: 'pools',
    queries: [hideIdle(max('backlog_captures', ['queue', 'status']), 'queue')],
  },
  {
    title: 'Age of the oldest waiting capture',
    row: 'Is it keeping up?',
    unit: 's',
    runbook: 'captures-not-starting',
    link: 'pools',
    queries: [max('backlog_oldest_seconds', ['queue'])],
  },
  {
    title: 'Workers: ready, starting, desired',
    row: 'Is it keeping up?',
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
  {
    title: 'Busiest accounts: captures in the queue',
    row: 'Who is noisy?',
    description: 'Of the ten accounts with most captures in the queue, by id; each links to its page in the console.',
    unit: 'short',
    isEventOnly: true,
    link: 'tenants',
    console: '/accounts/${__field.labels.account}',
    queries: [
      hideZeros(
        {
          expr: `topk(5, max by (account) (${series('account_captures_waiting')} + ${series('account_captures_processing')}))`,
          legend: '{{account}}',
        },
        'account',
      ),
    ],
  },
  {
    title: 'Busiest accounts: captures completed',
    row: 'Who is noisy?',
    unit: 'ops',
    isEventOnly: true,
    link: 'tenants',
    console: '/accounts/${__field.labels.account}',
    queries: [
      hideZeros(
        {
          expr: `topk(5, max by (account) (rate(${series('account_captures_completed_total')}[$__rate_interval])))`,
          legend: '{{account}}',
        },
        'account',
      ),
    ],
  },
  {
    title: 'Firing alerts',
    row: 'What is broken?',
    unit: 'short',
    isStat: true,
    bad: { above: [0.5, 0.5] },
    queries: [
      {
        expr: 'count(ALERTS{alertname=~"Shutterfleet.*",alertstate="firing",namespace=~"$namespace"}) or vector(0)',
        legend: '',
      },
    ],
  },
  {
    title: 'Stores that take writes',
    row: 'What is broken?',
    unit: 'percentunit',
    isStat: true,
    bad: { below: [1, 0.5] },
    runbook: 'store-down',
    link: 'services',
    console: '/health',
    queries: [{ expr: `min by (store) (${series('store_up')})`, legend: '{{store}}' }],
  },
  {
    title: 'Captures that fail, by reason',
    row: 'What is broken?',
    unit: 'ops',
    isEventOnly: true,
    runbook: 'capture-faults',
    link: 'captures',
    queries: [rate('captures_ended_total', ['outcome'], 'outcome!="completed"')],
  },
  {
    title: 'Processes of services and workers',
    row: 'What does it cost?',
    unit: 'short',
    isStat: true,
    link: 'pools',
    queries: [{ expr: `count(${series('build_info')})`, legend: '' }],
  },
  {
    title: 'Processor time per capture, services',
    row: 'What does it cost?',
    description: 'Without the browsers, whose time cAdvisor knows (container_cpu_usage_seconds_total).',
    unit: 's',
    isStat: true,
    queries: [
      {
        expr: `sum(rate(process_cpu_seconds_total{namespace=~"$namespace",component=~"gateway|router|ledger|webhooks|worker|controller|egress"}[$__rate_interval])) / (sum(rate(${series('captures_ended_total')}[$__rate_interval])) > 0)`,
        legend: '',
      },
    ],
  },
  {
    title: 'Memory by service',
    row: 'What does it cost?',
    unit: 'bytes',
    queries: [
      {
        expr: 'sum by (component) (process_resident_memory_bytes{namespace=~"$namespace",component=~"gateway|router|ledger|webhooks|worker|controller|egress"})',
        legend: '{{component}}',
      },
    ],
  },
]

/** The wallboard: one look says whether somebody has to act. */
export const overview: Dashboard = { name: 'overview', title: 'Shutterfleet / Overview', panels, showsScaling: true }
