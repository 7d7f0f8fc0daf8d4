import type { Mutation } from './mutation.ts'

/** Faults against the contract of capture operations: results. */
export const results: readonly Mutation[] = [
  {
    point: 'Time budget',
    at: 'services/ledger/db/sql/find-overdue.sql',
    replaceText: "(now() at time zone 'utc') + $1",
    by: "(now() at time zone 'utc') - $1",
  },
  {
    point: 'Time budget',
    at: 'services/ledger/reaper.ts > isUsedUp',
    replace: '$attempts >= maxAttempts',
    by: '$attempts > maxAttempts',
  },
  {
    point: 'Time budget',
    at: 'services/shared/capture/budget.ts > attemptBudgetMs',
    drop: 'requestedWaitMs($options)',
  },
  {
    point: 'Status never moves back',
    at: 'services/ledger/reports/judge-reports.ts > reactions > completed',
    replace: '{ begun: ignore, $$rest }',
    by: '{ begun: begin, $$rest }',
  },
  {
    point: 'Status never moves back',
    at: 'services/ledger/reports/judge-reports.ts > reactions > open',
    replace: "{ begun: $begin, 'handed-back': handBack, $$rest }",
    by: "{ begun: $begin, 'handed-back': $begin, $$rest }",
  },
  {
    test: 'test/unit/ledger/reports/judge-reports.test.ts',
    at: 'services/ledger/reports/judge-reports.ts > lose',
    replace: 'if ($state.winner !== $key) $state.losers.push($key)',
    by: '$state.losers.push($key)',
  },
  { point: 'Target 4xx/5xx page', at: 'services/shared/db/record.ts > imageFields', drop: 'target_status: $status' },
  {
    point: 'Target 4xx/5xx page',
    at: 'services/shared/db/sql/change-captures.sql',
    replaceText: "charge = case when n.status = 'completed' then",
    by: "charge = case when n.status = 'completed' and n.target_status < 400 then",
  },
  {
    point: '`omit_background` with another format',
    at: 'services/gateway/parameters/check-combinations.ts > transparentFormats',
    replace: "['png', 'webp']",
    by: "['png', 'webp', 'avif']",
  },
  {
    point: '`quality` with png, tiff, pdf',
    at: 'services/shared/capture/ignored-options.ts > withQuality',
    replace: "['jpeg', 'webp', 'avif']",
    by: "['jpeg', 'webp', 'avif', 'tiff']",
  },
  {
    point: 'Parameters that do not apply',
    at: 'services/gateway/parameters/check-cookies.ts > covers',
    replace: '$host.endsWith(`.${$domain}`)',
    by: '$host.endsWith($domain)',
  },
  {
    point: 'Parameters that do not apply',
    at: 'services/gateway/parameters/parse-batch.ts > checkCommon',
    drop: "if ($response === 'image') report('response_type', $problem)",
  },
  { point: 'Error mapping', at: 'services/shared/policy/host.ts > isLocalName', drop: '$pattern.test($host)' },
  {
    point: 'Error mapping',
    at: 'services/ledger/reaper.ts > findFailure',
    replace: "$overdue.pool === 'proxied' ? $jobDied : $givenUp",
    by: '$givenUp',
  },
  {
    point: 'Error mapping',
    at: 'services/ledger/reaper.ts > findFailure',
    drop: 'if ($overdue.ageSeconds >= $pass.longestWaitSeconds) return $failure',
  },
  {
    point: 'Error mapping',
    at: 'services/ledger/relay.ts > publishOne',
    replace: "$error.code !== 'CONFIGURATION'",
    by: "$error.code === 'CONFIGURATION'",
  },
  {
    point: 'Cache key',
    at: 'services/shared/db/sql/share-capture.sql',
    replaceText: 'least(k.cache_seconds, p_cache_seconds)',
    by: 'p_cache_seconds',
  },
  {
    point: 'Cache key',
    at: 'services/gateway/capture/prepare-capture.ts > cacheKeyText',
    drop: 'webhook_url: $ignored',
  },
  {
    point: 'Cache key',
    at: 'services/shared/db/sql/end-followers.sql',
    replaceText: 'object_key = k.object_key, file_size',
    by: 'object_key = f.object_key, file_size',
  },
  {
    point: 'Idempotency',
    at: 'services/shared/db/sql/find-replay.sql',
    replaceText: "else interval '24 hours' end",
    by: "else interval '24 days' end",
  },
  {
    point: 'Idempotency',
    at: 'services/shared/db/sql/find-replay.sql',
    replaceText: "case when k.serving then interval '1 minute'",
    by: "case when false then interval '1 minute'",
  },
  {
    point: 'Idempotency',
    at: 'services/gateway/http/idempotency.ts > idempotencyOf',
    replace: "$hash.update($operation).update('\\0').update($body)",
    by: '$hash.update($body)',
  },
  {
    point: 'Delete',
    at: 'services/shared/db/sql/delete-capture.sql',
    replaceText: "settled = u.settled + (c.status = 'processing')::integer",
    by: 'settled = u.settled',
  },
  {
    point: 'Delete',
    at: 'services/ledger/finish-deletions.ts > finishOne',
    drop: 'deleteMessages($queue, capturesStream.name, $subject)',
  },
  {
    point: 'Delete',
    at: 'services/shared/db/sql/release-objects.sql',
    replaceText: 'and not exists (select from capture c where c.object_key = s.key and c.id <> all (v_ids))',
    by: '',
  },
  { point: 'Metadata', at: 'services/shared/db/record.ts > imageFields', drop: 'metadata: $metadata' },
  {
    point: 'Metadata',
    at: 'services/shared/db/sql/end-followers.sql',
    replaceText: 'sealed_result = k.sealed_result, ',
    by: '',
  },
  {
    point: 'Metadata',
    at: 'services/shared/db/record.ts > toWebhookRecord',
    drop: "...('metadata' in $record && $field)",
  },
]
