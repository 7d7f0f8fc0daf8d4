import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import type { Role } from '#shared/db/sign-in-links.ts'
import { defaultPlans } from '#local/default-plans.ts'
import type { MemberRecord } from '#gateway/records/member.ts'
import { codeOf, sendJson, signIn, signInBy } from '#test/helpers/console-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const issuer = 'https://id.example.com'
const gateway = await startGateway(t, { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'x', OIDC_IDENTITY: 'subject' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

type Person = Awaited<ReturnType<typeof signIn>>

const newAccount = async (name = 'Acme') =>
  (await createAccount(database, { name, email: 'a@example.com', plan: 'unlimited' })).id
const dataOf = async <T>(answer: Response) => ((await answer.json()) as { data: T }).data
const add = async (by: Person, email: string, role: Role, more: object = {}) =>
  await dataOf<MemberRecord>(await by.call('POST', '/v1/members', { body: { email, role, ...more } }))
const list = async (by: Person) => await dataOf<MemberRecord[]>(await by.call('GET', '/v1/members'))
const enter = async (by: Person, id: string) => {
  const { url } = await dataOf<{ url: string }>(await by.call('POST', `/v1/members/${id}/sign-in-link`))
  return await signInBy(gateway, url.split('#token=')[1] ?? '')
}

// Contract: Members
t.test('members: an owner adds them; all roles read them', async (t) => {
  const id = await newAccount()
  const owner = await signIn(gateway, id, 'owner')
  const ada = await add(owner, 'Ada@Example.com', 'member')
  t.match(ada, { id: /-/, email: 'ada@example.com', role: 'member', subject: null, last_sign_in_at: null })
  const bob = await add(owner, 'bob@example.com', 'viewer', { subject: '42' })
  t.equal(bob.subject, '42')
  t.match(await database.query('select issuer, subject, added_by from member where id = $1', [bob.id]), [
    { issuer, subject: '42', added_by: /^session:/ },
  ])
  for (const role of ['owner', 'member', 'viewer'] as const)
    t.same(await list(await signIn(gateway, id, role)), [ada, bob], role)
})

// Contract: Members
t.test('members: an account has an address and a subject once, and bad input is named', async (t) => {
  const owner = await signIn(gateway, await newAccount(), 'owner')
  await add(owner, 'ada@example.com', 'member', { subject: '1' })
  const cases: readonly (readonly [object, string])[] = [
    [{ email: 'ADA@example.com', role: 'viewer' }, 'email'],
    [{ email: 'eve@example.com', role: 'viewer', subject: '1' }, 'email'],
    [{ email: 'eve@example.com', role: 'king' }, 'role'],
    [{ email: 'no address', role: 'viewer' }, 'email'],
    [{ email: `${'x'.repeat(320)}@example.com`, role: 'viewer' }, 'email'],
    [{ email: 'eve@example.com', role: 'viewer', subject: '' }, 'subject'],
  ]
  for (const [body, field] of cases) {
    const answer = await owner.call('POST', '/v1/members', { body })
    const { error } = (await answer.json()) as { error: { details: object } }
    t.same([answer.status, Object.keys(error.details)], [422, [field]], JSON.stringify(body))
  }
  t.equal((await list(owner)).length, 1)
})

// Contract: Members
t.test('members: the response to an owner is not repeated for others, who could not have asked for it', async (t) => {
  const id = await newAccount()
  const owner = await signIn(gateway, id, 'owner')
  const { id: added } = await add(owner, 'ada@example.com', 'owner')
  const { key } = await createKey(database, { accountId: id, name: 'k', domains: [], pepper: testPepper })
  const others = [await signIn(gateway, id, 'member'), await signIn(gateway, id, 'viewer')]
  for (const [path, body] of [
    ['/v1/members', { email: 'eve@example.com', role: 'owner' }],
    [`/v1/members/${added}/sign-in-link`, undefined],
  ] as const) {
    const headers = { 'idempotency-key': `once ${path}`.replaceAll(/[ /]/g, '-') }
    const first = await (await owner.call('POST', path, { body, headers })).json()
    t.same(await (await owner.call('POST', path, { body, headers })).json(), first)
    const byKey = { ...headers, authorization: `Bearer ${key}` }
    t.match((await sendJson(`${baseUrl}${path}`, 'POST', { body, headers: byKey })).status, 422, path)
    for (const person of others) t.not((await person.call('POST', path, { body, headers })).status, 200, path)
  }
})

// Contract: Members
t.test('members: only an owner changes them', async (t) => {
  const id = await newAccount()
  const owner = await signIn(gateway, id, 'owner')
  const ada = await add(owner, 'ada@example.com', 'member')
  const { key } = await createKey(database, { accountId: id, name: 'k', domains: [], pepper: testPepper })
  const changes = [
    ['POST', '/v1/members', { email: 'eve@example.com', role: 'owner' }],
    ['PATCH', `/v1/members/${ada.id}`, { role: 'owner' }],
    ['DELETE', `/v1/members/${ada.id}`, undefined],
    ['POST', `/v1/members/${ada.id}/sign-in-link`, undefined],
  ] as const
  const [member, viewer] = [await signIn(gateway, id, 'member'), await signIn(gateway, id, 'viewer')]
  for (const [method, path, body] of changes) {
    for (const person of [member, viewer])
      t.same(await codeOf(await person.call(method, path, { body })), [403, 'FORBIDDEN'], `${method} ${path}`)
    const headers = { authorization: `Bearer ${key}` }
    t.same(await codeOf(await sendJson(baseUrl + path, method, { body, headers })), [403, 'FORBIDDEN'], 'a key')
  }
  t.same(await list(owner), [ada])
})

// Contract: Members
t.test('members: a key lists them unless it is one for pages', async (t) => {
  const id = await newAccount()
  await add(await signIn(gateway, id, 'owner'), 'ada@example.com', 'member')
  const send = async (domains: string[]) => {
    const { key } = await createKey(database, { accountId: id, name: 'k', domains, pepper: testPepper })
    const headers = { authorization: `Bearer ${key}`, origin: 'https://shop.example' }
    return await sendJson(`${baseUrl}/v1/members`, 'GET', { headers })
  }
  t.match(await dataOf<MemberRecord[]>(await send([])), [{ email: 'ada@example.com' }])
  t.same(await codeOf(await send(['shop.example'])), [403, 'FORBIDDEN'])
})

// Contract: Members
t.test('members: those of other accounts are not found', async (t) => {
  const [owner, other] = [
    await signIn(gateway, await newAccount(), 'owner'),
    await signIn(gateway, await newAccount(), 'owner'),
  ]
  const ada = await add(other, 'ada@example.com', 'member')
  for (const id of [ada.id, randomUUID(), 'x']) {
    t.same(await codeOf(await owner.call('PATCH', `/v1/members/${id}`, { body: { role: 'owner' } })), [
      404,
      'NOT_FOUND',
    ])
    t.same(await codeOf(await owner.call('DELETE', `/v1/members/${id}`)), [404, 'NOT_FOUND'])
    t.same(await codeOf(await owner.call('POST', `/v1/members/${id}/sign-in-link`)), [404, 'NOT_FOUND'])
  }
  t.same(await list(owner), [])
  t.same(await list(other), [ada])
})

// Contract: Members
t.test('members: a changed role and a removal count in their sessions at once', async (t) => {
  const owner = await signIn(gateway, await newAccount(), 'owner')
  const { id } = await add(owner, 'ada@example.com', 'member')
  const ada = await enter(owner, id)
  t.match(ada.session, { role: 'member', email: 'ada@example.com' })
  t.match((await list(owner))[0]?.last_sign_in_at, /Z$/)
  t.equal((await ada.call('POST', '/v1/keys', { body: { name: 'a' } })).status, 200)

  t.match(await dataOf(await owner.call('PATCH', `/v1/members/${id}`, { body: { role: 'viewer' } })), {
    role: 'viewer',
  })
  t.same(await codeOf(await ada.call('POST', '/v1/keys', { body: { name: 'b' } })), [403, 'FORBIDDEN'])
  t.match(await (await ada.call('GET', '/console/api/session')).json(), { role: 'viewer' })

  const { url } = await dataOf<{ url: string }>(await owner.call('POST', `/v1/members/${id}/sign-in-link`))
  t.equal((await owner.call('DELETE', `/v1/members/${id}`)).status, 204)
  t.equal((await ada.call('GET', '/v1/account')).status, 401)
  const link = await sendJson(`${baseUrl}/console/api/session`, 'POST', { body: { token: url.split('#token=')[1] } })
  t.same(await codeOf(link), [401, 'UNAUTHORIZED'], 'their unused link')
})

// Contract: Members
t.test('members: the last owner stays, also if two remove each other', async (t) => {
  const support = await signIn(gateway, await newAccount(), 'owner')
  const ada = await add(support, 'ada@example.com', 'owner')
  t.same(await codeOf(await support.call('DELETE', `/v1/members/${ada.id}`)), [403, 'FORBIDDEN'])
  const demote = await support.call('PATCH', `/v1/members/${ada.id}`, { body: { role: 'member' } })
  t.same(await codeOf(demote), [403, 'FORBIDDEN'])
  const bob = await add(support, 'bob@example.com', 'owner')
  const answers = await Promise.all([ada, bob].map(({ id }) => support.call('DELETE', `/v1/members/${id}`)))
  t.same(new Set(answers.map(({ status }) => status)), new Set([204, 403]))
})

// Contract: Own sessions
t.test('members: an owner ends every session of the account, others none of an owner', async (t) => {
  const id = await newAccount()
  const owner = await signIn(gateway, id, 'owner')
  const ada = await add(owner, 'ada@example.com', 'owner')
  const promoted = await enter(owner, ada.id)
  const member = await signIn(gateway, id, 'member')
  type Listed = { id: string; role: Role; email: string | null; is_current: boolean }
  const sessions = await dataOf<Listed[]>(await member.call('GET', '/console/api/sessions'))
  const owners = sessions.filter(({ role }) => role === 'owner')
  t.same(new Set(owners.map(({ email }) => email)), new Set(['ada@example.com', null]))
  for (const each of owners)
    t.same(await codeOf(await member.call('DELETE', `/console/api/sessions/${each.id}`)), [403, 'FORBIDDEN'])
  t.equal((await promoted.call('GET', '/v1/account')).status, 200)
  const own = sessions.find(({ is_current: current }) => current)
  t.equal((await owner.call('DELETE', `/console/api/sessions/${own?.id}`)).status, 204)
  t.equal((await member.call('GET', '/v1/account')).status, 401)
  t.equal((await owner.call('DELETE', '/console/api/session')).status, 204, 'an owner signs out')
})

// Contract: Members
t.test('members: a person of several accounts switches among them, and into no other', async (t) => {
  const ids = [await newAccount('One'), await newAccount('Two'), await newAccount('Three'), await newAccount('Four')]
  const owners = await Promise.all(ids.map((id) => signIn(gateway, id, 'owner')))
  const [one, two, three, four] = owners as [Person, Person, Person, Person]
  const ada = await add(one, 'ada@example.com', 'member', { subject: 'ada' })
  await add(two, 'ada@work.example', 'viewer', { subject: 'ada' })
  await add(three, 'ada@example.com', 'owner', { subject: 'another' })
  await add(four, 'ada@example.com', 'owner')
  const session = await enter(one, ada.id)
  const moveTo = (id: string | undefined) =>
    session.call('POST', '/console/api/session/account', { body: { account_id: id } })
  t.same(await dataOf(await session.call('GET', '/console/api/accounts')), [], 'a link is of one account')
  t.same(await codeOf(await moveTo(ids[1])), [404, 'NOT_FOUND'], 'whoever the owner says its member is')
  await database.query('update console_session set by_provider = true where member_id = $1', [ada.id])
  t.match(await dataOf(await session.call('GET', '/console/api/accounts')), [
    { id: ids[0], name: 'One', role: 'member', is_current: true },
    { id: ids[1], name: 'Two', role: 'viewer', is_current: false },
  ])
  for (const other of [ids[2], ids[3], randomUUID(), 'x']) t.same(await codeOf(await moveTo(other)), [404, 'NOT_FOUND'])
  const switched = await moveTo(ids[1])
  t.equal(switched.status, 204)
  t.equal((await session.call('GET', '/v1/account')).status, 401, 'the previous cookie')
  const headers = { cookie: switched.headers.get('set-cookie')?.split(';')[0] ?? '' }
  const now = (await (await sendJson(`${baseUrl}/console/api/session`, 'GET', { headers })).json()) as Person['session']
  t.match(now, { account: { id: ids[1] }, role: 'viewer', expires_at: session.session.expires_at })
  t.not(now.csrf_token, session.session.csrf_token, 'other windows cannot change this account')
  t.same(await dataOf(await one.call('GET', '/console/api/accounts')), [], 'a link of an operator is of one account')
})

// Contract: Audit log
t.test('members: their changes are recorded with the session that made them', async (t) => {
  const owner = await signIn(gateway, await newAccount(), 'owner')
  const { id } = await add(owner, 'ada@example.com', 'member')
  await owner.call('PATCH', `/v1/members/${id}`, { body: { role: 'viewer' } })
  await owner.call('DELETE', `/v1/members/${id}`)
  const entries = `select action, actor, detail from audit_entry where target = $1 order by at`
  t.match(await database.query(entries, [id]), [
    { action: 'member.add', actor: /^session:/, detail: { email: 'ada@example.com', role: 'member' } },
    { action: 'member.set_role', detail: { from: 'member', to: 'viewer' } },
    { action: 'member.remove', detail: { email: 'ada@example.com' } },
  ])
})
