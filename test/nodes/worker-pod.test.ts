import sharp from 'sharp'
import t from 'tap'
import { startPages } from '#test/helpers/browser-host.ts'
import { egressToken, startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { rulesOf, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNodeCluster } from '#test/helpers/nodes/node-cluster.ts'
import { inPod, workerManifest } from '#test/helpers/nodes/worker-pods.ts'

type Pod = {
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly restartCount: number
      readonly lastState: { readonly terminated?: { readonly exitCode: number } }
    }[]
  }
}

const cluster = await startNodeCluster(t, { count: 1, images: ['worker', 'worker-stealth'] })
const host = cluster.network.address
const queue = await startClusterQueue({ host })
const pages = await startPages()
const filter = await startFilter({ host, rules: rulesOf(pages.host), connectionBytesMax: 1e9, tokens: [egressToken] })
t.teardown(() => Promise.all([queue, pages, filter].map((each) => each[Symbol.asyncDispose]())))
const egress = { host, port: filter.port }

const start = async (name: string, manifest: object) => {
  await cluster.apply(manifest)
  await cluster.kubectl(['wait', `pod/${name}`, '--for=condition=Ready', '--timeout=50s'])
}
const remove = (name: string) => cluster.kubectl(['delete', 'pod', name, '--wait', '--timeout=50s'])

/** What the processes of a pod are, one line each: user, seccomp mode, number of namespaces' process ids, and command. */
const processes = `for each in /proc/[0-9]*; do
  awk '/^(Uid|Seccomp|CapEff|NoNewPrivs):/ { printf "%s%s ", $1, $2 } /^NSpid:/ { printf "depth:%d ", NF - 1 }' $each/status
  readlink $each/ns/net $each/ns/user | tr '\\n' ' '
  tr '\\0' ' ' <$each/cmdline | cut -c 1-300
done`

for (const { pool, image } of [
  { pool: 'standard', image: 'worker' },
  { pool: 'stealth', image: 'worker-stealth' },
] as const) {
  t.test(`${image}: captures a page in a locked-down pod`, async (t) => {
    await cluster.apply(queue.secretOf(pool, { name: 'worker' }))
    await start(image, workerManifest(image, { pool, image, egress }))
    const [id] = await queue.send(1, { pool, parameters: { url: `${pages.url}/plain` } })
    await queue.allEnded(60_000)
    t.match(queue.rows.get(id ?? ''), { results: [{ outcome: 'completed' }] })
    const [[path, picture] = ['', Buffer.of()]] = [...queue.objects].slice(-1)
    t.ok(path.includes(id ?? '-'), 'the image is stored')
    t.match(await sharp(picture).metadata(), { width: 1280 })

    const lines = (await inPod(cluster, image, processes)).trim().split('\n')
    const worker = lines.find((line) => line.includes('services/worker/main.ts')) ?? ''
    t.match(worker, /Uid:10001 .*CapEff:0{16} NoNewPrivs:1 Seccomp:2 /)
    const renderers = lines.filter((line) => line.includes('--type=renderer'))
    t.ok(renderers.length > 0)
    for (const renderer of renderers) {
      // By Chromium's sandbox: namespaces of its own within those of its browser, of bwrap's, in the pod's.
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

t.test('worker: refuses to start under the runtime’s own profile', async (t) => {
  await cluster.apply(workerManifest('unprofiled', { pool: 'standard', image: 'worker', egress }, { seccomp: '' }))
  await eventually(
    async () => {
      const { status } = await cluster.get<Pod>('pod', 'unprofiled')
      return status.containerStatuses?.[0]?.lastState.terminated !== undefined
    },
    { withinMs: 60_000, what: 'the worker ends' },
  )
  t.match(
    await cluster.kubectl(['logs', 'unprofiled', '--previous']),
    /SHUTTERFLEET_WORKER_NETWORK_ISOLATION = namespace, which cannot be had here/,
  )
  await remove('unprofiled')
})
