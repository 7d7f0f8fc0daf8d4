import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t from 'tap'
import { makeAuthority } from '#test/helpers/authority.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startS3 } from '#test/helpers/s3.ts'
import { nodeEnv } from '#test/helpers/node-env.ts'

const authority = await makeAuthority()
const { caPath, certPath, keyPath } = authority
const postgres = await startPostgres(undefined, undefined, authority)
const nats = await startNats(undefined, { config: `tls { cert_file: "${certPath}", key_file: "${keyPath}" }` })
const s3 = await startS3(authority)
t.teardown(async () => {
  for (const each of [postgres, nats, s3, authority]) await each[Symbol.asyncDispose]()
})
/** The URL with a host name, because clients of PostgreSQL and NATS do not verify certificates for IP addresses. */
const named = (url: string) => url.replace('127.0.0.1', 'localhost')
const urls = {
  postgres: `${named((await postgres.createDatabase()).url)}?sslmode=verify-full`,
  nats: named(nats.url).replace('nats://', 'tls://'),
  s3: s3.url,
}

/** Connects to each server as the services do, and prints the outcomes by server as JSON. */
const program = `
  import { openDatabase } from '#shared/db/connection.ts'
  import { connectQueue } from '#shared/queue/connection.ts'
  import { createS3Store } from '#shared/storage/s3-store.ts'
  import { storeImage } from '#test/helpers/image-store.ts'
  const [postgres, nats, s3] = JSON.parse(process.argv[1])
  const store = createS3Store(s3)
  const image = { bytes: Buffer.from('image'), mimeType: 'image/png' }
  const uses = {
    PostgreSQL: async () => {
      await using database = openDatabase({ url: postgres, poolMax: 2 })
      const [{ ssl }] = await database.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
      if (!ssl) throw new Error('without TLS')
    },
    NATS: async () => {
      await using queue = await connectQueue({ url: nats, name: 'test', inboxPrefix: '_INBOX', notice: () => {} })
    },
    'object store': () => store.put('one', image.bytes, image.mimeType),
    PUT: async () => storeImage({ key: 'two', url: await store.signPut('two', 60) }, image, performance.now() + 1000),
  }
  const outcomes = {}
  for (const [name, use] of Object.entries(uses)) {
    outcomes[name] = await use().then(() => 'connected', ({ message }) => message)
  }
  console.log(JSON.stringify(outcomes))`

const outcomes = async (env: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '-e', program, JSON.stringify([urls.postgres, urls.nats, urls.s3])],
    { cwd: resolve(import.meta.dirname, '../..'), env: { ...nodeEnv, ...env } },
  )
  return JSON.parse(stdout) as Record<string, string>
}

const startLedger = (env: Readonly<Record<string, string>>) => {
  const child = fork(new URL(import.meta.resolve('#ledger/main.ts')), {
    execArgv: [],
    env: {
      ...nodeEnv,
      SHUTTERFLEET_DATABASE_URL: urls.postgres,
      SHUTTERFLEET_NATS_URL: urls.nats,
      SHUTTERFLEET_S3_URL: urls.s3,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  return { child, printed: text(child.stderr!), ended: once(child, 'exit').then(([code]) => code as number | null) }
}

t.test('authority: PostgreSQL, NATS and the object store are reached over TLS with a private authority', async (t) => {
  t.strictSame(await outcomes({ NODE_EXTRA_CA_CERTS: caPath }), {
    PostgreSQL: 'connected',
    NATS: 'connected',
    'object store': 'connected',
    PUT: 'connected',
  })
})

t.test('authority: without it each error names the variable and the chart value', async (t) => {
  const failures = await outcomes({})
  for (const name of ['PostgreSQL', 'NATS', 'object store', 'PUT']) {
    t.match(failures[name], new RegExp(`^${name}.*NODE_EXTRA_CA_CERTS.*extraCa\\.configMap`), name)
  }
})

t.test('authority: a service starts with it, and exits without it with an error that names the variable', async (t) => {
  const trusting = startLedger({ NODE_EXTRA_CA_CERTS: caPath })
  t.teardown(() => trusting.child.kill('SIGKILL'))
  const first = await Promise.race([once(trusting.child, 'message'), trusting.ended])
  t.match(first, [{ probeUrl: /^http/ }])
  trusting.child.kill('SIGTERM')
  await trusting.ended

  const { ended, printed } = startLedger({})
  t.not(await ended, 0)
  t.match(await printed, /^NATS at localhost:\d+: .*NODE_EXTRA_CA_CERTS/m)
})
