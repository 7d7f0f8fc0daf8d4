import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAllYaml } from '@kubernetes/client-node'

/**
 * Compares the verbs of a Role with the controller's requests in all tests, and exits 1 if they differ. Arguments: the Role's
 * file, and a folder of files with one verb and resource per line, such as `patch deployments.apps/scale`.
 */
const [roleFile = '', folder = ''] = process.argv.slice(2)

type Rule = { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] }
type Manifest = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly rules?: readonly Rule[]
}

/** Formats a permission like the lines of the folder's files. */
const formatVerb = (verb: string, group: string, resource: string): string => {
  const [plural, ...sub] = resource.split('/')
  return [`${verb} ${plural}${group && `.${group}`}`, ...sub].join('/')
}

const formatRule = ({ apiGroups, resources, verbs }: Rule): string[] =>
  apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => formatVerb(verb, group, resource))))

const manifests = loadAllYaml(readFileSync(roleFile, 'utf8')) as Manifest[]
const allowed = new Set(manifests.flatMap(({ rules = [] }) => rules.flatMap(formatRule)))
const used = new Set(readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n')))

const problems = [
  ...manifests
    .filter(({ kind }) => kind !== 'Role')
    .map(
      ({ kind, metadata }) =>
        `${kind} ${metadata.name}: only Roles are allowed, the controller has no cluster-wide permissions.`,
    ),
  ...[...allowed]
    .filter((line) => line.includes('*'))
    .map((line) => `"${line}" is a wildcard: list resources and verbs explicitly.`),
  ...[...allowed]
    .filter((line) => !line.includes('*') && !used.has(line))
    .map((line) => `"${line}" is allowed, but no test of the whole suite requests it.`),
  ...[...used].filter((line) => !allowed.has(line)).map((line) => `"${line}" is requested but not allowed.`),
]
for (const problem of problems.toSorted()) console.error(`${roleFile}: ${problem}`)
if (problems.length === 0)
  console.log(`${roleFile}: the Role allows exactly the ${used.size} permissions that the controller uses.`)
else process.exitCode = 1
