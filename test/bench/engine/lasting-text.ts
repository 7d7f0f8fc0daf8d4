import { mib, ms } from '#test/bench/page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import type { Lasting, Recycling } from './measure-lasting.ts'

const tallAims: Readonly<Record<string, string>> = { jpeg: '600', png: '800' }

/** Memory after so many captures, as a table. */
export const memoryTable = (memory: Lasting['memory']): string =>
  table(
    ['captures', 'MiB', 'of the first'],
    memory.map(({ captures, bytes }) => [captures, mib(bytes), (bytes / (memory[0]?.bytes ?? bytes)).toFixed(2)]),
  )

/** Two workers over many captures of many pages. */
export const pagesText = (memory: Lasting['memory'], pages: number): string =>
  `Memory of two workers, their browser hosts and browsers after so many captures, two at a time, of the ${pages} pages of the gallery
in turn, which use about 60 libraries as their users do. Proportional set size. Aim: the last within 15 % of the first.

${memoryTable(memory)}
`

/** One worker over many captures. */
export const lastingText = (lasting: Lasting, { replaced, reused }: Recycling): string => {
  const { tall, memory, blocked, unblocked, killed } = lasting
  return `Shoot and encode of a full page of 16,000 px, median:

${table(
  ['format', 'ms', 'aim'],
  tall.map(({ format, shootAndEncodeMs }) => [format, ms(shootAndEncodeMs), tallAims[format] ?? '']),
)}

Memory of worker, browser host and browser after so many captures of the page of 15 requests, proportional set size. Aim: the
last within 15 % of the first.

${memoryTable(memory)}

All three blockers on, a page that carries nothing to block takes ${ms(blocked)} ms, all off ${ms(unblocked)} ms, medians in
turn (aim: 60 more). From the kill of a browser to the end of the next capture: ${ms(killed)} ms, median (aim: 2,000 for the
browser).

With a browser that is replaced after every five captures, and a capture always waiting, a capture waits ${ms(replaced)} ms for a
page of a new browser (aim: 20), ${ms(reused)} ms for another of the same, medians.
`
}
