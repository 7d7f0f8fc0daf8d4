import t from 'tap'
import { testFault } from './test-fault.ts'
import { cutOffLeader } from './world/faults-of-servers.ts'
import { ledForEver } from './world/missing-guards.ts'

testFault(t, () => cutOffLeader, [{ missing: () => ledForEver, shows: 'not-leading' }])
