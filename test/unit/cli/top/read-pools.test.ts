import { createServer } from 'node:http'
import t from 'tap'
import { poolsIn, readPools } from '#cli/top/read-pools.ts'
import { listening } from '#test/helpers/egress-filter.ts'

const text = `# HELP shutterfleet_pool_workers Workers
shutterfleet_pool_workers{component="controller",queue="standard",browserpool="fast",state="ready"} 2
shutterfleet_pool_workers{component="controller",queue="standard",browserpool="fast",state="starting"} 1
shutterfleet_pool_workers{component="controller",queue="standard",browserpool="fast",state="stuck"} 1
shutterfleet_pool_workers_desired{component="controller",queue="standard",browserpool="fast"} 4
shutterfleet_pool_slots{component="controller",queue="standard",browserpool="fast"} 4
shutterfleet_pool_slots_busy{component="controller",queue="standard",browserpool="fast"} 3
shutterfleet_pool_lane_objective_seconds{component="controller",queue="standard",browserpool="fast",lane="interactive"} 2.5
shutterfleet_pool_captures_waiting{component="controller",queue="proxied",browserpool="behind"} 7
process_cpu_seconds_total 12
`

t.test('pools: are parsed from the metrics of a controller', async (t) => {
  const unknown = { ready: undefined, coming: undefined, min: undefined, max: undefined }
  t.strictSame(poolsIn(text), [
    {
      ...unknown,
      pool: 'fast',
      queue: 'standard',
      ready: 2,
      coming: 2,
      desired: 4,
      slots: 4,
      busy: 3,
      waiting: undefined,
      objectivesMs: { interactive: 2500 },
    },
    {
      ...unknown,
      pool: 'behind',
      queue: 'proxied',
      desired: undefined,
      slots: undefined,
      busy: undefined,
      waiting: 7,
      objectivesMs: {},
    },
  ])
  t.strictSame(poolsIn(''), [])
})

t.test('pools: rejects a controller that times out or responds with an error', async (t) => {
  const stop = new AbortController().signal
  await using server = await listening(
    createServer(({ url }, response) => {
      if (url === '/broken') response.writeHead(500).end()
    }),
  )
  const at = `http://127.0.0.1:${server.port}`
  await t.rejects(readPools(`${at}/broken`, stop, 5000), { message: /returned 500/ })
  await t.rejects(readPools(`${at}/silent`, stop, 50), { name: 'TimeoutError' })
})
