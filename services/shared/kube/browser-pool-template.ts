import { Type } from 'typebox'
import { prefix } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { enumSchema, text } from '#shared/schema/fields.ts'
import { apiGroup } from './names.ts'
import { int32, listMap, mapOf, partial, type Rule, withRules } from './schema-parts.ts'

const nameChars = 253
const objectName = (description: string) =>
  text(description, { maxLength: nameChars, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' })

const quoted = (words: readonly string[]) => `[${words.map((each) => `'${each}'`).join(', ')}]`

const qualifiedNamesRule: Rule = {
  rule: 'self.all(key, !format.qualifiedName().validate(key).hasValue())',
  message:
    "each name must be one of Kubernetes, such as team or example.com/team: at most 63 of A-Z a-z 0-9 - _ . after the '/'",
}
const labelValue = { type: 'string', maxLength: 63, pattern: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$' }

const annotationValue = { type: 'string', maxLength: 4096 }

/**
 * Prefix of names that mean something only to people and reports. Other labels may be selected by a Service, a network policy or
 * a webhook that injects tokens and containers; other annotations are orders to the node, its network or such a webhook.
 */
const freePrefix = `custom.${apiGroup}/`
const labelPrefixes = [freePrefix]
const annotationPrefixes = [
  freePrefix,
  'prometheus.io/',
  'kubectl.kubernetes.io/restartedAt',
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
  'karpenter.sh/do-not-disrupt',
]

/** Allows only names with these prefixes: `propertyNames` is checked by the controller, the rule by the API server. */
const onlyNames = (prefixes: readonly string[]) => ({
  propertyNames: { pattern: `^(${prefixes.map((each) => each.replaceAll('.', String.raw`\.`)).join('|')})` },
  ...withRules(qualifiedNamesRule, {
    rule: `self.all(key, ${quoted(prefixes)}.exists(prefix, key.startsWith(prefix)))`,
    message: `only names that begin with these are allowed: ${prefixes.join(', ')}`,
  }),
})

const { blockLists, shareBrowsers, recycleCaptures, recycleSeconds, heightMax, pixelsMax } = workerSettings
const { browserMemoryMax, captureBytesMax, captureConnectionsMax } = workerSettings
/** What a pool may tune. Other settings name programs, files, secrets, or where the worker connects. */
const poolSettings = [
  commonSettings.logLevel,
  blockLists,
  shareBrowsers,
  recycleCaptures,
  recycleSeconds,
  heightMax,
  pixelsMax,
  browserMemoryMax,
  captureBytesMax,
  captureConnectionsMax,
]

/** Plain numbers, or texts that may have a unit. */
const quantities = (description: string) =>
  mapOf<number | string>(
    {
      'x-kubernetes-int-or-string': true,
      maxLength: 32,
      pattern: '^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
    },
    { description, maxProperties: 10 },
  )

const resources = partial(
  {
    requests: quantities('What the scheduler reserves for a worker, such as cpu, memory, ephemeral-storage.'),
    limits: quantities(
      'Most that a worker may use. Equal requests and limits of memory keep it from being evicted by others.',
    ),
  },
  {
    description:
      'CPU, memory and disk of a worker. Default: requests of 500m for each slot, 300 MiB and 400 MiB more for each slot, 128 MiB of disk and 128 MiB more for each slot; limits of 512 MiB and 3 GiB more for each slot, 256 MiB of disk and 1 GiB more for each slot. A value replaces all of these.',
  },
)

const variable = Type.Object({
  name: text('Name of the variable.', { maxLength: 200, minLength: 1, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  value: text('Its value.', { maxLength: 4096 }),
})

const setting = Type.Object({
  name: enumSchema(
    poolSettings.map(({ name }) => prefix + name),
    'Name of the setting.',
  ),
  value: text('Its value.', { maxLength: 4096 }),
})

const toleration = partial({
  key: text('Name of the taint; without it every taint.', { maxLength: 317 }),
  operator: enumSchema(['Exists', 'Equal'], 'How `value` is compared; default Equal.'),
  value: text('Value of the taint, with the operator Equal.', { maxLength: 63 }),
  effect: enumSchema(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], 'Effect of the taint; without it every effect.'),
  tolerationSeconds: Type.Integer({
    format: 'int64',
    description: 'How long a taint of the effect NoExecute is tolerated; without it permanently.',
  }),
})

const spread = Type.Object({
  topologyKey: text('Label of nodes whose values are the domains, such as topology.kubernetes.io/zone.', {
    maxLength: 317,
    minLength: 1,
  }),
  maxSkew: int32('Largest difference in workers between two domains.', { minimum: 1, maximum: 1000, default: 1 }),
  whenUnsatisfiable: enumSchema(
    ['ScheduleAnyway', 'DoNotSchedule'],
    'What happens to a worker that would exceed `maxSkew`.',
    { default: 'ScheduleAnyway' },
  ),
  minDomains: Type.Optional(
    int32('Fewest domains over which workers are spread, with DoNotSchedule.', { minimum: 1, maximum: 1000 }),
  ),
})

const ownVolumes = ['secrets', 'tmp', 'shm']
const ownContainer = 'worker'

const volume = Type.Object({
  name: text('Name of the volume.', { maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
  configMap: Type.Optional(
    Type.Object(
      { name: objectName('Name of a ConfigMap of this namespace.') },
      { description: 'Files of a ConfigMap.' },
    ),
  ),
  emptyDir: Type.Optional(
    Type.Object(
      {
        medium: Type.Optional(enumSchema(['Memory'], 'Memory instead of disk.')),
        sizeLimit: text('Largest size, such as 100Mi.', { maxLength: 32, pattern: '^[0-9]+[KMG]i$' }),
      },
      { description: 'A directory that is created empty with the pod.' },
    ),
  ),
})
const oneSourceRule: Rule = {
  rule: 'self.all(volume, has(volume.configMap) != has(volume.emptyDir))',
  message: 'each volume must set exactly one of configMap and emptyDir',
}
const ownVolumesRule: Rule = {
  rule: `self.all(volume, !(volume.name in ${quoted(ownVolumes)}))`,
  message: `the controller sets these volumes itself: ${ownVolumes.join(', ')}`,
}

const volumeMounts = (description: string, ...rules: readonly Rule[]) =>
  listMap(
    Type.Object({
      name: text('Name of a volume of the template.', { maxLength: 63 }),
      mountPath: text('Folder in the container; no part of the path begins with a dot.', {
        maxLength: 512,
        pattern: '^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$',
      }),
      readOnly: Type.Optional(Type.Boolean({ description: 'Whether the mount is read-only.' })),
    }),
    { keys: ['mountPath'], maxItems: 10, description, ...withRules(ownVolumeMountsRule, ...rules) },
  )
/** The volume `secrets` holds the workers' keys, which no sidecar may read. */
const ownVolumeMountsRule: Rule = {
  rule: `self.all(mount, !(mount.name in ${quoted(ownVolumes)}))`,
  message: `these volumes are reserved for the controller and cannot be mounted: ${ownVolumes.join(', ')}`,
}

/** Folders from which the worker executes nothing. */
const workerMountParents = ['/mnt', '/usr/share/fonts', '/usr/local/share', '/etc/fonts']
const workerMountsRule: Rule = {
  rule: `self.all(mount, ${quoted(workerMountParents)}.exists(path, mount.mountPath.startsWith(path + '/')))`,
  message: `volumes are mounted in the worker only below ${workerMountParents.join(', ')}`,
}

const texts = (description: string) =>
  Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 50, 'x-kubernetes-list-type': 'atomic', description })

const sidecar = Type.Object({
  name: text('Name of the container.', { maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
  image: text('Its image.', { maxLength: 512, minLength: 1, pattern: '^[A-Za-z0-9][-A-Za-z0-9_.:/@]*$' }),
  command: Type.Optional(texts("Program instead of the image's entry point.")),
  args: Type.Optional(texts('Arguments of the program.')),
  env: Type.Optional(
    listMap(variable, { keys: ['name'], maxItems: 50, description: 'Its variables; nothing secret.' }),
  ),
  resources: Type.Optional(resources),
  volumeMounts: Type.Optional(volumeMounts('Where volumes of the template are mounted in it.')),
})
const ownContainerRule: Rule = {
  rule: `self.all(sidecar, sidecar.name != '${ownContainer}')`,
  message: `the controller sets the container ${ownContainer} itself`,
}

/** Not `nameservers` and `searches`: who answers the worker's queries receives its credentials for NATS and egress. */
const dnsConfig = partial(
  {
    options: Type.Array(
      Type.Object({
        name: enumSchema(['ndots', 'timeout', 'attempts', 'rotate', 'single-request', 'use-vc'], 'Name of the option.'),
        value: Type.Optional(text('Its value.', { maxLength: 63 })),
      }),
      { maxItems: 20, 'x-kubernetes-list-type': 'atomic', description: 'Options of the resolver.' },
    ),
  },
  { description: "Options of the pods' resolver. Host names of pages are resolved by egress alone." },
)

/**
 * Settings of a pool's pods for platform teams. They exclude isolation (the controller sets user, capabilities and
 * tokens) and volumes of Secrets, claims and nodes: permission to write a pool does not imply permission to read
 * those, and workers share nothing. Variables, labels, annotations and DNS are lists of what is allowed: an installation has
 * more that reacts to them than this project can know.
 */
export const podTemplate = partial(
  {
    image: text('Image of the workers; default: that of the installed release.', {
      maxLength: 512,
      minLength: 1,
      pattern: '^[A-Za-z0-9][-A-Za-z0-9_.:/@]*$',
    }),
    imagePullPolicy: enumSchema(['IfNotPresent', 'Always', 'Never'], 'When nodes fetch the image.'),
    imagePullSecrets: listMap(Type.Object({ name: objectName('Name of a Secret of this namespace.') }), {
      keys: ['name'],
      maxItems: 10,
      description: 'Secrets with which nodes fetch the image.',
    }),
    resources,
    env: listMap(setting, {
      keys: ['name'],
      maxItems: 50,
      description: 'Further settings of the workers (docs/configuration.md).',
    }),
    labels: mapOf<string>(labelValue, {
      description: `Further labels of the pods. Allowed: ${labelPrefixes.join(', ')}…`,
      maxProperties: 20,
      ...onlyNames(labelPrefixes),
    }),
    annotations: mapOf<string>(annotationValue, {
      description: `Annotations of the pods. Allowed: ${annotationPrefixes.map((each) => each.replace(/\/$/, '/…')).join(', ')}.`,
      maxProperties: 20,
      ...onlyNames(annotationPrefixes),
    }),
    nodeSelector: mapOf<string>(labelValue, {
      description: 'Labels that a node must have.',
      maxProperties: 20,
      ...withRules(qualifiedNamesRule),
    }),
    tolerations: Type.Array(toleration, {
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      description: 'Taints of nodes that the workers tolerate.',
    }),
    // Kubernetes' own type, a dozen levels deep; the API server checks it when the pods are created.
    affinity: Type.Unsafe<object>({
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      description: 'Which nodes and neighbours are required, preferred or avoided: `affinity` of a Pod.',
    }),
    topologySpreadConstraints: listMap(spread, {
      keys: ['topologyKey', 'whenUnsatisfiable'],
      maxItems: 5,
      description: 'How the workers of the pool are spread over zones or nodes.',
      ...withRules({
        rule: "self.all(each, !has(each.minDomains) || each.whenUnsatisfiable == 'DoNotSchedule')",
        message: 'minDomains needs whenUnsatisfiable DoNotSchedule',
      }),
    }),
    schedulerName: objectName('Scheduler that places the pods; without it the default one.'),
    volumes: listMap(volume, {
      keys: ['name'],
      maxItems: 10,
      description: 'Further volumes of the pods.',
      ...withRules(oneSourceRule, ownVolumesRule),
    }),
    volumeMounts: volumeMounts(
      `Where volumes of the template are mounted in the worker: below ${workerMountParents.join(', ')}. Browsers see what is mounted below system folders, and without namespaces (isolation \`flags-only\`) everything.`,
      workerMountsRule,
    ),
    sidecars: listMap(sidecar, {
      keys: ['name'],
      maxItems: 5,
      description:
        "Further containers, which start before the worker and end after it, with the worker's privileges: init containers with `restartPolicy: Always`.",
      ...withRules(ownContainerRule),
    }),
    dnsPolicy: enumSchema(
      ['ClusterFirst', 'Default'],
      "Where the pods resolve names: in the cluster, or by their node's resolver.",
    ),
    dnsConfig,
    priorityClassName: objectName('Priority class of the pods.'),
    runtimeClassName: objectName('Runtime class of the pods, such as one of gVisor.'),
  },
  { description: "Template of the workers' pods. A change replaces them one after the other.", default: {} },
)
