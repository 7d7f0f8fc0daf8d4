import { serveParent } from '#test/bench/fork-sender.ts'
import { runClients } from './clients.ts'

// The clients of a benchmark in a process of their own.
serveParent(runClients)
