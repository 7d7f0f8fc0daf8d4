import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import {
  cleanTemplate,
  droppedTemplate,
  fullSpec,
  fullStatus,
  hostileTemplates,
  ruleCases,
} from '#test/fixtures/browser-pools.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { boundsOf, joinKeys, replaceAt, listRules, type Schema, withoutBounds } from '#test/helpers/schema-bounds.ts'

const root = join(import.meta.dirname, '..', '..')
const crd = await readFile(join(root, 'crds', 'browserpools.shutterfleet.dev.yaml'), 'utf8')
const crdKind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
const crdName = 'browserpools.shutterfleet.dev'
const cluster = await startCluster(t, { controllerManager: false, kwok: false })

type Properties = { spec: Schema; status: Schema }
type Definition = { spec: { versions: [{ schema: { openAPIV3Schema: { properties: Properties } } }] } }
type Conditions = { status: { conditions: { type: string; status: string }[] } }

const named = (name: string, parts: object) => ({
  apiVersion: browserPools.apiVersion,
  kind: browserPools.kind,
  metadata: { name, namespace: 'default' },
  ...parts,
})
const poolOf = (name: string) => cluster.get<BrowserPool>('bp', name)
const make = async (name: string, spec: object = { pool: 'standard' }) => {
  await cluster.apply(named(name, { spec }))
  return poolOf(name)
}
const patch = (name: string, body: object, ...args: string[]) =>
  cluster.kubectl(['patch', 'bp', name, '--type=merge', '-p', JSON.stringify(body), ...args])
const tryCrd = (text: string) => cluster.kubectl(['apply', '--server-side', '--dry-run=server', '-f', '-'], text)
const schemaOf = async (): Promise<Properties> =>
  (await cluster.get<Definition>('crd', crdName)).spec.versions[0].schema.openAPIV3Schema.properties
const numbered = (index: number) => `case-${index}`

/**
 * Sends numbered objects to the API server as one dry run. Returns the errors of the rejected ones by name;
 * throws if kubectl prints any other error.
 */
const refusals = async (objects: readonly object[], ...args: string[]): Promise<Map<string, string>> => {
  const items = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  const refused = new Map<string, string>()
  try {
    await cluster.kubectl([...args, '--dry-run=server', '--validate=ignore', '-f', '-'], items)
  } catch (error) {
    const rest = (error as { stderr: string }).stderr.replaceAll(refusal, (_, name: string, reason: string) => {
      refused.set(name, reason)
      return ''
    })
    if (rest !== '') throw error
  }
  return refused
}
const refusal = /^(?:Error from server .*|The BrowserPool )"(case-\d+)" is invalid: ([^]*?)\n(?=Error|The|$(?!\n))/gm

/** The same objects as a kind with the same fields but without bounds and rules. */
const asLoose = (objects: readonly object[]) =>
  objects.map((each) => ({ ...each, apiVersion: 'loose.example.com/v1beta1' }))

await t.test('browser pool: the definition is accepted without a warning and served', async (t) => {
  await cluster.kubectl(['apply', '--server-side', '--warnings-as-errors', '-f', '-'], crd)
  await cluster.applyCrd(crd)
  const { status } = await cluster.get<Conditions>('crd', crdName)
  t.strictSame(status.conditions.map(({ type, status: is }) => `${type}=${is}`).toSorted(), [
    'Established=True',
    'NamesAccepted=True',
  ])

  const { spec } = await cluster.get<{ spec: object }>('crd', crdName)
  const loose = { ...crdKind, metadata: { name: crdName }, spec: withoutBounds(spec) }
  await cluster.applyCrd(JSON.stringify(loose).replaceAll('shutterfleet.dev', 'loose.example.com'))
})

t.test('browser pool: the API server rejects invalid variants of the definition', async (t) => {
  const broken = [
    ['maxProperties: 20', 'minProperties: 0', /estimated rule cost exceeds budget/],
    ['self.minReplicas <= self.maxReplicas', 'self.minReplicas <= self.mostReplicas', /undefined field 'mostReplicas'/],
    ['default: 30', 'default: 0', /should be greater than or equal to 1/],
    ['type: boolean', 'nullable: true', /must not be empty for specified object fields/],
    ['statusReplicasPath: .status.replicas', 'statusReplicasPath: .spec.count', /should be a json path under .status/],
    ['- whenUnsatisfiable', '- whenSatisfiable', /must all be names of item properties/],
  ] as const
  for (const [from, to, error] of broken) {
    t.equal(crd.includes(from), true, from)
    await t.rejects(tryCrd(crd.replace(from, to)), error, to)
  }
  await tryCrd(crd)
})

t.test('browser pool: omitted fields have their defaults', async (t) => {
  const { spec, status } = await make('plain')
  const autoscaling = {
    enabled: true,
    minReplicas: 1,
    maxReplicas: 4,
    slots: 1,
    buffer: 0,
    reservedSlots: 0,
    prediction: true,
    queueWaitMs: 2000,
  }
  const scaleDown = { stabilizationWindowSeconds: 30, periodSeconds: 5 }
  const rollingUpdate = { maxSurge: '25%', maxUnavailable: 0 }
  const jobs = { max: 20, spares: 0, spareSeconds: 600, ttlSecondsAfterFinished: 120 }
  t.strictSame(spec, {
    pool: 'standard',
    replicas: 1,
    paused: false,
    autoscaling,
    scaleDown,
    rollingUpdate,
    terminationGracePeriodSeconds: 100,
    jobs,
    template: {},
  })
  t.equal(status, undefined)
  const some = await make('some', { pool: 'stealth', autoscaling: { maxReplicas: 9 }, scaleDown: { periodSeconds: 1 } })
  t.strictSame(some.spec.autoscaling, { ...autoscaling, maxReplicas: 9 })
  t.strictSame(some.spec.scaleDown, { ...scaleDown, periodSeconds: 1 })
})

t.test('browser pool: the API server prunes and changes no given field', async (t) => {
  t.strictSame((await make('full', fullSpec)).spec, fullSpec)
})

const applyExample = async (page: string) => {
  const text = await readFile(join(root, 'docs', page), 'utf8')
  await cluster.apply(/```yaml\n([^]*?)```/.exec(text)?.[1] ?? '')
}

t.test('browser pool: the examples of the documentation are accepted', async (t) => {
  await applyExample('browser-pool.md')
  t.match(await poolOf('standard'), { spec: { autoscaling: { maxReplicas: 20, enabled: true } } })
  await applyExample('autoscaling.md')
  t.match(await poolOf('standard'), {
    spec: { autoscaling: { schedules: [{ timeZone: 'Europe/Berlin' }, { timeZone: 'UTC' }] } },
  })
})

t.test('browser pool: a schedule with an unknown time zone is rejected with the name of the field', async (t) => {
  const schedule = { start: '0 8 * * *', end: '0 18 * * *', timeZone: 'Mars/Base', minReplicas: 2 }
  const mars = named('mars', { spec: { pool: 'standard', autoscaling: { schedules: [schedule] } } })
  await t.rejects(cluster.apply(mars), /spec\.autoscaling\.schedules\[0\]\.timeZone: .*Mars\/Base/)
})

t.test('browser pool: each validation rule is documented', async (t) => {
  const page = await readFile(join(root, 'docs', 'browser-pool.md'), 'utf8')
  for (const rule of listRules((await schemaOf()).spec, 'spec')) {
    const [, path, message] = /^(?:spec\.)?(\S+): (.*)$/.exec(rule) ?? []
    t.ok(page.includes(`| \`${path}\` | ${message} |`), rule)
  }
})

t.test('mount paths: paths that are not normalized are rejected, and sidecars may mount their own /tmp', async (t) => {
  const volumes = [{ name: 'a', emptyDir: { sizeLimit: '1Mi' } }]
  const mounted = (worker: string, sidecar: string) => ({
    volumes,
    volumeMounts: [{ name: 'a', mountPath: worker }],
    sidecars: [{ name: 'a', image: 'a', volumeMounts: [{ name: 'a', mountPath: sidecar }] }],
  })
  const out = ['/mnt/../tmp', '/mnt/./a', '/mnt//a', '//mnt/a', '/mnt/a/', '/']
  const templates = [
    mounted('/usr/share/fonts/mine', '/tmp'),
    ...out.flatMap((path) => [mounted(path, '/a'), mounted('/mnt/a', path)]),
  ]
  const objects = templates.map((template, index) => named(numbered(index), { spec: { pool: 'standard', template } }))
  const refused = await refusals(objects, 'create')
  t.strictSame(
    [...refused.keys()],
    objects.slice(1).map((each) => each.metadata.name),
  )
  for (const reason of refused.values()) t.match(reason, /volumeMounts\[0\]\.mountPath in body should match/)
})

t.test('browser pool: an unknown field is rejected', async (t) => {
  const misspelt = named('misspelt', { spec: { pool: 'standard', autoscaling: { maxReplica: 9 } } })
  await t.rejects(cluster.apply(misspelt), /field not declared in schema|unknown field/)
})

t.test('browser pool: a violated validation rule is rejected with its field and message', async (t) => {
  const objects = ruleCases.map(([, , , spec], index) =>
    named(numbered(index), { spec: { pool: 'standard', ...spec } }),
  )
  const refused = await refusals(objects, 'create')
  for (const [index, [, change, message]] of ruleCases.entries())
    t.match(refused.get(numbered(index)), new RegExp(`^spec\\.${change}: Invalid value: (".*": )?`), message)
  for (const [index, [, , message]] of ruleCases.entries())
    t.ok(refused.get(numbered(index))?.endsWith(message), message)
  t.strictSame(await refusals(asLoose(objects), 'create'), new Map(), 'nothing else is wrong with them')

  const known = new Set(ruleCases.map(([at, , message]) => `spec.${at}: ${message}`))
  const transitions = [
    'spec: the queue sizes the pool: replicas have no effect unless autoscaling.enabled is false',
    'spec.pool: pool cannot be changed; make another BrowserPool',
  ]
  t.strictSame(
    listRules((await schemaOf()).spec, 'spec').toSorted(),
    [...known, ...transitions].toSorted(),
    'each rule has a test case',
  )
})

t.test('browser pool: a template that would gain what the workers have is rejected', async (t) => {
  const objects = hostileTemplates.map(([, template], index) =>
    named(numbered(index), { spec: { pool: 'standard', template } }),
  )
  const refused = await refusals(objects, 'create')
  for (const [index, [what]] of hostileTemplates.entries())
    t.match(refused.get(numbered(index)), /^\[?spec\.template\./, what)
})

t.test('browser pool: fields of pods that a template does not have are dropped', async (t) => {
  const dropped = named('dropped', { spec: { pool: 'standard', template: droppedTemplate } })
  await cluster.kubectl(['create', '--validate=ignore', '-f', '-'], JSON.stringify(dropped))
  t.strictSame((await poolOf('dropped')).spec.template, cleanTemplate)
})

t.test('browser pool: a spec out of bounds is rejected with the name of the field', async (t) => {
  const bounds = boundsOf((await schemaOf()).spec, { spec: fullSpec }, ['spec'])
  t.ok(bounds.length > 60)
  const objects = bounds.map(({ keys, bad }, index) => named(numbered(index), replaceAt({ spec: fullSpec }, keys, bad)))
  const refused = await refusals(objects, 'create')
  for (const [index, { keys, keyword }] of bounds.entries())
    t.match(refused.get(numbered(index)), joinKeys(keys), `${joinKeys(keys)} ${keyword}`)
  const free = objects.filter((_, index) => bounds[index]?.keyword !== 'required')
  t.strictSame(await refusals(asLoose(free), 'create'), new Map(), 'nothing else is wrong with them')
})

t.test('browser pool: a status out of bounds is rejected with the name of the field', async (t) => {
  const bounds = boundsOf((await schemaOf()).status, { status: fullStatus }, ['status'])
  t.ok(bounds.length > 20)
  const spec = { pool: 'standard' }
  const objects = bounds.map(({ keys, bad }, index) => ({
    ...named(numbered(index), { spec }),
    ...replaceAt({ status: fullStatus }, keys, bad),
  }))
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'List',
    items: bounds.map((_, index) => named(numbered(index), { spec })),
  })
  const refused = await refusals(objects, 'replace', '--subresource=status')
  for (const [index, { keys, keyword }] of bounds.entries())
    t.match(refused.get(numbered(index)), joinKeys(keys), `${joinKeys(keys)} ${keyword}`)
  const free = objects.filter((_, index) => bounds[index]?.keyword !== 'required')
  t.strictSame(await refusals(asLoose(free), 'create'), new Map(), 'nothing else is wrong with them')
})

t.test('browser pool: spec.pool is immutable', async (t) => {
  await make('kept')
  const changed = patch('kept', { spec: { pool: 'stealth' } })
  await t.rejects(changed, /spec.pool: Invalid value.*: pool cannot be changed; make another BrowserPool/)
  await patch('kept', { spec: { pool: 'standard', paused: true } })
  t.match(await poolOf('kept'), { spec: { pool: 'standard', paused: true } })
})

t.test('browser pool: updates of the status do not change the spec, nor the reverse', async (t) => {
  const before = await make('apart')
  await patch('apart', { status: fullStatus, spec: { replicas: 9 } }, '--subresource=status')
  const updated = await poolOf('apart')
  t.strictSame(updated.status, fullStatus)
  t.strictSame([updated.spec, updated.metadata.generation], [before.spec, before.metadata.generation])

  await patch('apart', { status: { queue: 0 }, spec: { paused: true } })
  const changed = await poolOf('apart')
  t.strictSame(changed.status, fullStatus)
  t.equal(changed.metadata.generation, before.metadata.generation + 1)
})

t.test('browser pool: two conditions of the same type are rejected', async (t) => {
  await make('twice')
  const [one] = fullStatus.conditions ?? []
  const twice = { conditions: [one, { ...one, status: 'False' }] }
  await t.rejects(patch('twice', { status: twice }, '--subresource=status'), /Duplicate value/)
})

const byReplicas = { pool: 'standard', autoscaling: { enabled: false } }

t.test(
  'scale subresource: replicas are rejected while autoscaling is enabled, and accepted when disabled in one change',
  async (t) => {
    await make('queue-sized')
    const scaled = cluster.kubectl(['scale', 'bp', 'queue-sized', '--replicas=3'])
    await t.rejects(scaled, /spec.replicas: .*the queue sizes the pool: replicas have no effect/)
    await patch('queue-sized', { spec: { replicas: 3, autoscaling: { enabled: false } } })
    await cluster.kubectl(['scale', 'bp', 'queue-sized', '--replicas=4'])
    t.equal((await poolOf('queue-sized')).spec.replicas, 4)
  },
)

t.test('replicas: can be removed while autoscaling is enabled', async (t) => {
  await make('left-over', { ...byReplicas, replicas: 3 })
  await patch('left-over', { spec: { autoscaling: { enabled: true } } })
  await patch('left-over', { spec: { replicas: null } })
  t.equal((await poolOf('left-over')).spec.replicas, 1)
})

t.test('scale subresource: takes over the field ownership of replicas from a server-side apply', async (t) => {
  const applied = (spec: object) =>
    cluster.kubectl(
      ['apply', '--server-side', '--field-manager=gitops', '-f', '-'],
      JSON.stringify(named('owned', { spec: { ...byReplicas, ...spec } })),
    )
  await applied({ replicas: 2 })
  await cluster.kubectl(['scale', 'bp', 'owned', '--replicas=5'])
  await t.rejects(applied({ replicas: 2 }), /conflict.*\.spec\.replicas/s, 'the manifest would reset the size')
  await applied({})
  t.equal((await poolOf('owned')).spec.replicas, 5, 'a manifest without replicas does not change the size')
  await cluster.kubectl(['scale', 'bp', 'owned', '--replicas=6'])
  t.equal((await poolOf('owned')).spec.replicas, 6)
})

t.test('browser pool: kubectl scales it within its bounds', async (t) => {
  await make('scaled', byReplicas)
  await patch('scaled', { status: fullStatus }, '--subresource=status')
  await cluster.kubectl(['scale', 'bp', 'scaled', '--replicas=7'])
  t.equal((await poolOf('scaled')).spec.replicas, 7)
  const path = `/apis/${browserPools.apiVersion}/namespaces/default/${browserPools.plural}/scaled/scale`
  const { selector } = fullStatus
  t.match(JSON.parse(await cluster.kubectl(['get', '--raw', path])), {
    spec: { replicas: 7 },
    status: { replicas: 3, selector },
  })
  const tooMany = cluster.kubectl(['scale', 'bp', 'scaled', '--replicas=1001'])
  await t.rejects(tooMany, /spec.replicas in body should be less than or equal to 1000/)
})

t.test('browser pool: kubectl get prints its columns', async (t) => {
  await make('shown')
  const line = async (...args: string[]) =>
    (await cluster.kubectl(['get', 'bp', 'shown', ...args]))
      .trim()
      .split(/\n/)
      .map((each) => each.trim().split(/\s{2,}/))
  t.match(await line(), [
    ['NAME', 'READY', 'DESIRED', 'BUSY', 'QUEUE', 'WAIT', 'REASON', 'AGE'],
    ['shown', /^\d+s$/],
  ])
  await patch('shown', { status: fullStatus }, '--subresource=status')
  t.match(await line(), [{}, ['shown', '2', '4', '5', '17', '12', 'backlog', /^\d+s$/]])
  t.match(await line('-o', 'wide'), [
    ['NAME', 'READY', 'DESIRED', 'BUSY', 'QUEUE', 'WAIT', 'REASON', 'POOL', 'MIN', 'SCHEDULED', 'MAX', 'AGE'],
    ['shown', '2', '4', '5', '17', '12', 'backlog', 'standard', '1', '3', '4', /^\d+s$/],
  ])
})

t.test('browser pool: kubectl explain describes its fields', async (t) => {
  const text = await cluster.kubectl(['explain', 'bp.spec.autoscaling'])
  t.match(text, /minReplicas\s+<integer>\s+Fewest workers/)
  t.notMatch(text, /-required-/)
})

t.test('browser pool: an existing pool beyond a new bound remains valid until that field is changed', async (t) => {
  const untried = () =>
    cluster.kubectl(
      ['create', '--dry-run=server', '-f', '-'],
      JSON.stringify(named('new', { spec: { pool: 'standard', replicas: 2000 } })),
    )
  await cluster.applyCrd(crd.replace('maximum: 1000', 'maximum: 5000'))
  await eventually(async () => (await untried()) !== '', { what: 'the wider bound in force' })
  await make('old', { ...byReplicas, replicas: 2000 })
  await cluster.applyCrd(crd)
  await eventually(async () => (await untried().catch(() => 'refused')) === 'refused', { what: 'the bound in force' })

  await patch('old', { spec: { paused: true } })
  await patch('old', { status: fullStatus }, '--subresource=status')
  await t.rejects(patch('old', { spec: { replicas: 3000 } }), /less than or equal to 1000/)
  await patch('old', { spec: { replicas: 5 } })
})
