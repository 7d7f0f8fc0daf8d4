import t from 'tap'
import { testFault } from './test-fault.ts'
import { createOlderState } from './world/faults-of-servers.ts'
import { copiesOnlyGrow, refusedIsNothingSpecial } from './world/missing-guards.ts'

testFault(t, createOlderState, [
  { missing: () => copiesOnlyGrow, shows: 'restless' },
  { missing: () => refusedIsNothingSpecial, shows: 'restless' },
])
