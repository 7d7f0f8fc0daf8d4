import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runLedger } from '#ledger/app.ts'
import { pools } from '#shared/capture/lane.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

/** Examples per operation. */
const examples = 100
/** Fixed, so that every run sends the same requests. */
const seed = 20_260_301
/** Timeout of one request, above the longest wait of a status request. */
const requestSeconds = 70

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]

const cleaners: (() => Promise<unknown>)[] = []
const lifetime = { teardown: (clean: () => Promise<void>) => void cleaners.push(clean) }

const startAll = async () => {
  // Short streams and a large window, so that the time goes into requests.
  const gateway = await startGateway(lifetime, { STREAM_SECONDS: '1', WINDOW_CAPTURES: '1000' })
  const { database, nats } = gateway
  await replacePlans(database, defaultPlans)
  const { id } = await createAccount(database, { name: 'Contract', email: 'c@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
  const stop = new AbortController()
  const ledger = createTestLedger(database, await openQueue(lifetime, nats.url), { windowCaptures: 1000 })
  const running = runLedger(ledger, stop.signal, () => {})
  const image = Buffer.from('the bytes of an image')
  const fleets = pools.map((pool) => startStandInFleet(gateway, () => ({ image }), { pool, commits: false }))
  lifetime.teardown(async () => {
    for (const fleet of fleets) await fleet[Symbol.asyncDispose]()
    stop.abort()
    await running
  })
  return { baseUrl: gateway.baseUrl, key }
}

const runSchemathesis = async ({ baseUrl, key }: { baseUrl: string; key: string }): Promise<number> => {
  const [program = '', ...more] = process.argv.slice(2)
  const folder = await mkdtemp(join(tmpdir(), 'contract-'))
  lifetime.teardown(() => rm(folder, { recursive: true, force: true }))
  const options = {
    checks: checks.join(','),
    'max-examples': examples,
    seed,
    'request-timeout': requestSeconds,
    header: `Authorization: Bearer ${key}`,
    // Python 3.11 fails to parse source in concurrent threads (python/cpython#106905).
    workers: 1,
    phases: 'examples,coverage,fuzzing,stateful',
    'generation-database': 'none',
  }
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(resolve(program), ['run', `${baseUrl}/v1/openapi.json`, ...flags, ...more], {
    stdio: 'inherit',
    // schemathesis writes files into its working directory.
    cwd: folder,
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

try {
  process.exitCode = await runSchemathesis(await startAll())
} finally {
  for (const clean of cleaners.toReversed()) await clean()
}
