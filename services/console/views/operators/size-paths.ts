import type { DecisionChange } from './records.ts'

const [width, height, margin] = [1000, 100, 4]

/** The steps of a number over time as the path of an SVG; the last one lasts until now. */
const stepPath = (points: readonly (readonly [x: number, y: number])[]): string =>
  points
    .map(([x, y], index) => {
      const [at, level] = [x.toFixed(1), y.toFixed(1)]
      return index === 0 ? `M${at} ${level}` : `H${at} V${level}`
    })
    .concat(points.length === 0 ? [] : [`H${width}`])
    .join(' ')

/** Paths of the ready and the desired workers over the time of the changes, oldest first, in a box of 1000 by 100. */
export const sizePaths = (changes: readonly DecisionChange[], nowMs: number) => {
  const startMs = Date.parse(changes[0]?.at ?? '')
  const spanMs = Math.max(1, nowMs - startMs)
  const most = Math.max(1, ...changes.flatMap(({ desired, ready = 0 }) => [desired, ready]))
  const path = (field: 'ready' | 'desired') =>
    stepPath(
      changes.flatMap((change) => {
        const value = change[field]
        if (value === undefined) return []
        const x = ((Date.parse(change.at) - startMs) / spanMs) * width
        return [[x, height - margin - (value / most) * (height - 2 * margin)] as const]
      }),
    )
  return { ready: path('ready'), desired: path('desired') }
}
