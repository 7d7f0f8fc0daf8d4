import type { Mutation } from './mutation.ts'

const sql = 'services/shared/db/sql'
const gateway = 'services/gateway'

const batches: readonly Mutation[] = [
  {
    point: 'Batch request',
    at: `${sql}/accept-batch.sql`,
    replaceText: 'u.reserved + u.settled + v_count <= c.usage_limit',
    by: 'u.reserved + u.settled < c.usage_limit',
  },
  {
    point: 'Batch request',
    at: 'services/gateway/parameters/parse-batch.ts > validateAll',
    replace: 'reportErrors($problems, $index, $$rest)',
    by: 'reportErrors($problems, $index + 1, $$rest)',
  },
  {
    point: 'Batch source',
    at: 'services/gateway/parameters/parse-batch.ts > checkCommon',
    replace: '{ url: $url, html: $html, markdown: $markdown }',
    by: '{ url: $url, html: $html }',
  },
  {
    point: 'Batch status',
    at: `${gateway}/db/find-batch.ts > statusOf`,
    replace: '$completed + $failed >= $total',
    by: '$completed >= $total',
  },
  {
    point: 'Batch response',
    at: 'services/gateway/db/sql/find-batch.sql',
    replaceText: 'order by c.batch_index)',
    by: 'order by c.url)',
  },
]

const lists: readonly Mutation[] = [
  {
    point: 'List parameters',
    at: 'services/gateway/db/list-captures.ts > bindPage',
    replace: '[to, greatestId]',
    by: '[to, leastId]',
  },
  {
    point: 'List totals',
    at: 'services/gateway/db/list-captures.ts > listCaptures',
    replace: '$row.counted > $max',
    by: '$row.counted >= $max',
  },
  {
    point: 'List totals',
    at: `${sql}/count-ended.sql`,
    replaceText: 'set completed = n.completed + excluded.completed, failed = n.failed + excluded.failed;',
    by: 'set completed = n.completed + excluded.completed;',
  },
  {
    point: 'List shape',
    at: `${gateway}/operations/captures/list.ts > positionsOf`,
    replace: 'from: $skipped + 1',
    by: 'from: $skipped',
  },
]

const links: readonly Mutation[] = [
  {
    point: 'Signed URL response',
    at: `${gateway}/operations/captures/sign-url.ts > parameters > expires_in`,
    replace: 'integer(0, linkMinutesMax, $$rest)',
    by: 'integer(1, linkMinutesMax, $$rest)',
  },
  {
    point: 'Signed URL form',
    at: `${gateway}/links/links.ts > sign`,
    replace: "`GET\\n/v1/screenshots/${$link.id}/image\\n${$link.expires ?? ''}\\n${$kid}`",
    by: '`GET\\n/v1/screenshots/${$link.id}/image\\n${$kid}`',
  },
  {
    point: 'Signed URL form',
    at: `${gateway}/links/links.ts > verifyLink`,
    replace: '$keys.find($isNamed)',
    by: '$keys.slice(0, 1).find($isNamed)',
  },
  {
    point: 'Signed URL request',
    at: `${gateway}/http/input.ts > readOptionalJson`,
    replace: '$isOptional && $bytes.length === 0 ? {} : parseJson($$args)',
    by: 'parseJson($$args)',
  },
  {
    point: 'Signed URL errors',
    at: `${gateway}/links/links.ts > findLinked`,
    drop: "if ($verdict === 'expired') throw $error",
  },
  {
    point: 'Signed URL errors',
    at: `${gateway}/images/read-image.ts > storedImage`,
    replace: '$now.getTime()',
    by: '0',
  },
]

const renderLinks: readonly Mutation[] = [
  {
    point: 'Render links',
    at: `${gateway}/links/render-link.ts > readPairs`,
    drop: 'if ($values.has($name)) throw $error',
  },
  {
    point: 'Render links',
    at: `${gateway}/links/link-verifier.ts > LinkVerifier > confirm`,
    replace: '$state && this.#isSigned($link, $state)',
    by: '$state',
  },
  {
    point: 'Render links',
    at: `${gateway}/links/link-verifier.ts > LinkVerifier > admit`,
    drop: 'if (!$found || !this.#isSigned($link, $found)) throw $error',
  },
  {
    point: 'Render links',
    at: `${gateway}/db/sql/find-rendering.sql`,
    replaceText: 'and k.revoked_at is null',
    by: '',
  },
  {
    point: 'Render links',
    at: `${gateway}/capture/open-link-view.ts > openView`,
    replace: '$link.expires * 1000 <= $context.now().getTime()',
    by: 'false',
  },
  {
    point: 'Render links',
    at: `${gateway}/capture/open-link-view.ts > openView`,
    drop: 'if (!$rendering.hasFeature) throw $error',
  },
  {
    point: 'Render links',
    at: `${gateway}/capture/open-link-view.ts > openView`,
    drop: 'if (!$rendering.allowsHost) throw $error',
  },
  {
    point: 'Render links',
    at: `${gateway}/capture/render-link.ts > recentFailure`,
    replace: '$failed.secondsAgo >= failureSeconds',
    by: 'true',
  },
  {
    point: 'Render links',
    at: `${gateway}/links/link-attempts.ts > LinkAttempts > accept`,
    drop: 'if ($refusal && $refusal.untilMs > this.#nowMs()) throw $refusal.error',
  },
  {
    point: 'Link secrets',
    at: 'services/shared/db/link-secrets.ts > rotateLinkSecret',
    replace: '$found !== null && $seconds > 0',
    by: '$found !== null',
  },
]

const accounts: readonly Mutation[] = [
  {
    point: 'Account',
    at: 'services/gateway/db/sql/describe-account.sql',
    replaceText: 'p.price_monthly * 10',
    by: 'p.price_monthly * 12',
  },
  {
    point: 'Usage',
    at: `${gateway}/operations/account/account.ts > percentageOf`,
    replace: 'Math.floor($hundredths)',
    by: 'Math.round($hundredths)',
  },
  {
    point: 'Usage by day',
    at: `${sql}/delete-capture.sql`,
    replaceText: "where c.status = 'processing' and v_promoted is null",
    by: "where c.status = 'processing'",
  },
  {
    point: 'Usage by day',
    at: `${sql}/count-ended.sql`,
    replaceText: "when c.cached then 'cached' else",
    by: 'else',
  },
  {
    point: 'Usage by day',
    at: `${gateway}/operations/account/usage-days.ts > dayRecord`,
    replace: "count('completed') + count('deleted')",
    by: "count('completed')",
  },
  {
    point: 'Usage by day',
    at: `${gateway}/operations/account/usage-days.ts > daysOf`,
    replace: '$days <= usageDaysMax',
    by: '$days < usageDaysMax',
  },
  {
    point: 'Period',
    at: `${sql}/check-request.sql`,
    replaceText: "(c.period + interval '1 month') at time zone 'utc'",
    by: "c.period + interval '1 month'",
  },
  {
    point: 'Period',
    at: `${sql}/check-request.sql`,
    replaceText: 'where u.account_id = c.account_id and u.period = c.period;',
    by: 'where u.account_id = c.account_id order by u.period desc limit 1;',
  },
  { point: 'Plans', at: 'services/shared/db/keys.ts > createKey', replace: '$count >= $max', by: '$count > $max' },
  { point: 'Plans', at: 'services/shared/capture/features.ts > featureOfParameter', drop: "cookies: 'cookies'" },
  {
    point: 'Plan changes',
    at: `${sql}/change-captures.sql`,
    replaceText: 'where u.account_id = d.account_id and u.period = d.period;',
    by: "where u.account_id = d.account_id and u.period = date_trunc('month', v_now at time zone 'utc')::date;",
  },
  {
    point: 'Plan changes',
    at: `${sql}/change-captures.sql`,
    replaceText: 'v_now + c.retention_seconds * interval',
    by: 'c.created_at + c.retention_seconds * interval',
  },
]

const images: readonly Mutation[] = [
  {
    point: 'Image of a failed capture',
    at: `${gateway}/operations/captures/image.ts > readyImage`,
    replace: '{ publicMessage: $reason }',
    by: '{}',
  },
  {
    point: 'Images of captures with a webhook',
    at: `${sql}/accept-capture.sql`,
    replaceText: 'c.retention_seconds, c.created_at, p_webhook_url, p_cache_key, p_cache_seconds, p_traceparent,',
    by: 'case when p_webhook_url is null then c.retention_seconds else 86400 end, c.created_at, p_webhook_url,\n      p_cache_key, p_cache_seconds, p_traceparent,',
  },
  {
    point: 'After retention',
    at: `${gateway}/capture/capture-synchronously.ts > answerImage`,
    replace: '$context.now()',
    by: 'new Date(0)',
  },
  {
    point: 'After retention',
    at: 'services/ledger/remove-objects.ts > removeBatch',
    replace: 'await $objects.delete($keys)',
    by: '[] as NotDeleted[]',
  },
]

const limits: readonly Mutation[] = [
  {
    point: 'Parameters outside the feature matrix',
    at: 'services/shared/capture/features.ts > featureOfParameter',
    replace: "scale: 'retina'",
    by: "scale: 'retina', user_agent: 'device_presets'",
  },
  {
    point: 'Minute limit',
    at: `${sql}/check-request.sql`,
    replaceText: 'if c.refusal is null and not p_counted then',
    by: 'if not p_counted then',
  },
  {
    point: 'Minute limit',
    at: `${sql}/check-request.sql`,
    replaceText: 'v_requests > c.rate_limit and',
    by: 'v_requests >= c.rate_limit and',
  },
  {
    point: 'Charging',
    at: `${sql}/change-captures.sql`,
    replaceText: 'settled = u.settled + d.completed',
    by: 'settled = u.settled + d.ended',
  },
  {
    point: 'Charging',
    at: 'services/ledger/reports/judge-reports.ts > fail',
    replace: "end($state, { status: 'failed', code: $code, $$rest })",
    by: "if ($code !== 'BLOCKED') end($state, { status: 'failed', code: $code, $$rest })",
  },
]

const keys: readonly Mutation[] = [
  {
    point: 'Domain-restricted keys',
    at: `${sql}/check-request.sql`,
    replaceText: 'and right(lower(p_host), length(d.domain) - 1) = substr(d.domain, 2)',
    by: 'and right(lower(p_host), length(d.domain) - 2) = substr(d.domain, 3)',
  },
  {
    point: 'Domain-restricted keys',
    at: `${gateway}/http/identification/identify.ts > originHostOf`,
    replace: '$origin ?? $referer',
    by: '$referer ?? $origin',
  },
  {
    point: 'Domain-restricted keys',
    at: `${gateway}/http/identification/identify.ts > hostOf`,
    replace: '$url.hostname.replace($$args)',
    by: '$url.hostname',
  },
  {
    point: 'Expired keys',
    at: `${sql}/check-request.sql`,
    replaceText: 'and (k.expires_at is null or k.expires_at > v_now)',
    by: '',
  },
  {
    point: 'Keys at rest',
    at: 'services/shared/db/key-hash.ts > createKeyHash',
    replace: "createSecretKey($pepper, 'utf8')",
    by: "createSecretKey('pepper', 'utf8')",
  },
  { point: 'Keys at rest', at: `${sql}/check-request.sql`, replaceText: 'and k.revoked_at is null ', by: '' },
  {
    point: 'Messages of errors',
    at: `${sql}/check-request.sql`,
    replaceText: "when k.expires_at <= v_now then 'expired'",
    by: "when k.expires_at > v_now then 'expired'",
  },
  {
    point: 'Messages of errors',
    at: `${sql}/check-request.sql`,
    replaceText: ' and p.price_monthly is not null',
    by: '',
  },
  {
    point: 'Messages of errors',
    at: `${gateway}/app.ts > handleWith`,
    replace: 'withDocUrl($answer, $url)',
    by: '$answer',
  },
  {
    point: 'Scopes of keys',
    at: `${sql}/check-request.sql`,
    replaceText: '(v_scopes && p_scopes) is not true',
    by: '(v_scopes && p_scopes) is null',
  },
  {
    point: 'Scopes of keys',
    at: `${sql}/accept-capture.sql`,
    replaceText: "p_account_id, '{capture}')",
    by: 'p_account_id)',
  },
  {
    point: 'Scopes of keys',
    at: `${sql}/accept-batch.sql`,
    replaceText: "p_account_id, '{capture}')",
    by: 'p_account_id)',
  },
  {
    point: 'Scopes of keys',
    at: `${gateway}/operations/keys/keys.ts > scopesOf`,
    replace: '!$own.includes($scope)',
    by: 'false',
  },
  {
    point: 'Scopes of keys',
    at: `${gateway}/operations/operation.ts > forCaller`,
    replace: '$isPersonal && identify($exchange, $hash).keyHash',
    by: 'undefined',
  },
]

/** Faults against the contract of batch, list, links, account and usage. */
export const reads: readonly Mutation[] = [
  ...batches,
  ...lists,
  ...links,
  ...renderLinks,
  ...accounts,
  ...images,
  ...limits,
  ...keys,
]
