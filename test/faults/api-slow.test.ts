import t from 'tap'
import { testFault } from './test-fault.ts'
import { slow } from './world/faults-of-servers.ts'
import { createNewNamesOnRetry } from './world/missing-guards.ts'

testFault(t, () => slow, [{ missing: createNewNamesOnRetry, shows: 'too-many-jobs' }])
