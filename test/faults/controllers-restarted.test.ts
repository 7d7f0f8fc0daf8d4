import t from 'tap'
import { testFault } from './test-fault.ts'
import { manyControllers } from './world/faults-of-servers.ts'
import { leaseNotAwaited } from './world/missing-guards.ts'

testFault(t, () => manyControllers, [{ missing: () => leaseNotAwaited, shows: 'not-leading' }])
