import { answerParent } from './fork-sender.ts'
import { type Load, sendLoad } from './load.ts'

// The load of a benchmark in a process of its own.
process.on('message', (load: Load) => answerParent(sendLoad(load)))
