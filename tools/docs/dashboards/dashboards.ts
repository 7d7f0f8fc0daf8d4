import { overview } from './overview.ts'
import { count, type Dashboard, hideZeros, max, type Panel, quantile, rate, series, sum, topTen } from './panel.ts'

const proxied = 'queue="proxied"'
const pool = ['browserpool'] as const

const outcomes: Panel = {
  title: 'Captures by outcome',
  unit: 'ops',
  queries: [rate('captures_ended_total', ['outcome'])],
}
const queueWait: Panel = {
  title: 'Queue wait (accepted to first attempt)',
  runbook: 'queue-wait',
  unit: 's',
  queries: [quantile(0.5, 'capture_queue_seconds'), quantile(0.95, 'capture_queue_seconds', ['queue'])],
}
const workers: Panel = {
  title: 'Workers by state',
  unit: 'short',
  queries: [hideZeros(sum('pool_workers', ['browserpool', 'state']), 'browserpool')],
}

const captures: Dashboard = {
  name: 'captures',
  title: 'Shutterfleet / Captures and stages',
  panels: [
    { title: 'Captures accepted by lane', unit: 'ops', queries: [rate('captures_accepted_total', ['lane'])] },
    outcomes,
    {
      title: 'Stages of completed captures, median',
      unit: 's',
      queries: [quantile(0.5, 'worker_stage_seconds', ['stage'])],
    },
    {
      title: 'Stages of completed captures, 95th percentile',
      unit: 's',
      queries: [quantile(0.95, 'worker_stage_seconds', ['stage'])],
    },
    queueWait,
    {
      title: 'Processing time in the worker',
      unit: 's',
      queries: [0.5, 0.95].map((q) => quantile(q, 'capture_processing_seconds', ['queue'])),
    },
    {
      title: 'Commit time (result to record)',
      unit: 's',
      queries: [0.5, 0.95].map((q) => quantile(q, 'capture_commit_seconds')),
    },
    { title: 'Attempts by outcome', unit: 'ops', queries: [rate('worker_captures_total', ['queue', 'outcome'])] },
    { title: 'Captures published by the gateway', unit: 'ops', queries: [rate('captures_published_total', ['lane'])] },
    {
      title: 'Captures relayed from the outbox',
      unit: 'ops',
      description: 'Captures that the gateway failed to publish, or that waited for admission.',
      isEventOnly: true,
      queries: [rate('relay_captures_total', ['result'])],
    },
    {
      title: 'Duration of the outbox publish failure',
      runbook: 'outbox-not-published',
      unit: 's',
      queries: [{ ...max('outbox_unpublished_seconds', []), legend: 'unpublished' }],
    },
    {
      title: 'Unread reports, share of the results stream',
      runbook: 'results-unread',
      unit: 'percentunit',
      queries: [{ ...max('reports_unread_ratio', []), legend: 'filled' }],
    },
    { title: 'Images stored (files driver)', unit: 'ops', queries: [rate('uploads_total', ['status'])] },
    {
      title: 'Attempts interrupted by service faults',
      runbook: 'capture-faults',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('worker_interruptions_total', ['by', 'fate'])],
    },
    {
      title: 'Workers that take no captures, by cause',
      runbook: 'workers-not-ready',
      unit: 'short',
      isEventOnly: true,
      queries: [hideZeros(sum('worker_held', ['cause']), 'cause')],
    },
    {
      title: 'Captures handled by the reaper',
      runbook: 'captures-not-starting',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('captures_reaped_total', ['action'])],
    },
    {
      title: 'Failures of ledger loops',
      runbook: 'loop-failing',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('ledger_loop_failures_total', ['loop'])],
    },
  ],
}

const pools: Dashboard = {
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
      title: 'Age of the oldest waiting capture',
      runbook: 'captures-not-starting',
      unit: 's',
      queries: [max('backlog_oldest_seconds', ['queue'])],
    },
    {
      title: 'Scaling decisions by reason',
      runbook: 'pool-frozen',
      console: '/pools',
      unit: 'ops',
      queries: [rate('pool_decisions_total', ['browserpool', 'decision', 'reason'])],
    },
    {
      title: 'Changes of size, per minute',
      unit: 'short',
      queries: [
        hideZeros(
          {
            expr: `sum by (browserpool, direction) (increase(${series('pool_scale_events_total')}[1m]))`,
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

const jobs: Dashboard = {
  name: 'proxied-jobs',
  title: 'Shutterfleet / Proxied Jobs',
  showsScaling: true,
  panels: [
    { title: 'Jobs by state', unit: 'short', queries: [hideZeros(sum('pool_workers', ['state'], proxied), 'state')] },
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

const webhooks: Dashboard = {
  name: 'webhooks',
  title: 'Shutterfleet / Webhooks',
  panels: [
    { title: 'Attempts by outcome', unit: 'ops', queries: [rate('webhook_attempts_total', ['outcome'])] },
    {
      title: 'Duration of an attempt',
      unit: 's',
      queries: [0.5, 0.95].map((q) => quantile(q, 'webhook_attempt_seconds')),
    },
    { title: 'Attempts in flight', unit: 'short', queries: [{ ...sum('webhook_in_flight', []), legend: 'in flight' }] },
    {
      title: 'Permanently failed deliveries',
      runbook: 'webhooks-failing',
      unit: 'ops',
      queries: [{ ...rate('webhook_deliveries_failed_total', []), legend: 'failed' }],
    },
    {
      title: 'Deferred attempts and sender failures',
      runbook: 'webhooks-not-sent',
      unit: 'ops',
      queries: [
        { ...rate('webhook_attempts_postponed_total', []), legend: 'egress unavailable' },
        { ...rate('webhook_turn_failures_total', []), legend: 'sender failed' },
      ],
    },
  ],
}

const tenants: Dashboard = {
  name: 'tenants',
  title: 'Shutterfleet / Tenants and limits',
  panels: [
    {
      title: 'Requests rejected by limits or authentication',
      unit: 'ops',
      description: 'For single accounts see Overview, GET /admin/v1/queue and the gateway log.',
      queries: [rate('http_requests_total', ['code'], 'status=~"401|402|403|429"')],
    },
    {
      title: 'Captures accepted, by admission',
      unit: 'ops',
      description: 'Not admitted: the account already has its share of the lane in the queue, and this capture waits.',
      queries: [rate('captures_accepted_total', ['lane', 'admitted'])],
    },
    { title: 'Captures by source of result', unit: 'ops', queries: [rate('captures_accepted_total', ['as'])] },
    { title: 'Synchronous captures by outcome', unit: 'ops', queries: [rate('sync_waits_total', ['outcome'])] },
    {
      title: 'Captures by which meters deviate from records',
      runbook: 'meter-drift',
      console: '/accounts',
      unit: 'short',
      queries: [{ ...max('meter_drift_captures', []), legend: 'captures' }],
    },
    {
      title: 'Connections with unreadable requests',
      unit: 'ops',
      queries: [{ ...rate('http_connections_unreadable_total', []), legend: 'unreadable' }],
    },
    {
      title: 'Event streams ended, by cause',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('event_streams_ended_total', ['end'])],
    },
  ],
}

const egress: Dashboard = {
  name: 'egress',
  title: 'Shutterfleet / Egress',
  panels: [
    {
      title: 'Connections to targets',
      unit: 'ops',
      queries: [rate('egress_connections_opened_total', ['kind', 'route'])],
    },
    {
      title: 'Connections refused',
      unit: 'ops',
      queries: [rate('egress_requests_refused_total', ['route', 'refusal'])],
    },
    {
      title: 'Names looked up in DNS',
      runbook: 'egress-dns-failing',
      unit: 'ops',
      queries: [rate('egress_dns_lookups_total', ['outcome'])],
    },
    { title: 'Throughput', unit: 'Bps', queries: [rate('egress_bytes_total', ['kind'])] },
    { title: 'Open client connections', unit: 'short', queries: [{ ...sum('egress_clients', []), legend: 'open' }] },
    {
      title: 'Connections to targets ended, by cause',
      unit: 'ops',
      queries: [rate('egress_connections_ended_total', ['end'])],
    },
    {
      title: 'Clients cut or refused, by reason',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('egress_clients_cut_total', ['reason'])],
    },
  ],
}

const services: Dashboard = {
  name: 'services',
  title: 'Shutterfleet / Services and stores',
  panels: [
    { title: 'Requests by status', unit: 'ops', queries: [rate('http_requests_total', ['status'])] },
    {
      title: 'Response time by operation, 95th percentile',
      runbook: 'requests',
      unit: 's',
      queries: [topTen(quantile(0.95, 'http_request_seconds', ['operation']))],
    },
    {
      title: 'Requests to stores',
      runbook: 'store-refusing',
      console: '/health',
      unit: 'ops',
      queries: [rate('store_requests_total', ['store', 'outcome'])],
    },
    {
      title: 'Response time of stores, 95th percentile',
      runbook: 'store-refusing',
      console: '/health',
      unit: 's',
      queries: [topTen(quantile(0.95, 'store_request_seconds', ['store', 'operation']))],
    },
    {
      title: 'Event loop utilization by service',
      runbook: 'service-absent',
      console: '/health',
      unit: 'percentunit',
      queries: [max('event_loop_utilization_ratio', ['service'])],
    },
    { title: 'Processes by release', unit: 'short', queries: [count('build_info', ['service', 'version'])] },
  ],
}

/** Every dashboard that the chart ships. */
export const dashboards: readonly Dashboard[] = [overview, captures, pools, jobs, webhooks, tenants, egress, services]
