import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount, listAccounts, setDisabled, setPlan, showAccount } from '#shared/db/accounts.ts'
import { scopes } from '#shared/policy/scopes.ts'
import { listChanges } from '#shared/db/audit.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { changeKey, createKey, createKeyHash, listKeys, revokeKey } from '#shared/db/keys.ts'
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
  t.match(await listKeys(database, id), [{ domains: ['b.example'], expiresAt: '2999-01-01T00:00:00.000Z' }])

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
  t.match((await showAccount(database, id)).disabledAt, /Z$/)
  await setDisabled(database, id, false)
  t.match(await checkRequest(replica, request), { ok: true })
  t.equal((await showAccount(database, id)).disabledAt, null)
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
