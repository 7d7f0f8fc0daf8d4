import t from 'tap'
import { testFault } from './test-fault.ts'
import { edited } from './world/faults-of-objects.ts'
import { oneTooFew } from './world/missing-guards.ts'

testFault(t, () => edited, [{ missing: () => oneTooFew, shows: 'busy-ended' }])
