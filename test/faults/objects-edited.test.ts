import t from 'tap'
import { testFault } from './test-fault.ts'
import { edited } from './world/faults-of-objects.ts'
import { scaleDownByOneMore } from './world/missing-guards.ts'

testFault(t, () => edited, [{ missing: () => scaleDownByOneMore, shows: 'busy-ended' }])
