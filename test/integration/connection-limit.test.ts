import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { checkConnectionLimit } from '#shared/db/connection-limit.ts'
import { onlyRow } from '#shared/db/connection.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const server = await startPostgres(t)
const database = await server.createDatabase()
const { reserved, all } = onlyRow(
  await database.query<{ reserved: number; all: number }>(
    `select current_setting('superuser_reserved_connections')::int as reserved, current_setting('max_connections')::int as all`,
  ),
)

t.test('connection limit: more than PostgreSQL allows is an error that names what to change', async (t) => {
  const allowed = all - reserved
  t.equal(await checkConnectionLimit(database, 0), allowed)
  t.equal(await checkConnectionLimit(database, allowed), allowed)
  await t.rejects(checkConnectionLimit(database, allowed + 1), {
    code: 'CONFIGURATION',
    message: new RegExp(
      `allows ${allowed} connections, but the services open up to ${allowed + 1}: raise its max_connections to ${all + 1} .*replicas.*DATABASE_POOL_MAX.*directUrlKey`,
    ),
  })
})

t.test('connection limit: that of the database counts too', async (t) => {
  const name = new URL(database.url).pathname.slice(1)
  await database.query(`alter database "${name}" connection limit 20`)
  t.teardown(() => database.query(`alter database "${name}" connection limit -1`))
  await t.rejects(checkConnectionLimit(database, 21), { message: /allows 20 .*connection limit of the database to 21/ })
})

t.test('connection limit: migrate fails before it changes anything', async (t) => {
  const run = (connections: number) =>
    promisify(execFile)(commandLine, ['migrate'], {
      env: {
        PATH: process.env['PATH'],
        SHUTTERFLEET_DATABASE_URL: server.url,
        SHUTTERFLEET_DATABASE_CONNECTIONS: String(connections),
      },
    })
  const refused = await run(all).catch(({ stderr }: { stderr: string }) => stderr)
  t.match(refused, `open up to ${all}`)
  await run(all - reserved)
})
