import type { CommandContext } from './command.ts'

const barMax = 40
/** Width of a terminal that does not report its size. */
const columnsDefault = 80

/** The counts of long work. */
export type Progress = { readonly done: number; readonly failed: number; readonly total: number }

/** A bar with the counts, at most `columns` wide. */
export const progressLine = ({ done, failed, total }: Progress, columns: number): string => {
  const counts = `${done} of ${total}${failed === 0 ? '' : `, ${failed} failed`}`
  const width = Math.min(barMax, columns - counts.length - 4)
  if (width < 1) return counts.slice(0, Math.max(0, columns - 1))
  const filled = Math.floor((width * done) / total)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${counts}`
}

/**
 * Draws the progress on one line of a terminal, which is cleared at the end: a bar, or words if the total is unknown. Draws nothing
 * without a terminal, or on one that cannot clear a line.
 */
export const createProgress = ({ env, progress }: Pick<CommandContext, 'env' | 'progress'>) => {
  const screen = env['TERM'] === 'dumb' ? undefined : progress
  const draw = (line: (columns: number) => string) =>
    screen?.write(`\r${line(screen.size().columns || columnsDefault)}\u001B[K`)
  return {
    show: (counts: Progress) => draw((columns) => progressLine(counts, columns)),
    showText: (text: string) => draw((columns) => text.slice(0, Math.max(0, columns - 1))),
    [Symbol.dispose]: () => screen?.write('\r\u001B[K'),
  }
}
