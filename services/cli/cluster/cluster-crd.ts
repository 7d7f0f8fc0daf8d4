import { readFile } from 'node:fs/promises'
import { kinds } from '#cli/cluster-doctor/objects.ts'
import type { Command } from '#cli/command/command.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { withCluster } from './cluster-api.ts'

type Definition = KubeObject & {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: object
}

const versionName = 'shutterfleet.dev/version'

/** Whether a version is of a later release than another. Prereleases of a version count as that version. */
const isLater = (one = '', other = ''): boolean => {
  const [release = '', otherRelease = ''] = [one, other].map((each) => each.split(/[-+]/)[0])
  return release.localeCompare(otherRelease, 'en', { numeric: true }) > 0
}

/**
 * `cluster crd`: updates an installed CustomResourceDefinition to this release's, which Helm does not do. Leaves that of a later release,
 * whose fields other releases on the cluster use.
 */
export const clusterCrd: Command = {
  usage: 'cluster crd FILE',
  summary: "updates a cluster's CustomResourceDefinition to that of a JSON file",
  json: '{ name, missing?, kept? }',
  flags: {},
  run: async ({ env, print }, args) => {
    const { metadata, spec } = JSON.parse(await readFile(args.operands[0] ?? '', 'utf8')) as Definition
    await withCluster(env, async ({ api }) => {
      // `versions` is a list, which a merge patch replaces as a whole: removed versions and fields disappear.
      const { name } = metadata
      const key = { resource: kinds.definitions, name }
      const version = metadata.annotations?.[versionName]
      try {
        const installed = (await api.get<Definition>(key)).metadata.annotations?.[versionName]
        if (isLater(installed, version)) {
          const text = `${name} stays that of ${installed}, which is later than ${version ?? 'this release'}`
          return print({ json: { name, kept: installed }, text })
        }
        const body = { metadata: { annotations: { [versionName]: version ?? null } }, spec }
        await api.patch(key, { kind: 'merge', body, fieldManager: 'helm' })
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
