import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { chartFolder, ciPath, objectsOf, podsOf, renderText } from '#test/helpers/chart.ts'

type Chart = { readonly appVersion: string; readonly annotations: Readonly<Record<string, string>> }
const chart = parse(await readFile(join(chartFolder, 'Chart.yaml'), 'utf8')) as Chart
const listed = (name: string): unknown => parse(chart.annotations[`artifacthub.io/${name}`] ?? '')

t.test('chart: catalogues list its images and definitions as they are', async (t) => {
  const images = (listed('images') as readonly { readonly image: string }[]).map(({ image }) => image)
  const objects = objectsOf(await renderText(ciPath('stealth'))).filter(({ kind }) => kind !== 'NetworkPolicy')
  const used = podsOf(objects).flatMap(({ spec }) => spec.containers)
  const policy = objects.find(({ kind }) => kind === 'ValidatingAdmissionPolicy')
  const allowed = policy?.metadata.annotations?.['shutterfleet.dev/allowed'] ?? ''
  const { images: workers } = JSON.parse(allowed) as { readonly images: readonly string[] }
  t.strictSame(new Set([...used.map(({ image }) => image), ...workers]), new Set(images))
  const crd = parse(await readFile(join(chartFolder, 'crds/browserpools.shutterfleet.dev.yaml'), 'utf8')) as {
    readonly metadata: { readonly name: string }
    readonly spec: {
      readonly names: { readonly kind: string }
      readonly versions: readonly { readonly name: string }[]
    }
  }
  t.match(listed('crds'), [
    { kind: crd.spec.names.kind, name: crd.metadata.name, version: crd.spec.versions.at(-1)?.name },
  ])
})
