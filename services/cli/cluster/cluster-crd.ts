import { readFile } from 'node:fs/promises'
import { kinds } from '#cli/cluster-doctor/objects.ts'
import type { Command } from '#cli/command/command.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { withCluster } from './cluster-api.ts'

type Definition = KubeObject & { readonly metadata: { readonly name: string }; readonly spec: object }

/** `cluster crd`: updates an installed CustomResourceDefinition to this release's, which Helm does not do. */
export const clusterCrd: Command = {
  usage: 'cluster crd FILE',
  summary: "updates a cluster's CustomResourceDefinition to that of a JSON file",
  json: '{ name, missing? }',
  flags: {},
  run: async ({ env, print }, args) => {
    const { metadata, spec } = JSON.parse(await readFile(args.operands[0] ?? '', 'utf8')) as Definition
    await withCluster(env, async ({ api }) => {
      // `versions` is a list, which a merge patch replaces as a whole: removed versions and fields disappear.
      const { name } = metadata
      try {
        await api.patch({ resource: kinds.definitions, name }, { kind: 'merge', body: { spec }, fieldManager: 'helm' })
      } catch (error) {
        if (outcomeOf(error) !== 'not-found') throw error
        // Argo CD runs this hook before it applies any manifest.
        return print({
          json: { name, missing: true },
          text: `${name} is not installed; its installation brings that of this release`,
        })
      }
      print({ json: { name }, text: `${name} is that of this release` })
    })
  },
}
