import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { startPages } from '#test/helpers/browser-host.ts'
import { egressToken, startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNodeCluster } from '#test/helpers/nodes/node-cluster.ts'
import { idlePod, inPod, processes, workerManifest } from '#test/helpers/nodes/worker-pods.ts'

type Pod = {
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly restartCount: number
      readonly lastState: { readonly terminated?: { readonly exitCode: number } }
    }[]
  }
}

const root = resolve(import.meta.dirname, '../..')
const { packages } = JSON.parse(await readFile(`${root}/package-lock.json`, 'utf8')) as {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly devDependencies?: object; readonly dev?: boolean }>
  >
}
const { version, devDependencies = {} } = packages[''] ?? {}
/** Dev dependencies of package.json that no runtime package depends on. */
const developersAlone = Object.keys(devDependencies).filter((name) => packages[`node_modules/${name}`]?.dev)
/** Unpacked size limit of each image in bytes, and expected contents. */
const images = [
  { image: 'server', bytesMax: 380e6, holds: ['pkg:npm/fastify@', 'pkg:deb/debian/tini@'] },
  { image: 'worker', bytesMax: 1.2e9, holds: ['pkg:deb/debian/chromium-headless-shell@', 'pkg:npm/sharp@'] },
  { image: 'worker-stealth', bytesMax: 1.7e9, holds: ['pkg:deb/debian/chromium@', 'pkg:deb/debian/bubblewrap@'] },
] as const
const cluster = await startNodeCluster(t, { count: 1 })
const host = cluster.network.address
const queue = await startClusterQueue({ host })
const held: (() => void)[] = []
const green = `<canvas width=1280 height=900></canvas><script>
  const gl = document.querySelector('canvas').getContext('webgl')
  gl.clearColor(0, 1, 0, 1)
  gl.clear(gl.COLOR_BUFFER_BIT)
</script><style>* { margin: 0 }</style>`
const pages = await startPages({
  '/held-webgl': (_request, response) => {
    held.push(() => response.writeHead(200, { 'content-type': 'text/html' }).end(green))
  },
})
const filter = await startFilter({
  host,
  rules: targetRules(pages.host),
  connectionBytesMax: 1e9,
  tokens: [egressToken],
})
t.teardown(() => Promise.all([queue, pages, filter].map((each) => each[Symbol.asyncDispose]())))
const egress = { host, port: filter.port }

const start = async (name: string, manifest: object) => {
  await cluster.apply(manifest)
  await cluster.kubectl(['wait', `pod/${name}`, '--for=condition=Ready', '--timeout=50s'])
}
const remove = (name: string) => cluster.kubectl(['delete', 'pod', name, '--wait', '--timeout=50s'])

for (const { image, bytesMax, holds } of images) {
  t.test(`${image}: contains only runtime files`, async (t) => {
    const { size } = await stat(`${root}/.tools/images/${image}.tar`)
    t.ok(size <= bytesMax, `${size} bytes, at most ${bytesMax}`)
    await start(image, idlePod(image))
    const run = (command: string) => inPod(cluster, image, command)

    t.equal(await run('shutterfleet --version'), `shutterfleet ${version}\n`)
    t.match(await run('id'), /^uid=10001\(shutterfleet\) gid=10001\(shutterfleet\)/)
    t.match(await run("tr '\\0' ' ' </proc/1/cmdline"), /^\/usr\/bin\/tini -- /)
    t.equal(
      await run('touch /app/x /usr/x 2>/dev/null; find / -xdev -writable -type f ! -path "/proc/*" 2>/dev/null'),
      '',
    )
    t.equal(await run('command -v npm npx curl gcc; find /app/node_modules -name "*.d.ts" -o -name "*.map"'), '')
    const installed = (await run('ls -d /app/node_modules/* /app/node_modules/@*/*')).split('\n')
    t.ok(developersAlone.length > 10)
    for (const name of developersAlone) t.notOk(installed.includes(`/app/node_modules/${name}`), name)
    t.match(await run('ls /app/.tools/block-lists'), /^[\da-f]+\n$/, 'block lists are compiled')

    const sbom = JSON.parse(await run('cat /app/sbom.cdx.json')) as { components: { purl?: string }[] }
    for (const purl of [...holds, `pkg:generic/node@${process.version.slice(1)}`]) {
      t.ok(
        sbom.components.some((each) => each.purl?.startsWith(purl)),
        purl,
      )
    }
    t.match(await run('grep -c . /app/THIRD-PARTY.txt'), /^\d{4,}\n$/, 'licence texts')
    // PID 1 adopts and reaps orphans.
    t.equal(await run("sh -c 'true &'; sleep 0.2; grep -l 'State:.Z' /proc/[0-9]*/status"), '')
    await remove(image)
  })
}

t.test('server: each service loads and reports missing settings', async (t) => {
  await start('server', idlePod('server'))
  const services = ['gateway/main', 'ledger/main', 'webhooks/main', 'controller/main', 'controller/main-operator']
  await Promise.all(
    services.map(async (service) => {
      const printed = await inPod(cluster, 'server', `node services/${service}.js`)
      t.match(printed, /SHUTTERFLEET_(DATABASE|NATS)_URL/, service)
    }),
  )
  t.match(await inPod(cluster, 'server', 'timeout 5 node services/egress/main.js'), /listening/)
  await remove('server')
})

for (const { pool, image } of [
  { pool: 'standard', image: 'worker' },
  { pool: 'stealth', image: 'worker-stealth' },
] as const) {
  t.test(`${image}: captures a page in a locked-down pod`, async (t) => {
    await cluster.apply(queue.secretOf(pool, { name: 'worker' }))
    await start(image, workerManifest(image, { pool, image, egress }))
    const [id] = await queue.send(1, {
      pool,
      parameters: { url: `${pages.url}/held-webgl`, stealth: pool === 'stealth' },
    })
    await eventually(() => held.length > 0, { what: 'the page is requested' })
    const lines = (await inPod(cluster, image, processes)).trim().split('\n')
    for (const answer of held.splice(0)) answer()
    await queue.allEnded(60_000)
    t.match(queue.rows.get(id ?? ''), { results: [{ outcome: 'completed' }] })
    const [[path, picture] = ['', Buffer.of()]] = [...queue.objects].slice(-1)
    t.ok(path.includes(id ?? '-'), 'the image is stored')
    t.match(await sharp(picture).metadata(), { width: 1280 })
    const { channels } = await sharp(picture).extract({ left: 100, top: 100, width: 9, height: 9 }).stats()
    t.strictSame(
      channels.slice(0, 3).map(({ mean }) => mean),
      [0, 255, 0],
      'WebGL draws',
    )

    const worker = lines.find((line) => line.includes('services/worker/main.js')) ?? ''
    t.match(worker, /Uid:10001 .*CapEff:0{16} NoNewPrivs:1 Seccomp:2 /)
    const renderers = lines.filter((line) => line.includes('--type=renderer'))
    t.ok(renderers.length > 0)
    for (const renderer of renderers) {
      // Chromium's sandbox nests renderer namespaces within bwrap's, within the pod's.
      t.match(renderer, /depth:[3-9] /)
      t.match(renderer, /CapEff:0{16} NoNewPrivs:1 Seccomp:2 /)
      const [worlds] = /net:\[\d+\] user:\[\d+\]/.exec(worker) ?? ['none']
      t.notOk(renderer.includes(worlds))
    }

    t.match(await inPod(cluster, image, 'touch /x /app/x'), /'\/x': Read-only file system[^]*'\/app\/x': Read-only/)
    t.match(await inPod(cluster, image, 'ls /var/run/secrets/kubernetes.io'), /No such file/)
    t.match(
      await inPod(cluster, image, 'cat /proc/self/uid_map'),
      /^\s+0\s+[1-9]\d{4,}\s+65536/,
      'root is nobody outside',
    )
    await remove(image)
  })
}

t.test('worker: refuses to start under the container runtime’s default seccomp profile', async (t) => {
  await cluster.apply(
    workerManifest('unprofiled', { pool: 'standard', image: 'worker', egress }, { seccomp: 'RuntimeDefault' }),
  )
  await eventually(
    async () => {
      const { status } = await cluster.get<Pod>('pod', 'unprofiled')
      return status.containerStatuses?.[0]?.lastState.terminated !== undefined
    },
    { withinMs: 60_000, what: 'the worker ends' },
  )
  t.match(
    await cluster.kubectl(['logs', 'unprofiled', '--previous']),
    /SHUTTERFLEET_WORKER_NETWORK_ISOLATION = namespace, not available on this machine/,
  )
  await remove('unprofiled')
})
