// Measures the service on one machine, all parts or those that are named. `--short` measures less, `--only TEXT` those
// fixtures of the engine alone, and `--memory FORMAT` of what lasts the memory alone, with captures of that format; all three
// write nothing.
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { engineText } from './engine/engine-text.ts'
import { lastingText, memoryTable } from './engine/lasting-text.ts'
import { measureEngine } from './engine/measure-engine.ts'
import { measureLasting, measureMemoryAlone } from './engine/measure-lasting.ts'
import { machine, type Part, writePart } from './page.ts'
import { serviceText } from './service-text.ts'
import { telemetryText } from './telemetry-text.ts'

const options = { short: { type: 'boolean' }, only: { type: 'string' }, memory: { type: 'string' } } as const
const { values, positionals } = parseArgs({ allowPositionals: true, options })
const { short: isShort = false, only = '', memory } = values
const formats = ['png', 'jpeg', 'webp', 'avif', 'tiff'] as const
const format = formats.find((each) => each === (memory ?? 'jpeg'))
if (!format) throw new Error(`${memory} is none of ${formats.join(', ')}`)
const chromium = execFileSync(chromiumPath, ['--version'], { encoding: 'utf8' }).trim()
const made = `Made by \`make bench\` on ${new Date().toISOString().slice(0, 10)}: ${machine}, ${chromium}.`

const engineEffort = isShort ? { rounds: 2, captures: 6, pairs: 3 } : { rounds: 4, captures: 8, pairs: 9 }
const lastingEffort = isShort
  ? { looks: [20, 40], format, tallShots: 2, blocked: 3, kills: 1, recyclings: 3 }
  : { looks: [100, 500], format, tallShots: 9, blocked: 25, kills: 5, recyclings: 12 }

const measureLasts = async () =>
  memory === undefined
    ? lastingText(await measureLasting(lastingEffort), made)
    : memoryTable(await measureMemoryAlone(lastingEffort))

/** What can be measured, each a part of docs/benchmarks.md. */
const measurements: Readonly<Record<string, { readonly part: Part; readonly measure: () => Promise<string> }>> = {
  service: { part: 'one machine', measure: () => serviceText(isShort ? 10 : 60, made) },
  engine: { part: 'engine', measure: async () => engineText(await measureEngine(engineEffort, only), made) },
  lasting: { part: 'lasting', measure: measureLasts },
  telemetry: { part: 'telemetry', measure: () => telemetryText(isShort ? 2 : 15, isShort ? 3 : 10, made) },
}

for (const name of positionals.length > 0 ? positionals : Object.keys(measurements)) {
  const measurement = measurements[name]
  if (!measurement) throw new Error(`${name} is none of ${Object.keys(measurements).join(', ')}`)
  const text = await measurement.measure()
  console.log(text)
  if (isShort || only !== '' || memory !== undefined) continue
  writePart(measurement.part, text)
  console.log('written to docs/benchmarks.md')
}
