const units = ['B', 'KiB', 'MiB', 'GiB'] as const

/** A size in binary units with at most one decimal. */
export const formatBytes = (bytes: number): string => {
  const exponent = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1)
  const value = bytes / 1024 ** exponent
  return `${exponent === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${units[exponent]}`
}

/** A duration: milliseconds below one second, else seconds with at most two decimals, from one minute on minutes and seconds. */
export const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(2))} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** A whole number with separators between thousands. */
export const formatCount = (count: number): string => count.toLocaleString('en')

/** A number of things, such as "1 capture" and "2 captures". */
export const formatCounted = (count: number, thing: string): string =>
  `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`

/** Hours, or days if they are whole ones. */
export const formatHours = (hours: number): string =>
  hours % 24 === 0 && hours > 24 ? formatCounted(hours / 24, 'day') : formatCounted(hours, 'hour')

/** A share from 0 to 1 as a percentage, rounded down so that 100 % means all. */
export const formatShare = (share: number): string => `${Math.floor(share * 1000) / 10} %`

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
  ['year', Infinity],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

/** A time seen from `nowMs`, such as "3 min. ago". Less than ten seconds are "now". */
export const formatRelative = (isoTime: string, nowMs: number): string => {
  let value = (Date.parse(isoTime) - nowMs) / 1000
  if (Math.abs(value) < 10) return 'now'
  for (const [unit, size] of steps) {
    if (Math.abs(value) < size) return relative.format(Math.round(value), unit)
    value /= size
  }
  return isoTime
}

/** A time in a zone, the viewer's by default, with seconds and the zone's name. */
export const formatExact = (isoTime: string, timeZone?: string): string =>
  new Date(isoTime).toLocaleString('en-GB', {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    ...(timeZone !== undefined && { timeZone }),
  })

/** A date of the API as day and month. */
export const formatDay = (date: string): string =>
  new Date(`${date}T00:00Z`).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A name of the API as words: `screenshot.completed` becomes "Screenshot completed". */
export const formatName = (name: string): string => {
  const words = name.replaceAll(/[_.]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
