import t from 'tap'
import { testFault } from './test-fault.ts'
import { createFrozenLeader } from './world/faults-of-servers.ts'
import { noFence } from './world/missing-guards.ts'

testFault(t, createFrozenLeader, [{ missing: () => noFence, shows: 'not-leading' }])
