// What one installation carries, from the tables of docs/benchmarks.md. Processor time of a part per capture is
// `least + fixed / rate`: what remains when work is shared, and what a process does each second whatever the load.

/** The parts of which processor time is modelled. */
export const modelParts = ['gateway', 'PostgreSQL', 'NATS', 'ledger', 'controller', 'webhooks'] as const

/** See `modelParts`. */
export type ModelPart = (typeof modelParts)[number]

/**
 * Traffic of one capture, by the column that has it; WAL without whole pages, which the first change after a checkpoint writes: how
 * many there are follows the clock, not the rate.
 */
export const trafficColumns = ['WAL KiB', 'transactions', 'messages to NATS', 'from NATS'] as const

/** What is modelled. */
export type Quantity = ModelPart | (typeof trafficColumns)[number]

/** One measured case: captures per second, milliseconds of the processor or traffic for one capture. */
export type Point = {
  readonly part: string
  readonly name: string
  readonly rate: number
  /** Whether nothing else used the machine. */
  readonly isQuiet: boolean
  readonly cost: Readonly<Record<Quantity, number>>
  /** KiB of whole pages in the WAL of one capture. */
  readonly wholePagesKib: number
}

/** Bytes that one capture leaves in a table: while it grows without vacuum, and once rewritten. */
export type TableBytes = { readonly name: string; readonly grown: number; readonly rewritten: number }

/** What is read from the page. */
export type Measurements = {
  readonly points: readonly Point[]
  readonly tables: readonly TableBytes[]
  /** Bytes of one capture in the streams of NATS. */
  readonly resultsBytes: number
  readonly waitingBytes: number
  /** How many captures waited while others were served, and the milliseconds until the first of another account began, p50 / p99, as on the page. */
  readonly backlog: { readonly waiting: string; readonly firstMs: string }
  /** Accepts per second of one account, and of many. */
  readonly oneAccount: number
  readonly manyAccounts: number
  /** Deliveries per second of one sender of webhooks. */
  readonly deliveries: number
  /** Captures that one ledger removes per second once they are old. */
  readonly removed: number
}

const quantities: readonly Quantity[] = [...modelParts, ...trafficColumns]
/** The part whose cases the model is fitted to. */
export const kindsHeading = 'Carrying captures without browsers'
const busy = 'Other programs used the processors meanwhile'

type Row = Readonly<Record<string, string>>
type Section = { readonly heading: string; readonly text: string; readonly tables: readonly (readonly Row[])[] }

const cells = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** Of columns with one name, the first. */
const readTable = (text: string): Row[] => {
  const [head = '', , ...lines] = text.trim().split('\n')
  const names = cells(head).map((name, column) => (column === 0 ? 'name' : name))
  return lines.map((line) => {
    const row = cells(line)
    return Object.fromEntries(names.map((name) => [name, row[names.indexOf(name)] ?? '']))
  })
}

const readSections = (page: string): Section[] =>
  page
    .split(/^## /m)
    .slice(1)
    .map((text) => ({
      heading: text.slice(0, text.indexOf('\n')),
      text,
      tables: (text.match(/(?:^\|.*\n?)+/gm) ?? []).map(readTable),
    }))

/** The number in a cell; throws where the page has none. */
const numberIn = (row: Row | undefined, column: string): number => {
  const value = Number(row?.[column]?.replaceAll(',', '') || Number.NaN)
  if (Number.isNaN(value)) throw new Error(`docs/benchmarks.md has no number in "${column}" of "${row?.['name']}"`)
  return value
}

const readPoints = ({ heading, text, tables: [times = [], costs = [], traffic = []] }: Section): Point[] =>
  times.map((row, nth) => {
    const wholePagesKib = numberIn(traffic[nth], 'of it whole pages')
    const cost = Object.fromEntries([
      ...modelParts.map((part) => [part, numberIn(costs[nth], part)]),
      ...trafficColumns.map((column) => [column, numberIn(traffic[nth], column)]),
    ]) as Point['cost']
    return {
      part: heading,
      name: row['name'] ?? '',
      rate: numberIn(row, 'to result'),
      isQuiet: !text.includes(busy),
      cost: { ...cost, 'WAL KiB': cost['WAL KiB'] - wholePagesKib },
      wholePagesKib,
    }
  })

/** Reads the tables of docs/benchmarks.md. Throws if one lacks what the model needs. */
export const readMeasurements = (page: string): Measurements => {
  const sections = readSections(page)
  const find = (heading: string, nth = 0) => {
    const found = sections.find((section) => section.heading === heading)?.tables[nth]
    if (!found) throw new Error(`docs/benchmarks.md has no table below "${heading}"`)
    return (name: RegExp) => found.find((row) => name.test(row['name'] ?? ''))
  }
  const disk = sections.find(({ heading }) => heading === 'What a capture leaves on disk')
  const streams = find('What a capture leaves on disk', 1)
  const accepting = find('Accepting')
  const waiting = find('Carrying captures beside those that wait', 3)(/ captures wait$/)
  return {
    points: sections.filter(({ heading }) => heading.startsWith('Carrying captures')).flatMap(readPoints),
    tables: (disk?.tables[0] ?? []).map((row) => ({
      name: row['name'] ?? '',
      grown: numberIn(row, 'table and indexes'),
      rewritten: numberIn(row, 'rewritten'),
    })),
    resultsBytes: numberIn(streams(/^RESULTS/), ''),
    waitingBytes: numberIn(streams(/^CAPTURES/), ''),
    backlog: {
      waiting: waiting?.['name']?.replace(/ .*/, '') ?? '',
      firstMs: waiting?.['first of another account, ms'] ?? '',
    },
    oneAccount: numberIn(accepting(/^captures of one account without limits/), 'together'),
    manyAccounts: numberIn(accepting(/^captures of a hundred accounts/), 'together'),
    deliveries: numberIn(find('The sender of webhooks')(/^deliveries per second, one process/), 'measured'),
    removed: numberIn(find('While rows are removed')(/^webhook_delivery$/), 'per second'),
  }
}

/** Shares of the kinds among mixed captures: of twenty, ten of a batch, five asynchronous, four synchronous, one viewed by a link. */
const shares = { 'batch alone': 0.5, 'asynchronous alone': 0.25, 'synchronous alone': 0.2, 'link alone': 0.05 }

/** Costs of mixed captures by rate, in the unit of the column; `replicas`: processes that share the rate. */
export type Model = (quantity: Quantity, rate: number, replicas?: number) => number

/**
 * Fits `least` from the kinds that were measured alone, weighted by their shares, and `fixed` from mixed captures at a low rate: only
 * there does it weigh. So mixed captures as fast as they go, and all other parts, are predictions. Throws if a case is missing.
 */
export const fitModel = ({ points }: Pick<Measurements, 'points'>): Model => {
  const find = (name: string) => {
    const point = points.find(({ part, name: each }) => part === kindsHeading && each === name)
    if (!point) throw new Error(`docs/benchmarks.md has no case "${name}" below "${kindsHeading}"`)
    return point
  }
  const kinds = Object.entries(shares).map(([name, share]) => ({ share, point: find(name) }))
  const slow = find('mixed, 20 per second')
  const fits = quantities.map((quantity) => {
    const mean = kinds.reduce((sum, { share, point }) => sum + share * point.cost[quantity], 0)
    const meanInverse = kinds.reduce((sum, { share, point }) => sum + share / point.rate, 0)
    const fixed = (slow.cost[quantity] - mean) / (1 / slow.rate - meanInverse)
    return [quantity, { fixed, least: mean - fixed * meanInverse }] as const
  })
  const fitted = new Map(fits)
  return (quantity, rate, replicas = 1) => {
    const { least = 0, fixed = 0 } = fitted.get(quantity) ?? {}
    return least + (fixed * replicas) / rate
  }
}

/** How a prediction compares with what was measured; `deviation` is a share of what was measured. */
export type Check = {
  readonly point: Point
  readonly quantity: Quantity | 'carrier'
  readonly measured: number
  readonly predicted: number
  readonly deviation: number
}

/** Whether it is mixed captures and none of what the model was fitted to. */
const isPrediction = ({ part, name }: Point) => part !== kindsHeading || name === 'mixed'

const replicasIn = ({ name }: Point, quantity: Quantity) =>
  name.startsWith('three') && (quantity === 'gateway' || quantity === 'ledger') ? 3 : 1

/** Compares the model with every case of mixed captures that it was not fitted to: each quantity, and the sum of the parts. */
export const checkModel = (points: readonly Point[], model: Model): Check[] =>
  points.filter(isPrediction).flatMap((point) => {
    const predict = (quantity: Quantity) => model(quantity, point.rate, replicasIn(point, quantity))
    const sum = (read: (part: ModelPart) => number) => modelParts.reduce((total, part) => total + read(part), 0)
    const each = quantities.map((quantity) => [quantity, point.cost[quantity], predict(quantity)] as const)
    const all = ['carrier', sum((part) => point.cost[part]), sum(predict)] as const
    return [all, ...each].map(([quantity, measured, predicted]) => {
      return { point, quantity, measured, predicted, deviation: predicted / measured - 1 }
    })
  })
