import t from 'tap'
import { testFault } from './test-fault.ts'
import { unknownPods } from './world/faults-of-objects.ts'
import { unknownPhaseIgnored } from './world/missing-guards.ts'

testFault(t, () => unknownPods, [{ missing: () => unknownPhaseIgnored, shows: 'busy-ended' }])
