import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { captureParameters } from '#shared/capture/options.ts'
import { parameterGroups } from '#shared/capture/parameters.ts'

const folder = resolve(import.meta.dirname, '../../docs/examples/parameters')

/** The text of each file by its name, which starts with its group. */
type Examples = Readonly<Record<string, string>>

const examples: Examples = Object.fromEntries(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
)

/** Parameters that no example of their group contains. */
const missing = (groups: Readonly<Record<string, object>>, files: Examples): string[] =>
  Object.entries(groups).flatMap(([group, parameters]) => {
    const inGroup = Object.entries(files).filter(([file]) => file.split(/[-.]/)[0] === group)
    const named = new Set(inGroup.flatMap(([, text]) => Object.keys(JSON.parse(text) as object)))
    return Object.keys(parameters).filter((name) => !named.has(name))
  })

t.test('parameter docs: each parameter is used in an example of its group', async (t) => {
  t.same(Object.values(parameterGroups).flatMap(Object.keys), Object.keys(captureParameters.properties))
  t.same(missing(parameterGroups, examples), [])
})

t.test('parameter docs: a parameter without an example in its group is reported', async (t) => {
  t.same(missing({ ...parameterGroups, source: { url: {}, newcomer: {} } }, examples), ['newcomer'])
  const { 'pdf.json': _, ...others } = examples
  const found = missing(parameterGroups, { ...others, 'viewport.json': '{}' })
  t.match(found, ['width', 'height', 'retina', 'pdf_landscape'])
})
