import { basename } from 'node:path'
import { ms } from '#test/bench/page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import type { Compared, Side } from './measure-engine.ts'

const perSecond = ({ run }: Side): number => (run.captures * 1000) / run.tookMs

/** Processor milliseconds per capture, of PostgreSQL or of all else. */
const cpuOf = ({ run }: Side, isOf = (part: string) => part !== 'PostgreSQL'): number =>
  [...run.cpuMs].reduce((sum, [part, value]) => (isOf(part) ? sum + value : sum), 0) / run.captures

const kib = (bytes: number) => Math.round(bytes / 1024).toString()
const ratio = (ours: number, bare: number) => (ours / bare).toFixed(2)
const both = (ours: number, bare: number, text: (value: number) => string) => `${text(ours)} / ${text(bare)}`

const head = [
  ...['fixture', 'format', 'captures per second', 'processor', 'p50', 'worker', 'size'],
  ...['captures per second', 'processor ms', 'p50 ms', 'worker ms', 'KiB'],
]

const rowOf = ({ fixture, format, ours, bare, workerMs }: Compared) => [
  fixture,
  format,
  ratio(perSecond(ours), perSecond(bare)),
  ratio(cpuOf(ours), cpuOf(bare)),
  ratio(ours.p50Ms, bare.p50Ms),
  ratio(workerMs, bare.p50Ms),
  ratio(ours.run.bytes, bare.run.bytes),
  both(perSecond(ours), perSecond(bare), (value) => value.toFixed(1)),
  both(cpuOf(ours), cpuOf(bare), ms),
  both(ours.p50Ms, bare.p50Ms, ms),
  ms(workerMs),
  both(ours.run.bytes, bare.run.bytes, kib),
]

/** Processor milliseconds per jpeg capture of each fixture, by part. */
const partsTable = (compared: readonly Compared[]): string => {
  const jpeg = compared.filter(({ format }) => format === 'jpeg')
  const rows = (side: 'ours' | 'bare', prefix: string) => {
    const parts = [...new Set(jpeg.flatMap((each) => [...each[side].run.cpuMs.keys()]))]
    return parts.map((part) => [
      prefix + basename(part),
      ...jpeg.map((each) => cpuOf(each[side], (one) => one === part).toFixed(1)),
    ])
  }
  return table(['part', ...jpeg.map(({ fixture }) => fixture)], [...rows('ours', ''), ...rows('bare', 'loop: ')])
}

const reasons = `Why where it is not:

- Captures per second and processor time, jpeg: Chromium takes about as much as in the loop, but what carries a capture
  (gateway, NATS, ledger, worker, browser host, egress) takes more than the loop's own process, which keeps nothing. The
  smaller the page, the more it weighs: most with inline HTML, least with 63 requests.
- Plain http beside HTTP/2: six connections instead of one go through worker and egress, each judged.
- 8,000 px as jpeg: the image is written by the browser host, the worker and the gateway, which puts it on disk before it
  answers; the loop drops it.
- Png, captures per second and p50: the worker's encoder takes about as much as Chromium's to make files as small; it wins by
  far at 8,000 px.
- Png of inline HTML, size: flat colours compress better with Chromium's higher effort; ours is only raised where the image is
  large for its pixels.`

/** How the service compares with a bare loop. */
export const engineText = (
  compared: readonly Compared[],
): string => `The bare loop is Playwright in a process of its own with one browser of the same Chromium and a fresh context for each
capture, no filter, no queue and no store; its webp, avif and tiff are its png, encoded by sharp alone. The service has two warm workers. Both take the same pages of the same server, in turn, two at a time; p50
is one at a time, with the service by a synchronous \`POST\`. Processor time is that of everything \`up\` starts but
PostgreSQL, of the loop its process and its browser. "Worker" is the time from a capture's order to its encoded picture,
beside the loop's whole capture. First the ratios, then the service / the loop.

${table(head, compared.map(rowOf))}

Aims: captures per second at least 1.0 for jpeg, 1.25 for png, 0.8 for the others; processor at most 1.1 for jpeg; p50 at most
1.0 for jpeg, 0.75 for png; worker at most 0.85 for jpeg; size at most 1.10 for png.

${reasons}

Processor milliseconds for one jpeg capture, two at a time, by part:

${partsTable(compared)}
`
