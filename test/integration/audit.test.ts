import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount, listAccounts, setDisabled, setPlan, showAccount } from '#shared/db/accounts.ts'
import { scopes } from '#shared/policy/scopes.ts'
import { listChanges } from '#shared/db/audit.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { addMember, removeMember } from '#shared/db/members.ts'
import { createOperatorLink } from '#shared/db/sign-in-links.ts'
import { findSession, linkMember, startSession, switchAccount } from '#gateway/db/sessions.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { changeKey, createKey, listKeys, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const server = await startPostgres(t)
const pepper = 'pepper'
const newAccount = { name: 'A', email: 'a@example.com', plan: 'free' }

// Contract: Audit log
t.test('audit: every change of accounts and keys is recorded once, with its actor and without secrets', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  const { id } = await createAccount(database, newAccount, 'command line')
  await setPlan(database, id, 'pro', 'admin')
  const key = await createKey(database, { accountId: id, name: 'k', domains: ['a.example'], pepper, actor: 'admin' })
  await changeKey(database, key.id, { expiresAt: new Date('2999-01-01'), domains: ['B.example'] }, 'admin')
  await revokeKey(database, key.id, 'admin')
  await revokeKey(database, key.id, 'admin')
  await setDisabled(database, id, true)
  await setDisabled(database, id, true)
  await setDisabled(database, id, false)
  const changes = await listChanges(database, { limit: 100 })
  t.same(
    changes.map(({ actor, action, target }) => `${actor} ${action} ${target === id ? 'account' : 'key'}`).toSorted(),
    [
      'admin account.set_plan account',
      'admin key.create key',
      'admin key.revoke key',
      'admin key.set_domains key',
      'admin key.set_expiry key',
      'command line account.create account',
      'system account.disable account',
      'system account.enable account',
    ],
  )
  t.match(
    changes.find(({ action }) => action === 'account.set_plan'),
    { detail: { from: 'free', to: 'pro' }, at: /Z$/ },
  )
  t.notMatch(JSON.stringify(changes), key.key.slice(12))
  t.match(await listKeys(database, id), [{ domains: ['b.example'], expires_at: '2999-01-01T00:00:00.000Z' }])

  const pages = [await listChanges(database, { limit: 3 })]
  for (let page = pages[0]; page?.length === 3; page = pages.at(-1)) {
    pages.push(await listChanges(database, { limit: 3, before: page.at(-1)?.id }))
  }
  t.same(pages.flat(), changes, 'the log is paged newest first')
  await t.rejects(listChanges(database, { limit: 1, before: randomUUID() }), { code: 'NOT_FOUND' })
})

// Contract: Audit log
t.test('audit: failed changes are not recorded', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  await t.rejects(createAccount(database, { ...newAccount, plan: 'gold' }), { code: 'VALIDATION_ERROR' })
  await t.rejects(setDisabled(database, randomUUID(), true), { code: 'NOT_FOUND' })
  await t.rejects(changeKey(database, randomUUID(), { domains: [] }), { code: 'NOT_FOUND' })
  t.same(await listChanges(database, { limit: 10 }), [])
})

t.test('audit: the keys of a disabled account are refused by every replica at once, until it is enabled', async (t) => {
  const database = await server.createDatabase()
  await using replica = openDatabase({ url: database.url, poolMax: 2 })
  await replacePlans(database, defaultPlans)
  const { id } = await createAccount(database, newAccount)
  const { key } = await createKey(database, { accountId: id, name: '', domains: [], pepper })
  const request = { keyHash: createKeyHash(pepper)(key), originHost: null, scopes }
  await setDisabled(database, id, true)
  const refused = { ok: false, code: 'INVALID_API_KEY', keyState: 'disabled' }
  t.match(await checkRequest(replica, request), refused)
  t.match((await showAccount(database, id)).disabled_at, /Z$/)
  await setDisabled(database, id, false)
  t.match(await checkRequest(replica, request), { ok: true })
  t.equal((await showAccount(database, id)).disabled_at, null)
})

t.test('audit: accounts are listed page by page', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  for (let created = 0; created < 5; created += 1) await createAccount(database, newAccount)
  const all = await listAccounts(database)
  const pages = [await listAccounts(database, { limit: 2 })]
  for (let page = pages[0]; page?.length === 2; page = pages.at(-1)) {
    pages.push(await listAccounts(database, { limit: 2, after: page.at(-1)?.id }))
  }
  t.same(pages.flat(), all)
  t.equal(pages.length, 3)
})

// Contract: Audit log
t.test('audit: begin, switch and end of each identity are recorded, with way, network and session', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  const hash = createKeyHash(pepper)
  const [{ id: first }, { id: second }] = [
    await createAccount(database, newAccount),
    await createAccount(database, newAccount),
  ]
  for (const accountId of [first, second])
    for (const email of ['ada@example.com', 'bob@example.com'])
      await addMember(database, { accountId, email, role: 'owner' }, 'system')
  const person = { signInHash: hash('state'), signInSeconds: 10, issuer: 'https://id.example', subject: 'ada' }
  const bounds = { sessionSeconds: 100, sessionIdleSeconds: 50, consoleOperators: true }
  const begin = async (linkToken: string, replacedId: string | null = null) => {
    const from = { address: '192.0.2.1', userAgent: '' }
    const token = await startSession(database, hash, { ...bounds, ...from, linkToken, replacedId })
    return (await findSession(database, hash(token!), bounds))!
  }
  const link = await linkMember(database, hash, { ...person, email: 'ada@example.com' })
  t.equal(await linkMember(database, hash, { ...person, email: 'ada@example.com' }), 'used')
  const { id: sessionId } = await begin(typeof link === 'string' ? link : link.token)
  const switched = await switchAccount(database, hash, { sessionId, accountId: second, address: '192.0.2.2' })
  const { id: inSecondId } = (await findSession(database, hash(switched!), bounds))!
  const [member] = await database.query<{ id: string }>(
    `select id from member where account_id = $1 and email = 'ada@example.com'`,
    [second],
  )
  await removeMember(database, { accountId: second, id: member!.id }, 'admin')
  const { token } = await createOperatorLink(database, { role: 'operator', pepper, actor: 'admin' })
  const operator = await begin(token, inSecondId)

  const entries = await database.query(
    `select actor, action, target, detail from audit_entry where action like 'session.%' order by at, action`,
  )
  const [one, other] = [`session:${sessionId}`, `session:${inSecondId}`]
  const who = { issuer: 'https://id.example', subject: 'ada', how: 'provider' }
  t.match(entries, [
    { actor: one, action: 'session.begin', target: sessionId, detail: { ...who, from: '192.0.2.1', account: first } },
    { actor: other, action: 'session.end', target: sessionId, detail: { how: 'switched', from: '192.0.2.2' } },
    { actor: other, action: 'session.switch', target: inSecondId, detail: { ...who, replaces: sessionId } },
    { actor: 'admin', action: 'session.end', target: inSecondId, detail: { how: 'member removed' } },
    { actor: `operator:${operator.id}`, action: 'session.begin', target: operator.id, detail: { how: 'link' } },
  ])
  t.equal(entries.length, 5, 'a session that has ended is not ended again')
})
