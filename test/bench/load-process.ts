import { serveParent } from './fork-sender.ts'
import { sendLoad } from './load.ts'

// The load of a benchmark in a process of its own.
serveParent(sendLoad)
