// Measures the service on one machine, all parts or those that are named. `--short` measures less, `--only TEXT` those
// fixtures of the engine alone, and `--memory FORMAT` of what lasts the memory alone, with captures of that format; all three
// write nothing. `--millions N` puts as many millions of rows beside what `partitions` measures (default 2).
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { engineText } from './engine/engine-text.ts'
import { lastingText, memoryTable, pagesText } from './engine/lasting-text.ts'
import { measureEngine } from './engine/measure-engine.ts'
import {
  galleryPages,
  measureLasting,
  measureMemoryAlone,
  measurePages,
  measureRecycling,
  recyclingSettings,
} from './engine/measure-lasting.ts'
import { onWarmSite } from './engine/warm-system.ts'
import { madeBy } from './page.ts'
import { type Part, runProgram } from './run-parts.ts'
import {
  acceptText,
  accountsText,
  callersText,
  idleText,
  largeBatchText,
  partitionsText,
  serviceMemoryText,
  smallPageText,
  startText,
} from './service-text.ts'
import { telemetryText } from './telemetry-text.ts'

const options = {
  short: { type: 'boolean' },
  only: { type: 'string' },
  memory: { type: 'string' },
  millions: { type: 'string' },
} as const
const { values, positionals: names } = parseArgs({ allowPositionals: true, options })
const { short: isShort = false, only = '', memory, millions = '2' } = values
const formats = ['png', 'jpeg', 'webp', 'avif', 'tiff'] as const
const format = formats.find((each) => each === (memory ?? 'jpeg'))
if (!format) throw new Error(`${memory} is none of ${formats.join(', ')}`)
const chromium = execFileSync(chromiumPath, ['--version'], { encoding: 'utf8' }).trim()

const engineWorkload = isShort
  ? { warmUps: 4, rounds: 2, captures: 6, pairs: 3 }
  : { warmUps: 4, rounds: 4, captures: 8, pairs: 9 }
const always = { settleMs: 5000, format, tall: '/tall-16000' } as const
const lastingWorkload = isShort
  ? { ...always, readAfter: [20, 40], tallShots: 2, blocked: 3, kills: 1 }
  : { ...always, readAfter: [100, 500], tallShots: 9, blocked: 25, kills: 5 }
const pagesWorkload = { settleMs: 5000, readAfter: isShort ? [20, 40] : [200, 1000] }
const recyclings = isShort ? 3 : 12

const measureLasts = async () => {
  if (memory !== undefined) return memoryTable(await onWarmSite(1, (warm) => measureMemoryAlone(warm, lastingWorkload)))
  const lasting = await onWarmSite(1, (warm) => measureLasting(warm, lastingWorkload))
  return lastingText(lasting, await onWarmSite(1, (warm) => measureRecycling(warm, recyclings), recyclingSettings))
}

const parts: Readonly<Record<string, Part>> = {
  start: { heading: 'Start', measure: () => startText(isShort ? 1 : 5) },
  idle: { heading: 'When idle', measure: idleText },
  services: { heading: 'Memory of the services', measure: () => serviceMemoryText(isShort ? 16 : 400) },
  small: { heading: 'A small static page, captured synchronously', measure: () => smallPageText(isShort ? 10 : 60) },
  callers: { heading: 'Callers at a time', measure: callersText },
  accounts: { heading: 'Many accounts beside one', measure: () => accountsText(isShort ? 1 : 3) },
  accept: { heading: 'Accepting', measure: acceptText },
  partitions: {
    heading: 'Partitions of captures',
    measure: () => partitionsText(isShort ? 10_000 : Number(millions) * 1_000_000),
  },
  batch: { heading: 'A large batch beside a caller', measure: () => largeBatchText(isShort ? 1000 : 100_000) },
  engine: {
    heading: 'The engine beside a bare loop',
    measure: async () => engineText(await onWarmSite(2, (warm) => measureEngine(warm, engineWorkload, only))),
  },
  lasting: { heading: 'One worker over many captures', measure: measureLasts },
  pages: {
    heading: 'Workers over many pages',
    measure: async () =>
      pagesText(await onWarmSite(2, (warm) => measurePages(warm, pagesWorkload)), galleryPages.length),
  },
  telemetry: {
    heading: 'What metrics and traces cost',
    measure: () => telemetryText(isShort ? { rounds: 8, seconds: 3 } : { rounds: 20, seconds: 8 }),
  },
}

const writes = !isShort && only === '' && memory === undefined
await runProgram({ parts, names, footer: madeBy('bench', chromium) }, writes ? undefined : () => {})
