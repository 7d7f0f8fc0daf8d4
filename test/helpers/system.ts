import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

const ownProgram = resolve(import.meta.dirname, '../../bin/shutterfleet')
const stopMs = 120_000

/** Entry of one service in `local.json`. */
export type RunningProcess = { name: string; pid: number; metrics_url: string; health_url: string }

/** Content of `local.json`, written by `up`. */
export type LocalJson = {
  base_url: string
  api_key: string
  account_id: string
  database_url: string
  nats_url: string
  services: RunningProcess[]
}

/** What `up --json` prints. */
type Printed = Pick<LocalJson, 'base_url' | 'api_key'> & {
  console_url: string
  reference_url: string
  first_capture?: { error: string | null }
  cells?: readonly { name: string; api_key: string; account_id: string; data_dir: string }[]
}

/** The fields of a capture record that tests read. */
export type TestRecord = {
  id: string
  status: 'pending' | 'processing' | 'completed' | 'failed'
  width?: number
  height?: number
  mime_type?: string
  file_size?: number
  target_status?: number
  timings?: Record<string, number>
  error?: { code: string; message: string }
}

/** A complete system, started as a user would start it. */
export type System = AsyncDisposable & {
  readonly baseUrl: string
  /** A sign-in link. */
  readonly consoleUrl: string
  readonly referenceUrl: string
  /** Of a new installation. */
  readonly firstCapture: Printed['first_capture']
  /** With more than one database. */
  readonly cells: Printed['cells']
  readonly dataDir: string
  /** Process id of `up` itself. */
  readonly pid: number
  readonly readLocal: () => Promise<LocalJson>
  /** Sends a request with the first account's key. */
  readonly request: (
    path: string,
    init?: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
  ) => Promise<Response>
  /** POSTs a JSON body. */
  readonly post: (path: string, body: unknown) => Promise<Response>
  /** Creates a capture and returns its id. */
  readonly create: (parameters: Record<string, unknown>) => Promise<string>
  readonly record: (id: string) => Promise<TestRecord>
  /** Metrics of one service, as text. */
  readonly metrics: (service: string) => Promise<string>
  /** Drains and stops the system; returns the exit code of `up`. */
  readonly stop: () => Promise<number>
}

// Programs run as from a user's shell: without the test runner's additions to Node's environment. If the
// test process is killed, the system stops by itself.
const environment = (more: Readonly<Record<string, string>>) => {
  const { NODE_OPTIONS: _loader, TAP: _tap, ...rest } = process.env
  return { ...rest, ...more }
}

/**
 * `env` is added to the environment. `mount` is a shell command to run first, in a new mount namespace (root). `leaked` is a
 * file descriptor that `up` inherits as number 20, beyond a gap. `program` is that of another version.
 */
type Surroundings = {
  readonly env?: Readonly<Record<string, string>>
  readonly mount?: string
  readonly leaked?: number | undefined
  readonly program?: string
}

/** Starts `up`, and waits until it has printed its JSON document. Throws its output if it fails to start. */
const launch = async (dataDir: string, args: readonly string[], surroundings: Surroundings) => {
  const { env = {}, mount = '', leaked, program = ownProgram } = surroundings
  const command = ['up', '--data', dataDir, '--port', '0', '--json', ...args]
  const mountCommand = mount === '' ? [] : ['unshare', '--mount', 'sh', '-ec', `${mount}\nexec "$@"`, 'sh']
  const clean = ['env', '-u', 'NODE_OPTIONS', program]
  const up = spawn('setpriv', ['--pdeathsig', 'TERM', ...mountCommand, ...clean, ...command], {
    stdio: ['ignore', 'pipe', 'pipe', ...Array<'ignore'>(17).fill('ignore'), leaked ?? 'ignore'],
    env: environment(env),
  })
  if (!up.stdout || !up.stderr) throw new Error('no output')
  const errors = text(up.stderr)
  const ended = once(up, 'exit')
  const printed = await Promise.race([once(up.stdout, 'data'), ended.then(async () => [await errors])])
  if (up.exitCode !== null) throw new Error(`up ended with ${up.exitCode}: ${String(printed[0])}`)
  const stop = async () => {
    if (up.exitCode === null) {
      up.kill('SIGTERM')
      const timer = setTimeout(() => up.kill('SIGKILL'), stopMs)
      await ended
      clearTimeout(timer)
    }
    return up.exitCode ?? -1
  }
  return { pid: up.pid ?? 0, stop, ...(JSON.parse(String(printed[0])) as Printed) }
}

/** Starts `bin/shutterfleet up` on a free port, in a temporary folder or in a given one that is kept. */
export const startSystem = async (
  args: readonly string[] = [],
  { dataDir: givenDir, ...surroundings }: Surroundings & { dataDir?: string } = {},
): Promise<System> => {
  const dataDir = givenDir ?? (await mkdtemp(join(tmpdir(), 'shutterfleet-up-')))
  const up = await launch(dataDir, args, surroundings)
  const { base_url: baseUrl, api_key: apiKey, pid } = up

  const readLocal = async () => JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as LocalJson
  const request = (path: string, init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {}) =>
    fetch(baseUrl + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${apiKey}` } })
  const post = (path: string, body: unknown) =>
    request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const readData = async (response: Response, status: number) => {
    if (response.status !== status) throw new Error(`${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: TestRecord }).data
  }
  const stop = async () => {
    const exitCode = await up.stop()
    if (givenDir === undefined) await rm(dataDir, { recursive: true, force: true })
    return exitCode
  }
  return {
    baseUrl,
    consoleUrl: up.console_url,
    referenceUrl: up.reference_url,
    firstCapture: up.first_capture,
    cells: up.cells,
    dataDir,
    pid,
    readLocal,
    request,
    post,
    create: async (parameters) => (await readData(await post('/v1/screenshots', parameters), 202)).id,
    record: async (id) => readData(await request(`/v1/screenshots/${id}`), 200),
    metrics: async (service) => {
      const found = (await readLocal()).services.find((each) => each.name === service)
      if (!found) throw new Error(`no service ${service}`)
      return (await fetch(found.metrics_url)).text()
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  }
}
