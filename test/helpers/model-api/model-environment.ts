import { createKubeApi } from '#shared/kube/client.ts'
import { createHandClock, type HandClock } from '#test/helpers/hand-clock.ts'
import { createModelApi, type ModelApi } from '#test/helpers/model-api.ts'
import { seededRandom } from '#cli/simulation/random.ts'
import type { Environment } from './conformance.ts'
import type { Runtime } from './kubelet.ts'
import { at, type Stored } from './object.ts'

const boundMs = 120_000
const stepMs = 20

const readyAnnotation = 'pod-ready.stage.kwok.x-k8s.io/delay'
const completeAnnotation = 'pod-complete.stage.kwok.x-k8s.io/delay'

const cores = 32

const coresOf = (pod: Stored): number => {
  const [container] = at(pod, 'spec', 'containers') as { resources?: { requests?: { cpu?: string } } }[]
  return Number(container?.resources?.requests?.cpu ?? 0)
}

/** Simulates containers as the kwok stages of the test cluster do: ready at once; containers of Jobs succeed. */
const stagesRuntime = (after: HandClock['after'], unready: Map<string, () => void>): Runtime => ({
  startMs: () => 100,
  place: (pod, beside) =>
    coresOf(pod) + beside.reduce((sum, each) => sum + coresOf(each), 0) <= cores ? 'node-1' : undefined,
  trouble: () => undefined,
  start: (pod: Stored, events) => {
    let runs = true
    const exit = (code: number) => {
      if (runs) events.exited(code)
      runs = false
    }
    const readyText = pod.metadata.annotations?.[readyAnnotation] ?? '0'
    after(Number.parseInt(readyText), () => runs && events.ready(true))
    unready.set(pod.metadata.name, () => events.ready(false))
    const isJobs = pod.metadata.ownerReferences?.[0]?.kind === 'Job'
    if (isJobs) after(Number.parseInt(pod.metadata.annotations?.[completeAnnotation] ?? '100'), () => exit(0))
    return { stop: () => exit(0), kill: () => exit(137) }
  },
})

/** The model as an environment whose clock advances without waiting. */
export const createModelEnvironment = (change: (model: ModelApi) => void = () => {}): Environment => {
  const clock = createHandClock()
  const unready = new Map<string, () => void>()
  const model = createModelApi({ clock, random: seededRandom(1), runtime: stagesRuntime(clock.after, unready) })
  change(model)
  const connection = model.connect({ name: 'client', deliver: (run) => run() })
  const raw = createKubeApi(connection)

  /** Advances the clock until a request settles. */
  const driven = async <T>(request: Promise<T>): Promise<T> => {
    const state = { isOver: false }
    const over = () => (state.isOver = true)
    request.then(over, over)
    for (let passedMs = 0; !state.isOver && passedMs < boundMs; passedMs += 1) await clock.advance(1)
    return request
  }
  const driveCalls = (api: typeof raw): typeof raw => ({
    ...api,
    list: (...parameters) => driven(api.list(...parameters)),
    get: (...parameters) => driven(api.get(...parameters)),
    create: (...parameters) => driven(api.create(...parameters)),
    patch: (...parameters) => driven(api.patch(...parameters)),
    remove: (...parameters) => driven(api.remove(...parameters)),
  })
  return {
    api: driveCalls(raw),
    unready: async (pod) => unready.get(pod)?.(),
    wait: (ms) => clock.advance(ms),
    until: async (what, condition) => {
      for (let passedMs = 0; passedMs < boundMs; passedMs += stepMs) {
        if (await condition()) return
        await clock.advance(stepMs)
      }
      throw new Error(`never: ${what}`)
    },
    undo: async (undone) => {
      const snapshot = model.snapshot()
      await undone()
      model.restart(snapshot)
    },
  }
}
