import type { DashboardPanel } from '#test/helpers/dashboard-queries.ts'
import type { Series } from '#test/helpers/prometheus.ts'

const colors = ['#3274d9', '#e0752d', '#37872d', '#c4162a', '#8f3bb8', '#0a8a8a', '#b8860b', '#666666']
const chart = { width: 560, height: 150, left: 52 }
const plotWidth = chart.width - chart.left
/** Grafana's names of colours; `text` follows the theme. */
const judgements: Readonly<Record<string, string>> = {
  green: '#37872d',
  orange: '#e0752d',
  red: '#c4162a',
  text: 'var(--text)',
}
/** Steps without a sample after which a line is interrupted: its series was at zero and hidden. */
const gapSeconds = 3
/** Events closer to each other than this many seconds are one mark: each stays in its window of a minute. */
const markSeconds = 60
/** Lines beyond the colours are dashed. */
const dashOf = (index: number) => (index < colors.length ? '' : ' stroke-dasharray="4 3"')

/** A line of a panel: its name in the legend, and its finite points. */
type Line = { readonly name: string; readonly points: readonly (readonly [number, number])[] }

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const named = (legend: string, metric: Series['metric']): string =>
  legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')

/** The lines of a panel; `answers` contains one list of series for each of its queries. */
const linesOf = ({ queries }: DashboardPanel, answers: readonly (readonly Series[])[]): Line[] =>
  answers.flatMap((all, index) =>
    all
      .map(({ metric, values }) => ({
        name: named(queries[index]?.legend ?? '', metric),
        points: values.map(([at, value]) => [at, Number(value)] as const).filter(([, value]) => Number.isFinite(value)),
      }))
      .filter(({ points }) => points.length > 0),
  )

const rounded = (value: number): string => String(Number(value.toPrecision(3)))

const format = (value: number, unit: string): string => {
  if (unit === 'percentunit') return `${rounded(value * 100)} %`
  if (unit === 'bytes' || unit === 'Bps') {
    const power = Math.min(3, Math.floor(Math.log2(Math.max(value, 1)) / 10))
    return `${rounded(value / 1024 ** power)} ${['B', 'KiB', 'MiB', 'GiB'][power]}${unit === 'Bps' ? '/s' : ''}`
  }
  if (unit === 's' && value !== 0 && value < 1) return `${rounded(value * 1000)} ms`
  return `${rounded(value)}${{ s: ' s', ops: '/s' }[unit] ?? ''}`
}

/** The points of a line between its gaps. */
const pieces = ({ points }: Line): Line['points'][] => {
  const found: (readonly [number, number])[][] = []
  for (const point of points) {
    const last = found.at(-1)?.at(-1)
    if (last && point[0] - last[0] <= gapSeconds) found.at(-1)?.push(point)
    else found.push([point])
  }
  return found
}

/** Times at which each series of annotations begins an event. */
export const eventTimes = (answers: readonly Series[]): number[] =>
  answers.flatMap(({ values }) =>
    values.flatMap(([at], index) => {
      const before = values[index - 1]
      return before && at - before[0] <= markSeconds ? [] : [at]
    }),
  )

const drawLines = (lines: readonly Line[], { unit, steps }: DashboardPanel, events: readonly number[]): string => {
  const all = lines.flatMap(({ points }) => points)
  const highest = Math.max(...all.map(([, value]) => value), 0) || 1
  const first = Math.min(...all.map(([at]) => at))
  const span = Math.max(...all.map(([at]) => at)) - first || 1
  const x = (at: number) => (chart.left + ((at - first) / span) * plotWidth).toFixed(1)
  const y = (value: number) => (chart.height - 8 - (value / highest) * (chart.height - 16)).toFixed(1)
  const grid = [0, 0.5, 1].map(
    (part) =>
      `<path d="M${chart.left} ${y(part * highest)}H${chart.width}" stroke="var(--grid)"/><text x="${chart.left - 6}" y="${y(part * highest)}" text-anchor="end" dominant-baseline="middle">${format(part * highest, unit)}</text>`,
  )
  const paths = lines.flatMap((line, index) =>
    pieces(line).map((points) => {
      // A point alone is a dot.
      const ends = points.length === 1 ? ' stroke-linecap="round"' : ''
      const drawn = points.length === 1 ? [...points, ...points] : points
      return `<polyline points="${drawn.map(([at, value]) => `${x(at)},${y(value)}`).join(' ')}" fill="none" stroke="${colors[index % colors.length]}" stroke-width="${ends ? 3 : 1.5}"${ends || dashOf(index)}/>`
    }),
  )
  const shown = events
    .filter((at) => at >= first && at <= first + span)
    .map((at) => `<path d="M${x(at)} 0V${chart.height}" stroke="#5794f2" stroke-dasharray="3 3"/>`)
  const marks = steps.flatMap(({ color, value }) =>
    value === null || value > highest
      ? []
      : [`<path d="M${chart.left} ${y(value)}H${chart.width}" stroke="${judgements[color]}" stroke-dasharray="2 4"/>`],
  )
  return `<svg width="${chart.width}" height="${chart.height}">${[...grid, ...marks, ...shown, ...paths].join('')}</svg>`
}

const drawLegend = (lines: readonly Line[]): string => {
  const shown = lines.map(
    ({ name }, index) =>
      `<span style="color:${colors[index % colors.length]}">${index < colors.length ? '▬' : '╍'} ${escape(name)}</span>`,
  )
  return `<footer>${shown.join(' ')}</footer>`
}

const drawStat = (lines: readonly Line[], { unit, steps }: DashboardPanel): string => {
  const values = lines.map(({ name, points }) => {
    const last = points.at(-1)?.[1] ?? 0
    const color = judgements[steps.findLast(({ value }) => value === null || last >= value)?.color ?? 'text']
    return `<div><b style="color:${color}">${format(last, unit)}</b> ${escape(name)}</div>`
  })
  return values.join('')
}

/** A panel as HTML; `answers` are Prometheus' results of its queries, `events` marks. Lines with the lowest maximum come last. */
export const drawPanel = (
  panel: DashboardPanel,
  answers: readonly (readonly Series[])[],
  events: readonly number[] = [],
): string => {
  const highest = ({ points }: Line) => Math.max(...points.map(([, value]) => value))
  const lines = linesOf(panel, answers).toSorted((one, other) => highest(other) - highest(one))
  const title = `<h2>${escape(panel.title)}</h2>`
  if (lines.length === 0) return `<section>${title}<p>No data: it has not happened</p></section>`
  if (panel.isStat) return `<section class="stat">${title}${drawStat(lines, panel)}</section>`
  return `<section>${title}${drawLines(lines, panel, events)}${drawLegend(lines)}</section>`
}

/** The heading of a row of panels as HTML. */
export const drawRow = (title: string): string => `<h3>${escape(title)}</h3>`

/** The page of a dashboard, given its rows and panels as HTML. */
export const drawPage = (title: string, panels: readonly string[]): string => `<!doctype html><meta charset="utf-8">
<title>${escape(title)}</title>
<style>
  :root { --text: #222; --page: #f4f5f5; --panel: #fff; --grid: #ddd; --dim: #666 }
  @media (prefers-color-scheme: dark) { :root { --text: #d8d9da; --page: #111217; --panel: #181b1f; --grid: #34373c; --dim: #9a9da3 } }
  body { margin: 0; padding: 16px; width: 1168px; background: var(--page); font: 12px sans-serif; color: var(--text) }
  main { display: grid; grid-template-columns: repeat(4, 1fr); gap: 8px }
  section { grid-column: span 2; background: var(--panel); border: 1px solid var(--grid); padding: 8px; min-width: 0 }
  section.stat { grid-column: span 1 }
  h3 { grid-column: span 4; font-size: 14px; margin: 10px 0 0 }
  section.stat div { display: flex; align-items: baseline; gap: 6px } section.stat div:not(:only-of-type) b { font-size: 18px }
  h1 { font-size: 18px; margin: 0 0 12px } h2 { font-size: 13px; margin: 0 0 6px }
  b { font-size: 30px; font-weight: normal } p { color: var(--dim) }
  footer { line-height: 1.6 } footer span { margin-right: 10px; white-space: nowrap } text { font-size: 11px; fill: var(--dim) }
</style>
<h1>${escape(title)}</h1><main>${panels.join('')}</main>`
