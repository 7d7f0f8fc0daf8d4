import { type Load, sendLoad } from './load.ts'

// The load of a benchmark in a process of its own: sends what its parent tells it, and tells what came of it.
process.on('message', (load: Load) => {
  void sendLoad(load).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
