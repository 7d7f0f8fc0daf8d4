import { type Dashboard, max, of, type Panel, quantile, rate, sum } from './panel.ts'

const faults = 'outcome=~"RENDER_ERROR|JOB_FAILED"'
const proxied = 'queue="proxied"'
const pool = ['browserpool'] as const

const outcomes: Panel = {
  title: 'Captures by outcome',
  unit: 'ops',
  queries: [rate('captures_ended_total', ['outcome'])],
}
const queueWait: Panel = {
  title: 'Time from accept to the first attempt',
  unit: 's',
  queries: [quantile(0.5, 'capture_queue_seconds'), quantile(0.95, 'capture_queue_seconds', ['queue'])],
}
const backlog: Panel = {
  title: 'Captures that have not ended',
  unit: 'short',
  queries: [max('backlog_captures', ['queue', 'status'])],
}
const workers: Panel = {
  title: 'Workers by state',
  unit: 'short',
  queries: [sum('pool_workers', ['browserpool', 'state'])],
}

const overview: Dashboard = {
  name: 'overview',
  title: 'Shutterfleet / Overview',
  panels: [
    { title: 'Captures', unit: 'ops', isStat: true, queries: [{ ...rate('captures_ended_total', []), legend: '' }] },
    {
      title: 'Without a fault of the service',
      unit: 'percentunit',
      isStat: true,
      queries: [
        {
          expr: `1 - (sum(rate(${of('captures_ended_total', faults)}[$__rate_interval])) or vector(0)) / sum(rate(${of('captures_ended_total')}[$__rate_interval]))`,
          legend: '',
        },
      ],
    },
    {
      title: 'Waiting',
      unit: 'short',
      isStat: true,
      queries: [{ expr: `sum(max by (queue) (${of('backlog_captures', 'status="pending"')}))`, legend: '' }],
    },
    {
      title: 'Workers ready',
      unit: 'short',
      isStat: true,
      queries: [{ expr: `sum(${of('pool_workers', 'state="ready"')})`, legend: '' }],
    },
    {
      title: 'Alerts that fire',
      unit: 'short',
      isEventOnly: true,
      queries: [
        {
          expr: 'sum by (alertname, severity) (ALERTS{alertname=~"Shutterfleet.*",alertstate="firing"})',
          legend: '{{alertname}}',
        },
      ],
    },
    outcomes,
    queueWait,
    backlog,
    workers,
    { title: 'Requests by status', unit: 'ops', queries: [rate('http_requests_total', ['status'])] },
    {
      title: 'Time to the response, by operation',
      unit: 's',
      queries: [quantile(0.95, 'http_request_seconds', ['operation'])],
    },
    {
      title: 'Event loops busy',
      unit: 'percentunit',
      queries: [max('event_loop_utilization_ratio', ['service'])],
    },
    {
      title: 'Memory by service',
      unit: 'bytes',
      queries: [
        {
          expr: 'sum by (service) (process_resident_memory_bytes{namespace=~"$namespace",service=~"gateway|ledger|webhooks|worker|controller|egress"})',
          legend: '{{service}}',
        },
      ],
    },
  ],
}

const captures: Dashboard = {
  name: 'captures',
  title: 'Shutterfleet / Captures and stages',
  panels: [
    { title: 'Accepted by lane', unit: 'ops', queries: [rate('captures_accepted_total', ['lane'])] },
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
      title: 'Time of a capture in its worker',
      unit: 's',
      queries: [0.5, 0.95].map((q) => quantile(q, 'capture_processing_seconds', ['queue'])),
    },
    {
      title: 'Time from result to record',
      unit: 's',
      queries: [0.5, 0.95].map((q) => quantile(q, 'capture_commit_seconds')),
    },
    { title: 'Attempts by outcome', unit: 'ops', queries: [rate('worker_captures_total', ['queue', 'outcome'])] },
    { title: 'Published by the gateway', unit: 'ops', queries: [rate('captures_published_total', ['lane'])] },
    {
      title: 'Taken from the outbox by the relay',
      unit: 'ops',
      description: 'What the gateway could not publish, or what had waited for its turn.',
      isEventOnly: true,
      queries: [rate('relay_captures_total', ['result'])],
    },
    {
      title: 'Outbox cannot be published for',
      unit: 's',
      queries: [{ ...max('outbox_unpublished_seconds', []), legend: 'unpublished' }],
    },
    {
      title: 'Results stream filled by unread reports',
      unit: 'percentunit',
      queries: [{ ...max('reports_unread_ratio', []), legend: 'filled' }],
    },
    { title: 'Images stored (files driver)', unit: 'ops', queries: [rate('uploads_total', ['status'])] },
    {
      title: 'Attempts that a fault of the service broke off',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('worker_interruptions_total', ['by', 'fate'])],
    },
    {
      title: 'Workers that take nothing, by cause',
      unit: 'short',
      isEventOnly: true,
      queries: [sum('worker_held', ['cause'])],
    },
    {
      title: 'Captures that the reaper acted on',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('captures_reaped_total', ['action'])],
    },
    {
      title: 'Loops of the ledger that failed',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('ledger_loop_failures_total', ['loop'])],
    },
  ],
}

const pools: Dashboard = {
  name: 'pools',
  title: 'Shutterfleet / Pools and scaling',
  panels: [
    workers,
    {
      title: 'Workers desired, within minimum and maximum',
      unit: 'short',
      queries: ['desired', 'min', 'max'].map((bound) => ({
        ...max(`pool_workers_${bound}`, pool),
        legend: `{{browserpool}} ${bound}`,
      })),
    },
    {
      title: 'Slots busy, captures waiting',
      unit: 'short',
      queries: [
        { ...max('pool_slots_busy', pool), legend: '{{browserpool}} busy' },
        { ...max('pool_captures_waiting', pool), legend: '{{browserpool}} waiting' },
      ],
    },
    { title: 'Oldest capture that waits', unit: 's', queries: [max('backlog_oldest_seconds', ['queue'])] },
    {
      title: 'Decisions by reason',
      unit: 'ops',
      queries: [rate('pool_decisions_total', ['browserpool', 'decision', 'reason'])],
    },
    {
      title: 'Workers that cannot start, by cause',
      unit: 'short',
      queries: [max('pool_workers_stuck', ['browserpool', 'trouble'])],
    },
    {
      title: 'Time from start to ready, 90th percentile',
      unit: 's',
      isEventOnly: true,
      queries: [quantile(0.9, 'pool_worker_start_seconds', pool)],
    },
    { title: 'Workers that ended', unit: 'ops', queries: [rate('pool_workers_ended_total', ['browserpool', 'end'])] },
    {
      title: 'Time of a reconciliation, 95th percentile',
      unit: 's',
      queries: [quantile(0.95, 'pool_reconcile_seconds', pool)],
    },
    {
      title: 'Reconciliations that failed, reads that were unknown',
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
      title: 'Controllers that lead',
      unit: 'short',
      isKubernetes: true,
      queries: [{ ...sum('operator_leads', []), legend: 'leaders' }],
    },
    {
      title: 'Conditions that are true',
      unit: 'short',
      isKubernetes: true,
      queries: [max('operator_pool_condition', ['browserpool', 'condition', 'reason'])],
    },
    {
      title: 'Captures in queues that nobody serves',
      unit: 'short',
      isKubernetes: true,
      queries: [max('operator_queue_unserved_captures', ['queue', 'reason'])],
    },
    {
      title: 'Requests to the API server',
      unit: 'ops',
      isKubernetes: true,
      queries: [rate('operator_api_requests_total', ['method', 'resource', 'code'])],
    },
    {
      title: 'Time of the API server, 95th percentile',
      unit: 's',
      isKubernetes: true,
      queries: [quantile(0.95, 'operator_api_request_seconds', ['method'])],
    },
    {
      title: 'What failed on the API server',
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
  panels: [
    { title: 'Jobs by state', unit: 'short', queries: [sum('pool_workers', ['state'], proxied)] },
    {
      title: 'Jobs desired, spares and maximum',
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
    { title: 'Jobs that ended', unit: 'ops', queries: [rate('pool_workers_ended_total', ['end'], proxied)] },
    {
      title: 'Decisions by reason',
      unit: 'ops',
      queries: [rate('pool_decisions_total', ['decision', 'reason'], proxied)],
    },
    {
      title: 'Time from accept to the first attempt',
      unit: 's',
      queries: [0.5, 0.95].map((q) => quantile(q, 'capture_queue_seconds', [], proxied)),
    },
    { title: 'Captures by outcome', unit: 'ops', queries: [rate('captures_ended_total', ['outcome'], proxied)] },
    {
      title: 'Jobs that were refused, by cause',
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
      title: 'Time of an attempt',
      unit: 's',
      queries: [0.5, 0.95].map((q) => quantile(q, 'webhook_attempt_seconds')),
    },
    { title: 'In flight', unit: 'short', queries: [{ ...sum('webhook_in_flight', []), legend: 'in flight' }] },
    {
      title: 'Deliveries that failed for good',
      unit: 'ops',
      queries: [{ ...rate('webhook_deliveries_failed_total', []), legend: 'failed' }],
    },
    {
      title: 'Attempts put off, turns that failed',
      unit: 'ops',
      queries: [
        { ...rate('webhook_not_tried_total', []), legend: 'egress away' },
        { ...rate('webhook_turn_failures_total', []), legend: 'turn failed' },
      ],
    },
  ],
}

const tenants: Dashboard = {
  name: 'tenants',
  title: 'Shutterfleet / Tenants and limits',
  panels: [
    {
      title: 'Requests that a limit or a key refused',
      unit: 'ops',
      description:
        'Per account: GET /admin/v1/queue, and the log of the gateway. No metric has an account for a label.',
      queries: [rate('http_requests_total', ['code'], 'status=~"401|402|403|429"')],
    },
    {
      title: 'Accepted captures that wait for their turn',
      unit: 'ops',
      description: 'Not admitted: the account had its share of its lane in the queue already, and waits for itself.',
      queries: [rate('captures_accepted_total', ['lane', 'admitted'])],
    },
    { title: 'Captures that shared a result', unit: 'ops', queries: [rate('captures_accepted_total', ['as'])] },
    { title: 'Synchronous captures by their end', unit: 'ops', queries: [rate('sync_waits_total', ['end'])] },
    {
      title: 'Meters that differ from the rows',
      unit: 'short',
      queries: [{ ...max('meter_drift_captures', []), legend: 'captures' }],
    },
    {
      title: 'Connections without a readable request',
      unit: 'ops',
      queries: [{ ...rate('http_unreadable_total', []), legend: 'unreadable' }],
    },
    {
      title: 'Streams of events that ended',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('event_streams_total', ['end'])],
    },
  ],
}

const egress: Dashboard = {
  name: 'egress',
  title: 'Shutterfleet / Egress',
  panels: [
    { title: 'Connections made', unit: 'ops', queries: [rate('egress_opened_total', ['kind', 'way'])] },
    { title: 'Connections refused', unit: 'ops', queries: [rate('egress_refused_total', ['way', 'refusal'])] },
    { title: 'Bytes carried', unit: 'Bps', queries: [rate('egress_bytes_total', ['kind'])] },
    { title: 'Connections of clients', unit: 'short', queries: [{ ...sum('egress_clients', []), legend: 'open' }] },
    { title: 'Connections that ended', unit: 'ops', queries: [rate('egress_ended_total', ['end'])] },
    {
      title: 'Clients cut or refused unserved',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('egress_clients_cut_total', ['reason'])],
    },
  ],
}

/** Every dashboard that the chart ships. */
export const dashboards: readonly Dashboard[] = [overview, captures, pools, jobs, webhooks, tenants, egress]
