import { type ClientLoad, runClients } from './clients.ts'

// The clients of a benchmark in a process of their own: sends what its parent passes to it, and passes back the result.
process.on('message', (load: ClientLoad) => {
  void runClients(load).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
