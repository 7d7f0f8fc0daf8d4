import type { Mutation } from './mutation.ts'

/** Against the points of the capture operations: what comes of it. */
export const results: readonly Mutation[] = [
  {
    point: 'Time budget',
    file: 'services/shared/db/find-stuck.ts',
    find: '(budget_ms - $1)',
    replace: '(budget_ms + $1)',
  },
  {
    point: 'Time budget',
    file: 'services/ledger/reaper.ts',
    find: 'attempts >= maxAttempts',
    replace: 'attempts > maxAttempts',
  },
  {
    point: 'Time budget',
    file: 'services/shared/capture/budget.ts',
    find: '(options.timeout + options.delay) * 1000',
    replace: 'options.timeout * 1000',
  },
  {
    point: 'Status never moves back',
    file: 'services/ledger/reports/judge-reports.ts',
    find: 'if (state.ended || attempt <= state.attempts) return',
    replace: 'if (attempt <= state.attempts) return',
  },
  {
    point: 'Status never moves back',
    file: 'services/ledger/reports/judge-reports.ts',
    find: "if (message.kind === 'handed-back') takeBack(",
    replace: "if (message.kind === 'handed-back') begin(",
  },
  {
    point: 'Target 4xx/5xx page',
    file: 'services/shared/db/record.ts',
    find: '  target_status: capture.targetStatus,\n',
    replace: '',
  },
  {
    point: 'Target 4xx/5xx page',
    file: 'services/shared/db/sql/change-captures.sql',
    find: "charge = case when n.status = 'completed' then",
    replace: "charge = case when n.status = 'completed' and n.target_status < 400 then",
  },
  {
    point: '`omit_background` with another format',
    file: 'services/shared/capture/parse-capture.ts',
    find: "transparentFormats: readonly Format[] = ['png', 'webp']",
    replace: "transparentFormats: readonly Format[] = ['png', 'webp', 'avif']",
  },
  {
    point: '`quality` with png, tiff, pdf',
    file: 'services/shared/capture/ignored-options.ts',
    find: "['jpeg', 'webp', 'avif']",
    replace: "['jpeg', 'webp', 'avif', 'tiff']",
  },
  {
    point: 'Parameters that do not apply',
    file: 'services/shared/capture/check-cookies.ts',
    find: 'host.endsWith(`.${bare}`)',
    replace: 'host.endsWith(bare)',
  },
  {
    point: 'Parameters that do not apply',
    file: 'services/shared/capture/parse-batch.ts',
    find: "  if (response === 'image') report('response_type', 'must be json for a batch')\n",
    replace: '',
  },
  {
    point: 'Error mapping',
    file: 'services/shared/policy/host.ts',
    find: "!host.includes('.') || /\\.(localhost|localdomain)$/.test(host)",
    replace: "!host.includes('.')",
  },
  {
    point: 'Error mapping',
    file: 'services/ledger/reaper.ts',
    find: "overdue.pool === 'proxied' ? jobDied : givenUp",
    replace: 'givenUp',
  },
  {
    point: 'Error mapping',
    file: 'services/ledger/reaper.ts',
    find: 'if (overdue.ageSeconds >= look.longestWaitSeconds) return neverBegunAgain\n',
    replace: '',
  },
  {
    point: 'Error mapping',
    file: 'services/ledger/relay.ts',
    find: "error.code !== 'CONFIGURATION'",
    replace: "error.code === 'CONFIGURATION'",
  },
  {
    point: 'Cache key',
    file: 'services/shared/db/sql/share-capture.sql',
    find: 'least(k.cache_seconds, p_cache_seconds)',
    replace: 'p_cache_seconds',
  },
  {
    point: 'Cache key',
    file: 'services/shared/capture/cache-text.ts',
    find: 'webhook_url: _webhook, ',
    replace: '',
  },
  {
    point: 'Cache key',
    file: 'services/shared/db/sql/end-followers.sql',
    find: 'object_key = k.object_key, file_size',
    replace: 'object_key = f.object_key, file_size',
  },
  {
    point: 'Idempotency',
    file: 'services/shared/db/sql/find-replay.sql',
    find: "else interval '24 hours' end",
    replace: "else interval '24 days' end",
  },
  {
    point: 'Idempotency',
    file: 'services/shared/db/sql/find-replay.sql',
    find: "case when k.serving then interval '1 minute'",
    replace: "case when false then interval '1 minute'",
  },
  {
    point: 'Idempotency',
    file: 'services/gateway/http/idempotency.ts',
    find: ".update(operation).update('\\0').update(body)",
    replace: '.update(body)',
  },
  {
    point: 'Delete',
    file: 'services/shared/db/sql/delete-capture.sql',
    find: "settled = u.settled + (c.status = 'processing')::integer",
    replace: 'settled = u.settled',
  },
  {
    point: 'Delete',
    file: 'services/ledger/finish-deletions.ts',
    find: '  await purgeSubject(ledger.queue, capturesStream.name, captureSubject(deletion))\n',
    replace: '',
  },
  {
    point: 'Delete',
    file: 'services/shared/db/sql/release-objects.sql',
    find: 'and not exists (select from capture c where c.object_key = s.key and c.id <> all (p_ids))',
    replace: '',
  },
]
