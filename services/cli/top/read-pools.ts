type Sample = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }

const bytesMax = 8 * 1024 * 1024
const sampleForm = /^shutterfleet_(\w+)(?:\{([^}]*)\})? (\S+)$/
const labelForm = /(\w{1,64})="([^"]{0,200})"/g

/** Parses this project's samples from the Prometheus text format. None of their label values contains a quote or a brace. */
export const samplesIn = (text: string): Sample[] =>
  text.split('\n').flatMap((line) => {
    const [, name, list = '', value] = sampleForm.exec(line) ?? []
    if (name === undefined) return []
    const labels = [...list.matchAll(labelForm)].map(([, label = '', setting = '']) => [label, setting] as const)
    return [{ name, labels: Object.fromEntries(labels), value: Number(value) }]
  })

const comingStates = ['unscheduled', 'starting', 'stuck']

/** The pools in a controller's metrics; a figure without a sample is undefined. */
export const poolsIn = (text: string) => {
  const samples = samplesIn(text).filter(({ name, labels }) => name.startsWith('pool_') && labels['browserpool'])
  const byPool = Map.groupBy(samples, ({ labels }) => labels['browserpool'] ?? '')
  return [...byPool].map(([pool, own]) => {
    const value = (name: string) => own.find((each) => each.name === name)?.value
    const workers = (states: readonly string[]) => {
      const found = own.filter(({ name, labels }) => name === 'pool_workers' && states.includes(labels['state'] ?? ''))
      return found.length === 0 ? undefined : found.reduce((sum, each) => sum + each.value, 0)
    }
    return {
      pool,
      queue: own[0]?.labels['queue'] ?? '',
      ready: workers(['ready']),
      /** Workers that are neither ready nor draining. */
      coming: workers(comingStates),
      desired: value('pool_workers_desired'),
      min: value('pool_workers_min'),
      max: value('pool_workers_max'),
      slots: value('pool_slots'),
      busy: value('pool_slots_busy'),
      waiting: value('pool_captures_waiting'),
      /** Longest time that a capture should wait, by lane; a lane without an objective is missing. */
      objectivesMs: Object.fromEntries(
        own
          .filter(({ name }) => name === 'pool_lane_objective_seconds')
          .map(({ labels, value: seconds }) => [labels['lane'] ?? '', seconds * 1000]),
      ),
    }
  })
}

/** A pool as `poolsIn` returns it. */
export type PoolFigures = Readonly<ReturnType<typeof poolsIn>[number]>

/** Reads the pools from a controller's metrics; at most 8 MiB. Rejects if it does not respond with 2xx within `timeoutMs`. */
export const readPools = async (url: string, stop: AbortSignal, timeoutMs: number): Promise<PoolFigures[]> => {
  const response = await fetch(url, { signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return poolsIn(text.slice(0, bytesMax))
}
