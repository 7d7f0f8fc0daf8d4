import type { Mutation } from './mutation.ts'

const sql = 'services/shared/db/sql'
const gateway = 'services/gateway'

const batches: readonly Mutation[] = [
  {
    point: 'Batch request',
    file: `${sql}/accept-batch.sql`,
    find: 'u.reserved + u.settled + v_count <= c.usage_limit',
    replace: 'u.reserved + u.settled < c.usage_limit',
  },
  {
    point: 'Batch request',
    file: 'services/gateway/parameters/parse-batch.ts',
    find: 'else reportErrors(result.errors, index, errors)',
    replace: 'else reportErrors(result.errors, index + 1, errors)',
  },
  {
    point: 'Batch source',
    file: 'services/gateway/parameters/parse-batch.ts',
    find: 'Object.entries({ url, html, markdown })',
    replace: 'Object.entries({ url, html })',
  },
  {
    point: 'Batch status',
    file: `${gateway}/db/find-batch.ts`,
    find: 'completed + failed >= total',
    replace: 'completed >= total',
  },
  {
    point: 'Batch response',
    file: 'services/gateway/db/sql/find-batch.sql',
    find: 'order by c.batch_index)',
    replace: 'order by c.url)',
  },
]

const lists: readonly Mutation[] = [
  {
    point: 'List parameters',
    file: 'services/gateway/db/list-captures.ts',
    find: 'created_at <= ${add(to)}',
    replace: 'created_at < ${add(to)}',
  },
  {
    point: 'List totals',
    file: 'services/gateway/db/list-captures.ts',
    find: 'row.counted > countedMax',
    replace: 'row.counted >= countedMax',
  },
  {
    point: 'List totals',
    file: `${sql}/count-ended.sql`,
    find: 'set completed = n.completed + excluded.completed, failed = n.failed + excluded.failed;',
    replace: 'set completed = n.completed + excluded.completed;',
  },
  {
    point: 'List shape',
    file: `${gateway}/operations/captures/list.ts`,
    find: 'from: skipped + 1,',
    replace: 'from: skipped,',
  },
]

const links: readonly Mutation[] = [
  {
    point: 'Signed URL response',
    file: `${gateway}/operations/captures/sign-url.ts`,
    find: 'byDefault(integer(0, linkMinutesMax), 60)',
    replace: 'byDefault(integer(1, linkMinutesMax), 60)',
  },
  {
    point: 'Signed URL form',
    file: `${gateway}/links/links.ts`,
    find: "image\\n${of.expires ?? ''}\\n",
    replace: 'image\\n',
  },
  {
    point: 'Signed URL form',
    file: `${gateway}/links/links.ts`,
    find: 'keys.find((each) => each.id === kid)',
    replace: 'keys.slice(0, 1).find((each) => each.id === kid)',
  },
  {
    point: 'Signed URL request',
    file: `${gateway}/http/input.ts`,
    find: 'isOptional && bytes.length === 0 ? {} : parseJson',
    replace: 'parseJson',
  },
  {
    point: 'Signed URL errors',
    file: `${gateway}/links/links.ts`,
    find: "if (verdict === 'expired') throw new AppError('SIGNATURE_EXPIRED')",
    replace: '',
  },
  {
    point: 'Signed URL errors',
    file: `${gateway}/images/read-image.ts`,
    find: 'expiresAt !== null && Date.parse(expiresAt) <= now.getTime()',
    replace: 'expiresAt !== null && Date.parse(expiresAt) <= 0',
  },
]

const accounts: readonly Mutation[] = [
  {
    point: 'Account',
    file: 'services/gateway/db/sql/describe-account.sql',
    find: 'p.price_monthly * 10',
    replace: 'p.price_monthly * 12',
  },
  {
    point: 'Usage',
    file: `${gateway}/operations/account/account.ts`,
    find: 'Math.floor(',
    replace: 'Math.round(',
  },
  {
    point: 'Period',
    file: `${sql}/check-request.sql`,
    find: "(c.period + interval '1 month') at time zone 'utc'",
    replace: "c.period + interval '1 month'",
  },
  {
    point: 'Period',
    file: `${sql}/check-request.sql`,
    find: 'where u.account_id = c.account_id and u.period = c.period;',
    replace: 'where u.account_id = c.account_id order by u.period desc limit 1;',
  },
  {
    point: 'Plans',
    file: 'services/shared/db/keys.ts',
    find: '>= max) throwKeyLimit',
    replace: '> max) throwKeyLimit',
  },
  {
    point: 'Plans',
    file: 'services/shared/capture/features.ts',
    find: "  cookies: 'cookies',\n",
    replace: '',
  },
  {
    point: 'Plan changes',
    file: `${sql}/change-captures.sql`,
    find: 'where u.account_id = d.account_id and u.period = d.period;',
    replace: "where u.account_id = d.account_id and u.period = date_trunc('month', v_now at time zone 'utc')::date;",
  },
  {
    point: 'Plan changes',
    file: `${sql}/change-captures.sql`,
    find: 'v_now + c.retention_seconds * interval',
    replace: 'c.created_at + c.retention_seconds * interval',
  },
]

const images: readonly Mutation[] = [
  {
    point: 'Image of a failed capture',
    file: `${gateway}/operations/captures/image.ts`,
    find: '{ publicMessage: `The capture failed: ${error?.code} ${error?.message}` }',
    replace: '{}',
  },
  {
    point: 'Images of captures with a webhook',
    file: `${sql}/accept-capture.sql`,
    find: 'c.retention_seconds, c.created_at, p_webhook_url, p_cache_key, p_cache_seconds, p_traceparent);',
    replace: `case when p_webhook_url is null then c.retention_seconds else 86400 end, c.created_at, p_webhook_url,
      p_cache_key, p_cache_seconds, p_traceparent);`,
  },
  {
    point: 'After retention',
    file: `${gateway}/capture/capture-synchronously.ts`,
    find: 'storedImage(capture, context.now())',
    replace: 'storedImage(capture, new Date(0))',
  },
  {
    point: 'After retention',
    file: 'services/ledger/remove-objects.ts',
    find: 'await objects.delete(keys)',
    replace: '[] as NotDeleted[]',
  },
]

const limits: readonly Mutation[] = [
  {
    point: 'Parameters outside the feature matrix',
    file: 'services/shared/capture/features.ts',
    find: "  scale: 'retina',\n",
    replace: "  scale: 'retina',\n  user_agent: 'device_presets',\n",
  },
  {
    point: 'Minute limit',
    file: `${sql}/check-request.sql`,
    find: 'if c.refusal is null and not p_counted then',
    replace: 'if not p_counted then',
  },
  {
    point: 'Minute limit',
    file: `${sql}/check-request.sql`,
    find: 'v_requests > c.rate_limit and',
    replace: 'v_requests >= c.rate_limit and',
  },
  {
    point: 'Charging',
    file: `${sql}/change-captures.sql`,
    find: 'settled = u.settled + d.completed',
    replace: 'settled = u.settled + d.ended',
  },
  {
    point: 'Charging',
    file: 'services/ledger/reports/judge-reports.ts',
    find: "if (!state.ended) finish(state, { status: 'failed', code, message",
    replace: "if (!state.ended && code !== 'BLOCKED') finish(state, { status: 'failed', code, message",
  },
]

const keys: readonly Mutation[] = [
  {
    point: 'Domain-restricted keys',
    file: `${sql}/check-request.sql`,
    find: 'and right(v_host, length(d.domain) - 1) = substr(d.domain, 2)',
    replace: 'and right(v_host, length(d.domain) - 2) = substr(d.domain, 3)',
  },
  {
    point: 'Domain-restricted keys',
    file: `${gateway}/http/identification/identify.ts`,
    find: 'headers.origin ?? headers.referer',
    replace: 'headers.referer ?? headers.origin',
  },
  {
    point: 'Domain-restricted keys',
    file: `${gateway}/http/identification/identify.ts`,
    find: "url.hostname.replace(/^\\[(.*)\\]$/, '$1')",
    replace: 'url.hostname',
  },
  {
    point: 'Expired keys',
    file: `${sql}/check-request.sql`,
    find: 'and (k.expires_at is null or k.expires_at > v_now)',
    replace: '',
  },
  {
    point: 'Keys at rest',
    file: 'services/shared/db/keys.ts',
    find: "createSecretKey(pepper, 'utf8')",
    replace: "createSecretKey('pepper', 'utf8')",
  },
  {
    point: 'Keys at rest',
    file: `${sql}/check-request.sql`,
    find: 'and k.revoked_at is null ',
    replace: '',
  },
]

/** Faults against the contract of batch, list, links, account and usage. */
export const reads: readonly Mutation[] = [...batches, ...lists, ...links, ...accounts, ...images, ...limits, ...keys]
