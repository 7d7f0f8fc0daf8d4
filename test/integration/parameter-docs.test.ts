import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { parameterGroups } from '#shared/capture/options.ts'
import { declaredInterfaces } from '#test/helpers/declared-types.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const examples = 'docs/examples/parameters'

type Documented = {
  readonly openapi: string
  readonly readme: string
  readonly types: string
  /** The text of each file by its name, which begins with its group. */
  readonly examples: Readonly<Record<string, string>>
}

const documented: Documented = {
  openapi: read('docs/openapi.json'),
  readme: read('README.md'),
  types: read('clients/typescript/shutterfleet.d.ts'),
  examples: Object.fromEntries(readdirSync(join(root, examples)).map((name) => [name, read(join(examples, name))])),
}

type Described = { components: { schemas: Record<string, { properties: object }> } }

/** The first column of the table of parameters. */
const inTable = (readme: string): string[] => {
  const [, table = ''] = readme.split('| Parameter | Values |')
  const rows = (table.split('\n\n')[0] ?? '').split('\n')
  return rows.flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
}

/** Where a parameter of the OpenAPI document is missing, as `<parameter>: <where>`. */
const missing = ({ openapi, readme, types, examples: files }: Documented): string[] => {
  const { components } = JSON.parse(openapi) as Described
  const names = Object.keys(components.schemas['CaptureParameters']?.properties ?? {})
  const groupOf = (name: string) => Object.entries(parameterGroups).find(([, group]) => name in group)?.[0]
  const inGroup = (name: string) =>
    Object.entries(files)
      .filter(([file]) => file.split(/[-.]/)[0] === groupOf(name))
      .map(([, text]) => text)
  const places: Readonly<Record<string, (name: string) => boolean>> = {
    README: (name) => inTable(readme).includes(name),
    client: (name) => declaredInterfaces(types).get('CaptureParameters')?.has(name) === true,
    example: (name) => inGroup(name).some((text) => name in (JSON.parse(text) as object)),
  }
  return names.flatMap((name) =>
    Object.entries(places).flatMap(([place, has]) => (has(name) ? [] : [`${name}: ${place}`])),
  )
}

t.test(
  'parameter docs: each parameter stands in the table of README, in the client and in an example of its group',
  async (t) => {
    t.same(missing(documented), [])
  },
)

t.test('parameter docs: a parameter that is not there is found', async (t) => {
  const openapi = documented.openapi.replace(/("CaptureParameters": \{[^]*?"properties": \{)/, '$1 "newcomer": {},')
  t.same(missing({ ...documented, openapi }), ['newcomer: README', 'newcomer: client', 'newcomer: example'])
  t.same(missing({ ...documented, readme: documented.readme.replace('`wait_until`', 'wait') }), ['wait_until: README'])
  t.same(missing({ ...documented, types: documented.types.replace('retina?:', 'sharp?:') }), ['retina: client'])
  const { 'pdf.json': _, ...others } = documented.examples
  t.match(missing({ ...documented, examples: { ...others, 'viewport.json': '{}' } }), [
    'width: example',
    'height: example',
    'device: example',
    'retina: example',
    'pdf_landscape: example',
  ])
})
