import { readdir, readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startMicrosocks, startSquid, withoutRealProxies } from '#test/helpers/real-proxies.ts'
import { startSystem, type System } from '#test/helpers/system.ts'

const skip = withoutRealProxies()
const login = { user: 'us3r-7f3a', password: 'p4ss:w@rd-91c2' }
const right = 'us3r-7f3a:p4ss%3Aw%40rd-91c2@'
/** Every encoding in which the password could appear. */
const secrets = ['p4ss:w@rd', 'p4ss%3Aw', 'rd-91c2', btoa(`${login.user}:${login.password}`).slice(0, 30)]
/** A host name that only squid's hosts file contains. */
const secretName = 'only-squid-knows.test'
const blue = [0, 0, 255]

/** A blue page; responses to `/held` are delayed until `releaseHeld`. */
const startSite = async () => {
  const requests: string[] = []
  const held: ServerResponse[] = []
  const answer = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<body style="background:blue"><h1>By proxy</h1>')
  const server = createServer((request, response) => {
    requests.push(`${request.headers.host}${request.url}`)
    if (request.url === '/held') held.push(response)
    else answer(response)
  })
  return { ...(await listening(server)), requests, held, releaseHeld: () => held.splice(0).map(answer) }
}

const pixelOf = async (image: Buffer) => {
  const area = { left: 1200, top: 700, width: 1, height: 1 }
  return [...(await sharp(image).removeAlpha().extract(area).raw().toBuffer())]
}

const shoot = async (system: System, url: string, proxy: string) => {
  const answer = await system.post('/v1/screenshots/capture', { url, proxy, timeout: 10 })
  const body = Buffer.from(await answer.arrayBuffer())
  if (answer.status === 200) return { status: 200, pixel: await pixelOf(body), body }
  return { status: answer.status, body, ...(JSON.parse(body.toString()) as { error?: { code: string } }) }
}

const findJobs = (system: System) =>
  processTree(system.pid).filter(({ command }) => command.includes('services/worker/main-job'))

/** Arguments and environment of a process; empty if it has ended or belongs to another user. */
const readProcess = async (pid: number): Promise<string> => {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')
  return (await Promise.all([read('cmdline'), read('environ')])).join('\0')
}

const filesBelow = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

const secretsIn = (text: string) => secrets.filter((secret) => text.includes(secret))

/** The whole system, a page and four proxies. Egress could also reach the page directly. */
const startAll = async () => {
  const [site, squid, openSquid, socks, openSocks, dead] = await Promise.all([
    startSite(),
    startSquid(login, [secretName], '443'),
    startSquid(undefined, [secretName]),
    startMicrosocks(login),
    startMicrosocks(),
    freePort(),
  ])
  const ports = [site.port, squid.port, openSquid.port, socks.port, openSocks.port, dead]
  const allowed = ports.flatMap((port) => ['--allow-target', `127.0.0.1:${port}`])
  const system = await startSystem(allowed, { env: { SHUTTERFLEET_LOG_LEVEL: 'debug' } })
  t.teardown(async () => {
    await system.stop()
    await Promise.all([site, squid, openSquid, socks, openSocks].map((each) => each[Symbol.asyncDispose]()))
  })
  return { system, site, squid, openSquid, socks, openSocks, dead }
}

const started = skip === false ? await startAll() : undefined
const all = () => {
  if (!started) throw new Error('skipped')
  return started
}

t.test('proxied captures: use the HTTP or SOCKS5 proxy, with and without credentials', { skip }, async (t) => {
  const { system, site, squid, openSquid, socks, openSocks } = all()
  const plain = `GET http://${secretName}:${site.port}/ us3r-7f3a`
  const tunnel = `CONNECT ${secretName}:${site.port} -`
  const bySocks = `connected to 127.0.0.1:${site.port}`
  for (const [host, to, proxy, log] of [
    [secretName, squid, `http://${right}127.0.0.1:${squid.port}`, plain],
    [secretName, openSquid, `http://127.0.0.1:${openSquid.port}`, tunnel],
    ['127.0.0.1', socks, `socks5://${right}127.0.0.1:${socks.port}`, bySocks],
    ['127.0.0.1', openSocks, `socks5h://127.0.0.1:${openSocks.port}`, bySocks],
  ] as const) {
    site.requests.length = 0
    t.match(await shoot(system, `http://${host}:${site.port}/`, proxy), { status: 200, pixel: blue }, proxy)
    t.ok(site.requests.includes(`${host}:${site.port}/`))
    await eventually(async () => (await to.log()).includes(log), { what: `the log has ${log}` })
  }
})

t.test(
  'proxied captures: fail with wrong credentials or a dead proxy, and never request the page directly',
  { skip },
  async (t) => {
    const { system, site, squid, socks, dead } = all()
    const url = `http://127.0.0.1:${site.port}/`
    t.equal((await system.post('/v1/screenshots/capture', { url })).status, 200, 'a direct request would succeed')
    site.requests.length = 0
    for (const proxy of [
      `http://127.0.0.1:${squid.port}`,
      `http://us3r-7f3a:wrong@127.0.0.1:${squid.port}`,
      `socks5://127.0.0.1:${socks.port}`,
      `socks5://us3r-7f3a:wrong@127.0.0.1:${socks.port}`,
      `http://127.0.0.1:${dead}`,
      `socks5://127.0.0.1:${dead}`,
    ]) {
      t.match(await shoot(system, url, proxy), { status: 422, error: { code: 'CONNECTION_FAILED' } }, proxy)
    }
    t.strictSame(site.requests, [])
  },
)

t.test(
  'proxied captures: each capture has its own process, and no process exposes a credential',
  { skip },
  async (t) => {
    const { system, site, squid, socks } = all()
    await eventually(() => findJobs(system).length === 0, { what: 'no single-use worker is left' })
    const url = `http://127.0.0.1:${site.port}/held`
    const proxies = [`http://${right}127.0.0.1:${squid.port}`, `socks5://${right}127.0.0.1:${socks.port}`]
    const ids = await Promise.all(proxies.map((proxy) => system.create({ url, proxy, timeout: 30 })))
    await eventually(() => site.held.length === 2, { withinMs: 30_000, what: 'both pages are requested' })
    t.equal(findJobs(system).length, 2)
    const texts = await Promise.all(processTree(system.pid).map(({ pid }) => readProcess(pid)))
    t.ok(texts.filter((text) => text.includes('SHUTTERFLEET_')).length >= 7, 'the environments can be read')
    t.strictSame(secretsIn(texts.join()), [])
    site.releaseHeld()
    for (const id of ids) {
      await eventually(async () => (await system.record(id)).status === 'completed', { what: `${id} is completed` })
      t.match(await (await system.request(`/v1/screenshots/${id}`)).text(), 'us3r-7f3a:***@127.0.0.1')
    }
    await eventually(() => findJobs(system).length === 0, { what: 'both processes have ended' })
  },
)

t.test('proxied captures: no file of the data folder, logs included, contains a credential', { skip }, async (t) => {
  const { system } = all()
  const files = await filesBelow(system.dataDir)
  const logs = files.filter((path) => path.endsWith('.log'))
  const found: string[] = []
  for (const path of files) {
    const secret = secretsIn(await readFile(path, 'latin1').catch(() => ''))
    if (secret.length > 0) found.push(path)
  }
  t.strictSame(found, [])
  const printed = (await Promise.all(logs.map((path) => readFile(path, 'utf8')))).join()
  t.match(printed, /"route":"http_proxy","proxy":"127\.0\.0\.1"/, 'the logs contain the proxy')
})
