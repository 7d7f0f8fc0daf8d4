import t from 'tap'
import { testFault } from './test-fault.ts'
import { createOlderState } from './world/faults-of-servers.ts'
import { listIgnoresAbsence, restartUnnoticed } from './world/missing-guards.ts'

testFault(t, createOlderState, [
  { missing: () => listIgnoresAbsence, shows: 'restless' },
  { missing: () => restartUnnoticed, shows: 'restless' },
])
