import type { Mutation } from './mutation.ts'

const gateway = 'services/gateway'
const sessions = `${gateway}/http/identification/sessions.ts`
const cookie = `${gateway}/http/identification/session-cookie.ts`
const secureCookie = `${gateway}/http/identification/secure-cookie.ts`
const oidc = `${gateway}/oidc`

const signIn: readonly Mutation[] = [
  {
    point: 'Sign-in link',
    at: `${gateway}/db/sql/start-session.sql`,
    replaceText:
      'delete from sign_in_link where token_hash = $1 and expires_at > now() and (account_id is not null or $8)\n  returning account_id, role, member_id, session_id, issuer, subject',
    by: 'select account_id, role, member_id, session_id, issuer, subject from sign_in_link where token_hash = $1 and expires_at > now() and (account_id is not null or $8)',
  },
  {
    point: 'Sign-in link',
    at: `${gateway}/db/sql/start-session.sql`,
    replaceText: 'token_hash = $1 and expires_at > now()',
    by: 'token_hash = $1',
  },
  { point: 'Session cookie', at: `${secureCookie} > writeCookie`, drop: "'HttpOnly'" },
  { point: 'Session cookie', at: `${secureCookie} > writeCookie`, drop: "'SameSite=Lax'" },
  { point: 'Session cookie', at: `${secureCookie} > writeCookie`, replace: "['Secure']", by: '[]' },
  {
    point: 'Session cookie',
    at: `${gateway}/db/sessions.ts > startSession`,
    replace: 'hash(token)',
    by: 'Buffer.from(token)',
  },
  {
    point: 'Session changes',
    at: `${gateway}/operations/console/sessions.ts > withLink`,
    drop: 'assertSameOrigin($exchange, $url)',
  },
  {
    point: 'Session changes',
    at: `${gateway}/operations/console/sessions.ts > signIn > run`,
    drop: 'if ($replaced) assertCsrfToken($$rest)',
  },
  {
    point: 'Sign-in link',
    at: `${gateway}/db/sql/start-session.sql`,
    replaceText: 'where s.id = $9 and s.id <> n.id',
    by: 'where s.id = $9 and false',
  },
  {
    point: 'Audit log',
    at: `${gateway}/operations/console/sessions.ts > withLink`,
    drop: "if ($code === 'UNAUTHORIZED' || $code === 'FORBIDDEN') await $noted",
  },
]

const provider: readonly Mutation[] = [
  {
    point: 'Sign-in with a provider',
    at: `${oidc}/sign-in-flow.ts > resumeFlow`,
    drop: 'if ($length || !timingSafeEqual($received, $expected)) return undefined',
  },
  {
    point: 'Sign-in with a provider',
    at: `${oidc}/sign-in-flow.ts > resumeFlow`,
    replace: 'seconds($now) - Number($startedAt) <= flowSeconds',
    by: 'true',
  },
  {
    point: 'Sign-in with a provider',
    at: `${oidc}/sign-in-flow.ts > returnPathOf`,
    replace: '$url.pathname + $url.search',
    by: 'requested ?? ""',
  },
  {
    point: 'Sign-in with a provider',
    at: `${oidc}/oidc-provider.ts > OidcProvider > #exchange`,
    drop: 'expectedNonce: $nonce',
  },
  {
    point: 'Sign-in with a provider',
    at: `${oidc}/oidc-provider.ts > OidcProvider > #read`,
    drop: 'enableNonRepudiationChecks',
  },
  {
    point: 'Sign-in with a provider',
    at: `${oidc}/oidc-provider.ts > OidcProvider > #exchange`,
    replace: '$isVerified === true',
    by: 'true',
  },
  {
    point: 'Sign-in with a provider',
    at: `${gateway}/db/sql/link-member.sql`,
    replaceText: 'on conflict do nothing returning state_hash',
    by: 'on conflict (state_hash) do update set expires_at = now() returning state_hash',
  },
  {
    point: 'Sign-in with a provider',
    at: `${gateway}/db/sql/link-member.sql`,
    replaceText: ' and m.subject is null',
    by: '',
  },
]

const members: readonly Mutation[] = [
  {
    point: 'Members',
    at: `${gateway}/operations/members/members.ts > ownerOf`,
    replace: "$session?.role === 'owner'",
    by: '$session',
  },
  {
    point: 'Members',
    at: `${gateway}/operations/members/members.ts > assertMayList`,
    drop: 'if (!$session) await $actor',
  },
  { point: 'Members', at: 'services/shared/db/members.ts > assertOtherOwner', replace: 'id: { $ne: $id }', by: '' },
  {
    point: 'Members',
    at: 'services/shared/db/members.ts > findMember',
    replace: '{ id: $id, account: $account }',
    by: '{ id: $id }',
  },
  { point: 'Members', at: `${gateway}/db/sql/find-session.sql`, replaceText: 'coalesce(m.role, s.role)', by: 's.role' },
  {
    point: 'Members',
    at: `${gateway}/db/sql/switch-account.sql`,
    replaceText: 'm.issuer = o.issuer and m.subject = o.subject',
    by: 'true',
  },
  {
    point: 'Own sessions',
    at: `${gateway}/db/sessions.ts > endSession`,
    replace: "$session?.role === 'owner'",
    by: 'false',
  },
]

const requests: readonly Mutation[] = [
  {
    point: 'Session end',
    at: `${gateway}/db/sql/find-session.sql`,
    replaceText: 's.idle_expires_at > now() and ',
    by: '',
  },
  {
    point: 'Session end',
    at: `${gateway}/db/sql/find-session.sql`,
    replaceText: 'least(s.expires_at, now() + make_interval(secs => $2))',
    by: 'now() + make_interval(secs => $2)',
  },
  {
    point: 'Session end',
    at: `${gateway}/operations/console/sessions.ts > signOut > run`,
    drop: 'await endSession($database, $session)',
  },
  {
    point: 'Session end',
    at: `${gateway}/db/sql/valid-keys.sql`,
    replaceText: 'and s.idle_expires_at > clock_timestamp()',
    by: 'or true',
  },
  {
    point: 'Own sessions',
    at: `${gateway}/db/sql/find-session.sql`,
    replaceText: ' and a.disabled_at is null',
    by: '',
  },
  {
    point: 'Own sessions',
    at: `${gateway}/db/sql/end-session.sql`,
    replaceText: 'where id = $1 and account_id is not distinct from $2',
    by: 'where id = $1 and ($2::uuid is null or true)',
  },
  {
    point: 'Session requests',
    at: `${cookie} > sessionTokenOf`,
    replace: '$authorization !== undefined || $foreign',
    by: '$foreign',
  },
  {
    point: 'Session cookie',
    at: `${cookie} > sessionTokenOf`,
    replace: '!ownSites.includes($site)',
    by: 'false',
  },
  { point: 'Session requests', at: `${sessions} > admitSession`, drop: 'takeFrom($$rest)' },
  {
    point: 'Session requests',
    at: 'services/shared/db/check-request.ts > checkRequests',
    replace: '$accountId ?? null',
    by: 'null',
  },
  { point: 'Session changes', at: `${sessions} > admitSession`, drop: 'assertSameOrigin($$rest)' },
  { point: 'Session changes', at: `${sessions} > admitSession`, drop: 'assertCsrfToken($$rest)' },
  {
    point: 'Session changes',
    at: `${gateway}/operations/identify-session.ts > assertSessionMay`,
    replace: "$accepts || ($method !== 'GET' && $method !== 'HEAD')",
    by: "$method !== 'GET' && $method !== 'HEAD'",
  },
  { point: 'Roles', at: `${sessions} > readOnlyReason`, replace: '!readers.includes($session.role)', by: 'true' },
]

const identifySession = `${gateway}/operations/identify-session.ts`

const operators: readonly Mutation[] = [
  { point: 'Operators', at: `${identifySession} > assertSessionMay`, replace: '!isOperator($session)', by: 'false' },
  {
    point: 'Operators',
    at: 'services/gateway/oidc/operator-role.ts > operatorRoleOf',
    replace: '$own.includes($each)',
    by: 'own.length > 0',
  },
  { point: 'Operators', at: `${identifySession} > assertSessionMay`, replace: "$access !== 'operator'", by: 'true' },
  {
    point: 'Operators',
    at: `${gateway}/admin/operator-operations.ts > operatorOperations`,
    replace: '!$givesCredential',
    by: 'true',
  },
  {
    point: 'Operators',
    at: `${gateway}/http/identification/identify.ts > accountOf`,
    replace: '$accountId !== null',
    by: 'true',
  },
  {
    point: 'Operators',
    at: `${gateway}/db/sql/find-session.sql`,
    replaceText: ' and (s.account_id is not null or $3)',
    by: ' and ($3 or true)',
  },
  {
    point: 'Looking into an account',
    at: `${sessions} > readOnlyReason`,
    replace: 'isOperator($session) && $isOfAccount',
    by: 'false',
  },
  {
    point: 'Looking into an account',
    at: `${gateway}/db/sql/view-account.sql`,
    replaceText: ' and a.disabled_at is null',
    by: '',
  },
  {
    point: 'Looking into an account',
    at: `${gateway}/operations/console/view-account.ts > recordFor`,
    drop: 'recordActivity($$rest)',
  },
  {
    point: 'Installation at work',
    at: `${gateway}/context/config.ts > settingsInForce`,
    replace: '!$secret',
    by: 'true',
  },
]

const activity: readonly Mutation[] = [
  {
    point: 'Activity',
    at: `${gateway}/db/sql/list-activity.sql`,
    replaceText: 'where account_id = $1',
    by: 'where $1::uuid is not null',
  },
  {
    point: 'Activity',
    at: `${gateway}/activity/record-activity.ts > recordActivity`,
    replace: '$answer.caller?.accountId ?? $session?.accountId',
    by: '$answer.caller?.accountId',
  },
]

const keysAndFiles: readonly Mutation[] = [
  {
    point: 'Keys of the account',
    at: `${gateway}/db/account-keys.ts > accountKeysIn > issuerOf`,
    replaceText: 'cardinality(domains) > 0 or expires_at is not null',
    by: 'expires_at is not null',
  },
  {
    point: 'Keys of the account',
    at: `${gateway}/db/account-keys.ts > accountKeysIn > revoke`,
    replaceText: 'where id = $1 and account_id = $2',
    by: 'where id = $1 and $2::uuid is not null',
  },
  {
    point: 'Keys of the account',
    at: `${gateway}/db/account-keys.ts > accountKeysIn > list`,
    replaceText: ' and revoked_at is null',
    by: '',
  },
  {
    point: 'Keys of the account',
    at: 'services/shared/db/sql/check-request.sql',
    replaceText: "update api_key k set last_used_at = greatest(date_trunc('minute', v_now), k.created_at)",
    by: 'update api_key k set last_used_at = k.last_used_at',
  },
  {
    point: 'Keys of the account',
    at: 'services/shared/db/sql/check-request.sql',
    replaceText: "greatest(date_trunc('minute', v_now), k.created_at)",
    by: "date_trunc('minute', v_now)",
  },
  {
    point: 'Console files',
    at: `${gateway}/console/static-files.ts > policy`,
    replaceText: "script-src 'self'",
    by: "script-src 'self' 'unsafe-inline'",
  },
  {
    point: 'Console files',
    at: `${gateway}/console/static-files.ts > accepts`,
    drop: '!$parameters.some($$rest)',
  },
]

/** Faults against sign-in, sessions, roles, operators, keys and files of the console. */
export const consoleFaults: readonly Mutation[] = [
  ...signIn,
  ...provider,
  ...members,
  ...requests,
  ...operators,
  ...activity,
  ...keysAndFiles,
]
