import type { Screen } from './command.ts'

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

/** Draws the progress on one line of a terminal, which is cleared at the end; draws nothing without one. */
export const createProgress = (screen: Screen | undefined) => ({
  show: (progress: Progress) =>
    screen?.write(`\r${progressLine(progress, screen.size().columns || columnsDefault)}\u001B[K`),
  [Symbol.dispose]: () => screen?.write('\r\u001B[K'),
})
