// Loaded last into each test process (`node-arg` of tap in `package.json`): what a test starts runs as a user starts it. Otherwise
// tap loads a module into each process of Node below a test, which records files and source maps for coverage and takes as much
// processor time as a command of `bin/shutterfleet`. Coverage is not measured here.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.resolve('tap'))
const { removeAllListeners } = require('process-on-spawn') as { readonly removeAllListeners: () => void }
removeAllListeners()
delete process.env['NODE_OPTIONS']
