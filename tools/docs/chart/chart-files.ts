import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { chartReadme } from './chart-readme.ts'
import { readValues } from './read-values.ts'
import { valuesSchema } from './values-schema.ts'

const chart = 'charts/shutterfleet'

const textOfAll = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(yaml|tpl)$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')

const copies = (root: string, ...names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [`${chart}/files/${basename(name)}`, readFileSync(join(root, 'k8s', name), 'utf8')] as const),
  )

/** The chart's generated files by path. Some are copies, because Helm packs only files in the chart. `root`: folder of the project. */
export const chartFiles = (root: string, crd: string): Readonly<Record<string, string>> => {
  const values = readValues(readFileSync(join(root, chart, 'values.yaml'), 'utf8'))
  return {
    [`${chart}/README.md`]: chartReadme(values),
    [`${chart}/values.schema.json`]: valuesSchema(values, textOfAll(join(root, chart, 'templates'))),
    [`${chart}/crds/browserpools.shutterfleet.dev.yaml`]: crd,
    ...copies(root, 'controller-role.yaml', 'admission-policy.yaml', 'user-roles.yaml', 'install-profiles.sh'),
    ...copies(root, 'seccomp/shutterfleet-worker.json', 'apparmor/shutterfleet-worker'),
  }
}
