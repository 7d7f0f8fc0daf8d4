import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openConfiguredDatabase } from '#shared/db/connection.ts'
import { makeAuthority } from '#test/helpers/authority.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { recordIdentityReports } from '#test/helpers/identity-reports.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const authority = await makeAuthority()
// The server reads these as another user.
const folder = await mkdtemp(join(tmpdir(), 'identities-'))
await chmod(folder, 0o755)
const [hba, ca] = [join(folder, 'hba.conf'), join(folder, 'ca.pem')]
await writeFile(
  hba,
  `host all postgres 127.0.0.1/32 trust
hostssl all by_certificate 127.0.0.1/32 cert
hostssl all by_password 127.0.0.1/32 scram-sha-256
`,
)
await copyFile(authority.caPath, ca)
const server = await startPostgres(undefined, ['fsync=off', `hba_file=${hba}`, `ssl_ca_file=${ca}`], authority)
t.teardown(async () => {
  await server[Symbol.asyncDispose]()
  await authority[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})
const admin = await server.createDatabase()
await admin.query("create role by_certificate login; create role by_password login password 'one'")

const addressOf = (user: string, parameters: Readonly<Record<string, string>>) => {
  const url = new URL(admin.url.replace('127.0.0.1', 'localhost'))
  url.username = user
  for (const [name, value] of Object.entries({ sslmode: 'verify-full', sslrootcert: authority.caPath, ...parameters }))
    url.searchParams.set(name, value)
  return url.href
}
const none = { databaseDirectUrl: undefined, databasePasswordFile: '', databasePasswordCommand: [], databasePoolMax: 2 }
type Settings = Parameters<typeof openConfiguredDatabase>[0]
const open = (settings: Partial<Settings> & Pick<Settings, 'databaseUrl'>, reports = recordIdentityReports().reports) =>
  openConfiguredDatabase({ ...none, ...settings }, reports)

/** Ends the sessions of a user, so that the next statement opens a connection. */
const endSessions = (user: string) =>
  admin.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = $1', [user])

/** The user and the serial number of the client's certificate of the session of a statement. */
const session = `select usename as "user", client_serial::text as serial, ssl from pg_stat_ssl
  join pg_stat_activity using (pid) where pid = pg_backend_pid()`
type Session = { user: string; serial: string | null; ssl: boolean }

t.test('database identities: a certificate identifies, and new connections use the one that replaced it', async (t) => {
  const { certPath, keyPath } = await authority.issue('by_certificate')
  await using database = open({ databaseUrl: addressOf('by_certificate', { sslcert: certPath, sslkey: keyPath }) })
  const [first] = await database.query<Session>(session)
  t.match(first, { user: 'by_certificate', ssl: true, serial: /^\d+$/ })

  await authority.issue('by_certificate')
  t.strictSame(await database.query<Session>(session), [first], 'an open connection stays')
  await endSessions('by_certificate')
  const [second] = await database.query<Session>(session)
  t.match(second, { user: 'by_certificate', serial: /^\d+$/ })
  t.not(second?.serial, first?.serial)

  await authority.issue('somebody else')
  await endSessions('by_certificate')
  await t.rejects(database.query(session), {
    code: 'SERVICE_UNAVAILABLE',
    message: /certificate authentication failed/,
  })
})

t.test(
  'database identities: while files of a certificate are missing, waiting statements fail, and later ones work',
  async (t) => {
    const { certPath, keyPath } = await authority.issue('by_certificate')
    await using database = open({ databaseUrl: addressOf('by_certificate', { sslcert: certPath, sslkey: keyPath }) })
    await database.query(session)
    const waiting = [0, 1, 2, 3, 4].map(() => database.query('select pg_sleep(1)'))
    const busy = () =>
      admin.query("select from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'")
    await eventually(async () => (await busy()).length === 2, { what: 'both connections are in use' })
    await rm(certPath)
    await endSessions('by_certificate')
    const outcomes = await Promise.allSettled([...waiting, database.query(session)])
    t.ok(outcomes.every(({ status }) => status === 'rejected'))
    await authority.issue('by_certificate')
    t.match(await database.query<Session>(session), [{ user: 'by_certificate' }])
  },
)

t.test(
  'database identities: each connection reads the password from its file, also for a direct address',
  async (t) => {
    const path = join(folder, 'password')
    await writeFile(path, 'one\n')
    const databaseUrl = addressOf('by_password', {})
    const { reports, ends, failures } = recordIdentityReports()
    await using database = open({ databaseUrl, databasePasswordFile: path }, reports)
    t.match(await database.query<Session>(session), [{ user: 'by_password', ssl: true }])

    await admin.query("alter role by_password password 'two'")
    await endSessions('by_password')
    await t.rejects(database.query(session), { code: 'SERVICE_UNAVAILABLE', message: /password authentication failed/ })
    await writeFile(path, '')
    t.strictSame([ends.length, failures.length], [2, 0])
    await t.rejects(database.query(session), { code: 'SERVICE_UNAVAILABLE', message: /password is empty/ })
    t.match(failures, [{ setting: 'SHUTTERFLEET_DATABASE_PASSWORD_FILE', reason: /password is empty/ }])
    await writeFile(path, 'two\n')
    t.match(await database.query<Session>(session), [{ user: 'by_password' }])
    await database.entities(async (em) => t.same(await em.execute('select 1 as one'), [{ one: 1 }]))

    await using pooled = open({ databaseUrl, databaseDirectUrl: databaseUrl, databasePasswordFile: path })
    const heard = Promise.withResolvers<void>()
    using _listening = pooled.subscribe('a_channel', heard.resolve)
    await heard.promise
  },
)

t.test('database identities: a command prints the password, and one in the address is used without it', async (t) => {
  await admin.query("alter role by_password password 'a token'")
  const databasePasswordCommand = ['printf', 'a %s', 'token']
  await using database = open({ databaseUrl: addressOf('by_password', {}), databasePasswordCommand })
  t.match(await database.query<Session>(session), [{ user: 'by_password' }])
  const withPassword = new URL(addressOf('by_password', {}))
  withPassword.password = 'a token'
  await using other = open({ databaseUrl: withPassword.href, databasePasswordCommand: ['false'] })
  t.match(await other.query<Session>(session), [{ user: 'by_password' }])
})

t.test('database identities: the error names a command that is too slow for a connection', async (t) => {
  await using database = open({ databaseUrl: addressOf('by_password', {}), databasePasswordCommand: ['sleep', '30'] })
  await t.rejects(database.query(session), { code: 'SERVICE_UNAVAILABLE', message: /sleep did not end within 4 s/ })
})
