import { stripVTControlCharacters } from 'node:util'
import { type Lane, lanes } from '#shared/capture/lane.ts'
import { describePause } from '#shared/db/pool-pauses.ts'
import type { PoolFigures } from './read-pools.ts'
import { type CaptureFigures, type QueueFigures, type ShownFailure, type Snapshot, windowSeconds } from './snapshot.ts'

/** The size in characters. Without `rows` the height is unlimited. */
export type Canvas = { readonly columns: number; readonly rows?: number; readonly colour: boolean }

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green'
type Cell = { readonly text: string; readonly style?: Style | undefined }
/** `drop`: order in which columns are left out of a narrow screen, highest first; 0 is always shown. */
type Column<T> = {
  readonly heading: string
  readonly drop: number
  readonly left?: true
  readonly cell: (row: T) => Cell
}

const codes: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, yellow: 33, green: 32 }
const gap = '  '

/** Apply it after padding: escape codes have no width. */
const paint = (text: string, style: Style | undefined, { colour }: Canvas): string =>
  colour && style !== undefined ? `\u001B[${codes[style]}m${text}\u001B[0m` : text

const cut = (text: string, width: number): string => {
  if (text.length <= width) return text
  return width <= 0 ? '' : `${text.slice(0, width - 1)}…`
}

/** A whole number, in thousands from 100,000 on. */
const count = (value: number | undefined): string => {
  if (value === undefined) return '–'
  return value < 100_000 ? String(value) : `${Math.round(value / 1000)}k`
}

const units = [
  { symbol: 'h', ms: 3_600_000 },
  { symbol: 'm', ms: 60_000 },
  { symbol: 's', ms: 1000 },
] as const

/** A duration in at most five characters. */
export const shortTime = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)}s`
  const unit = units.find((each) => ms >= each.ms * 2) ?? units[2]
  return `${Math.floor(ms / unit.ms)}${unit.symbol}`
}

const columnWidth = <T>({ heading, cell }: Column<T>, rows: readonly T[]): number =>
  Math.max(heading.length, ...rows.map((row) => cell(row).text.length))

const renderTable = <T>(columns: readonly Column<T>[], rows: readonly T[], canvas: Canvas): string[] => {
  const sized = columns.map((column) => ({ column, width: columnWidth(column, rows) }))
  let shown = sized
  const total = () => shown.reduce((sum, { width }) => sum + width + gap.length, -gap.length)
  while (total() > canvas.columns && shown.some(({ column }) => column.drop > 0)) {
    const next = Math.max(...shown.map(({ column }) => column.drop))
    shown = shown.filter(({ column }) => column.drop !== next)
  }
  const renderLine = (cells: readonly Cell[]) => {
    const last = cells.findLastIndex(({ text }) => text !== '')
    const filled = cells.slice(0, last + 1).map(({ text, style }, index) => {
      const { width = 0, column } = shown[index] ?? {}
      if (!column?.left) return paint(text.padStart(width), style, canvas)
      return paint(index === last ? text : text.padEnd(width), style, canvas)
    })
    return filled.join(gap)
  }
  return [
    renderLine(shown.map(({ column: { heading } }) => ({ text: heading, style: 'dim' }))),
    ...rows.map((row) => renderLine(shown.map(({ column }) => column.cell(row)))),
  ]
}

const plain = (text: string): Cell => ({ text })
const ifPositive = (value: number, style: Style): Style | undefined => (value > 0 ? style : undefined)

const barCells = 10
const bar = (fraction: number) => {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barCells)
  return '█'.repeat(full) + '░'.repeat(barCells - full)
}

const readyStyle = ({ ready, desired = 0 }: PoolFigures): Style => {
  if (ready === undefined) return 'dim'
  return ready < desired ? 'yellow' : 'green'
}

const poolColumns: readonly Column<PoolFigures>[] = [
  { heading: 'POOL', drop: 0, left: true, cell: ({ pool }) => ({ text: pool, style: 'bold' }) },
  { heading: 'QUEUE', drop: 6, left: true, cell: ({ queue }) => plain(queue) },
  {
    heading: 'READY',
    drop: 1,
    cell: (pool) => ({ text: `${count(pool.ready)}/${count(pool.desired)}`, style: readyStyle(pool) }),
  },
  { heading: 'STARTING', drop: 7, cell: ({ coming }) => plain(count(coming)) },
  {
    heading: 'MIN–MAX',
    drop: 5,
    cell: ({ min, max, desired }) => ({
      text: `${count(min)}–${count(max)}`,
      style: max !== undefined && max > 0 && desired === max && max !== min ? 'yellow' : undefined,
    }),
  },
  { heading: 'SLOTS', drop: 2, cell: ({ busy, slots }) => plain(`${count(busy)}/${count(slots)}`) },
  {
    heading: '',
    drop: 4,
    left: true,
    cell: ({ busy, slots }) => plain(slots ? bar((busy ?? 0) / slots) : ''),
  },
  { heading: 'WAITING', drop: 3, cell: ({ waiting }) => plain(count(waiting)) },
]

const queueColumns: readonly Column<QueueFigures>[] = [
  { heading: 'QUEUE', drop: 0, left: true, cell: ({ queue }) => ({ text: queue, style: 'bold' }) },
  {
    heading: 'WAITING',
    drop: 1,
    cell: ({ pending }) => ({ text: count(pending), style: ifPositive(pending, 'yellow') }),
  },
  { heading: 'OLDEST', drop: 5, cell: ({ pending, oldestMs }) => plain(pending > 0 ? shortTime(oldestMs) : '–') },
  { heading: 'RUNNING', drop: 4, cell: ({ processing }) => plain(count(processing)) },
  { heading: 'ACCEPTED/min', drop: 6, cell: ({ accepted }) => plain(count(accepted)) },
  { heading: 'DONE/min', drop: 2, cell: ({ completed }) => plain(count(completed)) },
  { heading: 'FAILED/min', drop: 3, cell: ({ failed }) => ({ text: count(failed), style: ifPositive(failed, 'red') }) },
]

/** Captures of a lane that wait. `objectiveMs`: the shortest of the pools that serve the queue; undefined if none is known. */
type LaneRow = {
  readonly queue: string
  readonly lane: Lane
  readonly pending: number
  readonly oldestMs: number
  readonly objectiveMs: number | undefined
}

const laneColumns: readonly Column<LaneRow>[] = [
  { heading: 'QUEUE', drop: 1, left: true, cell: ({ queue }) => plain(queue) },
  { heading: 'LANE', drop: 0, left: true, cell: ({ lane }) => ({ text: lane, style: 'bold' }) },
  { heading: 'WAITING', drop: 2, cell: ({ pending }) => plain(count(pending)) },
  {
    heading: 'OLDEST',
    drop: 0,
    cell: ({ oldestMs, objectiveMs = Number.POSITIVE_INFINITY }) => ({
      text: shortTime(oldestMs),
      style: oldestMs > objectiveMs ? 'red' : undefined,
    }),
  },
  {
    heading: 'OBJECTIVE',
    drop: 3,
    cell: ({ objectiveMs }) => plain(objectiveMs === undefined ? '–' : shortTime(objectiveMs)),
  },
]

const waitingLanes = ({ queues }: CaptureFigures, pools: Snapshot['pools']): LaneRow[] =>
  queues.flatMap(({ queue, lanes: counts }) =>
    lanes.flatMap((lane) => {
      const { pending, oldestMs } = counts[lane]
      const serving = typeof pools === 'string' ? [] : pools.filter((pool) => pool.queue === queue)
      const [objectiveMs] = serving
        .flatMap(({ objectivesMs }) => objectivesMs[lane] ?? [])
        .toSorted((one, other) => one - other)
      return pending > 0 ? [{ queue, lane, pending, oldestMs, objectiveMs }] : []
    }),
  )

type StageRow = {
  readonly stage: string
  readonly p50Ms: number
  readonly p95Ms: number
  readonly fraction: number | undefined
}

const stageColumns: readonly Column<StageRow>[] = [
  { heading: 'STAGE', drop: 0, left: true, cell: ({ stage }) => plain(stage) },
  { heading: 'P50', drop: 2, cell: ({ p50Ms }) => plain(shortTime(p50Ms)) },
  { heading: 'P95', drop: 1, cell: ({ p95Ms }) => plain(shortTime(p95Ms)) },
  { heading: '', drop: 3, left: true, cell: ({ fraction }) => plain(fraction === undefined ? '' : bar(fraction)) },
]

const stagesMax = 5
const failuresMax = 5

const clock = (at: Date) => at.toTimeString().slice(0, 8)

/** Removes escape sequences and control characters: the text may come from a page. */
const sanitize = (text: string) => stripVTControlCharacters(text).replaceAll(/[\p{Cc}\s]+/gu, ' ')

const failureLine = ({ at, code, host, message, id }: ShownFailure, canvas: Canvas): string => {
  const head = `${clock(new Date(at))}  ${code}`
  const what = sanitize([host, message].filter((part) => part).join(': '))
  const rest = `${gap}${what}${gap}${id}`
  return paint(cut(head, canvas.columns), 'red', canvas) + cut(rest, canvas.columns - head.length)
}

const pauseLine = (pause: CaptureFigures['pauses'][number], canvas: Canvas): string =>
  paint(cut(sanitize(`${pause.pool} is ${describePause(pause)}`), canvas.columns), 'yellow', canvas)

const captureParts = (captures: CaptureFigures, pools: Snapshot['pools'], canvas: Canvas): string[][] => {
  const { queues, pauses, stages, total, failures } = captures
  const slowest = stages[0]?.p95Ms ?? 0
  const rows = [...stages.slice(0, stagesMax), ...(total ? [total] : [])].map((stage) => ({
    ...stage,
    fraction: stage === total || slowest === 0 ? undefined : stage.p95Ms / slowest,
  }))
  const quiet = (text: string) => [paint(cut(text, canvas.columns), 'dim', canvas)]
  const failed = failures.slice(0, failuresMax).map((failure) => failureLine(failure, canvas))
  const waiting = waitingLanes(captures, pools)
  return [
    [...renderTable(queueColumns, queues, canvas), ...pauses.map((pause) => pauseLine(pause, canvas))],
    ...(waiting.length > 0 ? [renderTable(laneColumns, waiting, canvas)] : []),
    rows.length === 0
      ? quiet(`no capture completed within ${windowSeconds} s`)
      : renderTable(stageColumns, rows, canvas),
    failures.length === 0
      ? quiet('no capture failed within the hour')
      : [paint('LAST ERRORS', 'dim', canvas), ...failed],
  ]
}

const unreadShare = (what: string, reason: string, canvas: Canvas): string[] => [
  paint(cut(`${what} not read: ${reason}`, canvas.columns), 'red', canvas),
]

const poolPart = (pools: Snapshot['pools'], canvas: Canvas): string[] => {
  if (typeof pools === 'string') return unreadShare('pools', pools, canvas)
  if (pools.length > 0) return renderTable(poolColumns, pools, canvas)
  return unreadShare('pools', 'this controller shows none; of several the one that leads does', canvas)
}

/** Renders a snapshot as lines that fit the canvas. */
export const draw = ({ at, source, pools, captures }: Snapshot, canvas: Canvas): string[] => {
  const title = `shutterfleet  ${source}`
  const time = clock(at)
  const room = Math.max(0, canvas.columns - time.length - gap.length)
  const head = paint(cut(title, room).padEnd(room), 'bold', canvas) + gap + time
  const parts = [
    poolPart(pools, canvas),
    ...(typeof captures === 'string'
      ? [unreadShare('captures', captures, canvas)]
      : captureParts(captures, pools, canvas)),
  ]
  const lines = [head, ...parts.flatMap((part) => ['', ...part])]
  return canvas.rows === undefined ? lines : lines.slice(0, canvas.rows)
}
