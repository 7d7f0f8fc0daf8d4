import { answerParent } from '#test/bench/fork-sender.ts'
import { type ClientLoad, runClients } from './clients.ts'

// The clients of a benchmark in a process of their own.
process.on('message', (load: ClientLoad) => answerParent(runClients(load)))
