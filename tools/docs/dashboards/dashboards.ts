import { overview } from './overview.ts'
import { jobs, pools } from './pools.ts'
import { count, type Dashboard, hideZeros, max, type Panel, quantile, rate, series, sum, topTen } from './panel.ts'

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

const captures: Dashboard = {
  name: 'captures',
  title: 'Shutterfleet / Captures and stages',
  panels: [
    {
      title: 'Captures that fail, by reason',
      unit: 'ops',
      isEventOnly: true,
      runbook: 'capture-faults',
      queries: [rate('captures_ended_total', ['outcome'], 'outcome!="completed"')],
    },
    { title: 'Captures accepted by lane', unit: 'ops', queries: [rate('captures_accepted_total', ['lane'])] },
    outcomes,
    {
      title: 'Stages of completed captures, median',
      unit: 's',
      queries: [quantile(0.5, 'capture_stage_seconds', ['stage'])],
    },
    {
      title: 'Stages of completed captures, 95th percentile',
      unit: 's',
      queries: [quantile(0.95, 'capture_stage_seconds', ['stage'])],
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
      title: 'Busiest accounts: captures in the queue',
      description: 'Of the ten accounts with most captures in the queue, by id; each links to its page in the console.',
      unit: 'short',
      isEventOnly: true,
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
      unit: 'ops',
      isEventOnly: true,
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
    {
      title: 'Requests: 99th percentile',
      description: 'Of those that do not wait for a capture; the objective is a second for 99 %.',
      unit: 's',
      bad: { above: [0.5, 1] },
      runbook: 'requests',
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
      title: 'Processes of services and workers',
      description: 'That are scraped.',
      unit: 'short',
      queries: [{ expr: `count(${series('build_info')})`, legend: '' }],
    },
    {
      title: 'Processor time per capture, services',
      description: 'Without the browsers, whose time cAdvisor knows (container_cpu_usage_seconds_total).',
      unit: 's',
      queries: [
        {
          expr: `sum(rate(process_cpu_seconds_total{namespace=~"$namespace",component=~"gateway|router|ledger|webhooks|worker|controller|egress"}[$__rate_interval])) / (sum(rate(${series('captures_ended_total')}[$__rate_interval])) > 0)`,
          legend: '',
        },
      ],
    },
    {
      title: 'Memory by service',
      description: 'Resident memory of all processes of a service.',
      unit: 'bytes',
      queries: [
        {
          expr: 'sum by (component) (process_resident_memory_bytes{namespace=~"$namespace",component=~"gateway|router|ledger|webhooks|worker|controller|egress"})',
          legend: '{{component}}',
        },
      ],
    },
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
      description: 'Share of the time in which the busiest process of a service was busy.',
      runbook: 'service-absent',
      console: '/health',
      unit: 'percentunit',
      queries: [max('event_loop_utilization_ratio', ['component'])],
    },
    {
      title: 'Failed renewals of keys, credentials and passwords',
      runbook: 'identity-not-renewed',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('identity_renewal_failures_total', ['component', 'name'])],
    },
    {
      title: 'Reads that the replica of PostgreSQL may serve, by outcome',
      runbook: 'replica-not-used',
      unit: 'ops',
      isEventOnly: true,
      queries: [rate('replica_reads_total', ['outcome'])],
    },
    {
      title: 'Requests of the router by cell and status, and questions without an answer',
      runbook: 'cell-silent',
      unit: 'ops',
      isEventOnly: true,
      queries: [
        rate('router_requests_total', ['cell', 'status']),
        { ...rate('router_cells_silent_total', ['cell']), legend: '{{cell}} silent' },
      ],
    },
    {
      title: 'Processes by release',
      description: 'More than one while a release is rolled out.',
      unit: 'short',
      queries: [count('build_info', ['component', 'version'])],
    },
  ],
}

/** Every dashboard that the chart ships. */
export const dashboards: readonly Dashboard[] = [overview, captures, pools, jobs, webhooks, tenants, egress, services]
