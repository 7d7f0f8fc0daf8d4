import t from 'tap'
import { testFault } from './test-fault.ts'
import { cutOffLeader } from './world/faults-of-servers.ts'
import { termNeverEnds } from './world/missing-guards.ts'

testFault(t, () => cutOffLeader, [{ missing: () => termNeverEnds, shows: 'not-leading' }])
