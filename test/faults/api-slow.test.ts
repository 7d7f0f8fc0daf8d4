import t from 'tap'
import { testFault } from './test-fault.ts'
import { slow } from './world/faults-of-servers.ts'
import { createFreshNames } from './world/missing-guards.ts'

testFault(t, () => slow, [{ missing: createFreshNames, shows: 'too-many-jobs' }])
