import { stringify } from 'yaml'
import { readProductVersion } from '#shared/config/product-version.ts'
import { browserPools, browserPoolSpec, browserPoolStatus } from '#shared/kube/browser-pool.ts'
import { structuralSchema } from './structural-schema.ts'

const intro = `# The kind BrowserPool. Generated from services/shared/kube/browser-pool.ts by \`make docs\`; \`make check\` fails where it
# differs. Fields and rules for readers: docs/browser-pool.md.
`

const column = (name: string, type: string, jsonPath: string, description: string) => ({
  name,
  type,
  jsonPath,
  description,
})

/** What \`kubectl get bp\` shows; those of priority 1 only with \`-o wide\`. */
const columns = [
  column('Ready', 'integer', '.status.readyReplicas', 'Workers that take captures'),
  column('Desired', 'integer', '.status.desiredReplicas', 'Workers that the work needs within the bounds'),
  column('Busy', 'integer', '.status.busySlots', 'Captures that are being served'),
  column('Queue', 'integer', '.status.queue', 'Captures that have not begun'),
  column('Wait', 'integer', '.status.oldestWaitSeconds', 'Seconds that the oldest of them has waited'),
  column('Reason', 'string', '.status.reason', 'Why the pool has its size'),
  { ...column('Pool', 'string', '.spec.pool', 'Kind of browser'), priority: 1 },
  { ...column('Min', 'integer', '.spec.autoscaling.minReplicas', 'Fewest workers'), priority: 1 },
  {
    ...column('Scheduled', 'integer', '.status.scheduledMinReplicas', 'Fewest workers by a schedule in force'),
    priority: 1,
  },
  { ...column('Max', 'integer', '.spec.autoscaling.maxReplicas', 'Most workers'), priority: 1 },
  column('Age', 'date', '.metadata.creationTimestamp', 'Time since it was made'),
]

const schema = {
  description: 'A pool of browser workers, sized by its queue.',
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: browserPoolSpec,
    status: browserPoolStatus,
  },
}

/** The text of crds/browserpools.shutterfleet.dev.yaml. */
export const crdPage = (): string => {
  const { apiVersion, kind, plural } = browserPools
  const [group = '', version = ''] = apiVersion.split('/')
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { [`${group}/version`]: readProductVersion() } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: ['bp'] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          schema: { openAPIV3Schema: structuralSchema(schema) },
        },
      ],
    },
  }
  return intro + stringify(crd, { version: '1.1', lineWidth: 100, aliasDuplicateObjects: false })
}
