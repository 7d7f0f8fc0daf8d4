import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chartFolder, ciPath, objectsOf, renderText } from '#test/helpers/chart.ts'

type Schema = {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly propertyNames?: { readonly enum?: readonly string[] }
  readonly additionalProperties?: boolean | Schema
}
const schema = JSON.parse(await readFile(join(chartFolder, 'values.schema.json'), 'utf8')) as Schema

/** Texts that change the structure or the type of YAML unless they are quoted. */
const hostile = [`*: &x {y: [z], "q" 's' # c\n- d: |\n\te\\`, '*.x', '1e3']

/** `text` for every string that may be any text; undefined if there is none in this part of the values. */
const fill = (part: Schema, text: string): unknown => {
  if (part.type === 'string') return part.enum || part.pattern !== undefined ? undefined : text
  if (part.type === 'array') return part.items?.type === 'string' && !part.items.pattern ? [text] : undefined
  return fillObject(part, text)
}

const fillObject = (
  { properties = {}, additionalProperties: others, propertyNames }: Schema,
  text: string,
): unknown => {
  if (typeof others === 'object' && others.type === 'string')
    return { [propertyNames?.enum?.[0] ?? 'example.com/name']: text }
  const filled = Object.entries(properties).map(([name, each]) => [name, fill(each, text)] as const)
  const known = filled.filter(([, value]) => value !== undefined)
  return known.length > 0 ? Object.fromEntries(known) : undefined
}

/** The text as it is in a JSON text that Go wrote. */
const inJson = (text: string) =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('&', String.raw`\u0026`)

type Base = { readonly files: readonly string[]; readonly more?: readonly string[]; readonly chart?: string }
const renderer =
  (folder: string, { files, more = [], chart = chartFolder }: Base) =>
  async (text: string) => {
    const values = join(folder, 'values.json')
    await writeFile(values, JSON.stringify(fill(schema, text)))
    const [first = 'minimal', ...others] = files
    const args = others.map((name) => `--values=${ciPath(name)}`).concat(`--values=${values}`, ...more)
    return objectsOf(await renderText(ciPath(first), 'helm4', args, chart))
  }

/** The hostile texts that render other objects than a text without a meaning for YAML does. */
const misread = async (folder: string, base: Base) => {
  const render = renderer(folder, base)
  const found: string[] = []
  for (const text of hostile) {
    // The chart tells addresses of IPv6 by their colon.
    const harmless = text.includes(':') ? 'a:b' : 'ab'
    // The name of the Job that generates keys has a hash of its pod.
    const comparable = (objects: unknown, from: string) =>
      JSON.stringify(objects, (_, each: unknown) =>
        typeof each === 'string'
          ? each
              .replaceAll(from, harmless)
              .replaceAll(inJson(from), harmless)
              .replace(/-keys-1-[\da-f]{6}$/, '-keys-1')
          : each,
      )
    const expected = comparable(await render(harmless), harmless)
    const rendered = await render(text).then(
      (objects) => comparable(objects, text),
      ({ stderr }: { stderr: string }) => stderr,
    )
    if (rendered !== expected) found.push(`${text}: ${firstDifference(rendered, expected)}`)
  }
  return found
}

const firstDifference = (rendered: string, expected: string) => {
  const at = rendered.startsWith('[') ? expected.split('').findIndex((each, index) => each !== rendered[index]) : 0
  return `${rendered.slice(Math.max(0, at - 200), at + 300)}\nexpected:\n${expected.slice(Math.max(0, at - 200), at + 300)}`
}

/** Values files that together render every object of a release with its own stores elsewhere. */
const files = ['complete', 'several-hosts', 'alerts', 'network', 'mirror', 'upstream-proxy', 'autoscaling']
// These objects are templates of the user's own. A role is the source of keys with most strings. No Job makes certificates with own keys.
const changes = [
  'extraObjects=[]',
  'storage.keysFrom="web-identity"',
  'tls.certManager.issuerRef.name="internal"',
  'nats.identity="credentials"',
]
const outside = { files, more: changes.map((set) => `--set-json=${set}`) }

t.test('chart: no string of the values changes the structure of an object', async (t) => {
  const folder = t.testdir()
  t.strictSame(await misread(folder, outside), [])
  const unset = [
    'keys.existingSecret',
    'postgresql.existingSecret',
    'postgresql.directUrlKey',
    'postgresql.replicaUrlKey',
    'postgresql.certificateSecret',
    'nats.existingSecret',
    'nats.certificateSecrets',
    'storage.existingSecret',
    'postgresql.passwordKey',
  ]
  const more = unset.map((name) => `--set-string=${name}=`)
  t.strictSame(await misread(folder, { files: ['evaluation-full'], more }), [])
})

t.test('chart: the test of quoting finds a string that is not quoted', async (t) => {
  const folder = t.testdir()
  const chart = join(folder, 'shutterfleet')
  await cp(chartFolder, chart, { recursive: true })
  const path = join(chart, 'templates/ingress.yaml')
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('host: {{ . | quote }}', 'host: {{ . }}'))
  t.match(await misread(folder, { ...outside, chart }), [/ingress\.yaml/, /ingress\.yaml/, /1e3/])
})
