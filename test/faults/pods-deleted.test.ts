import t from 'tap'
import { testFault } from './test-fault.ts'
import { deletedPods } from './world/faults-of-objects.ts'
import { drainsNotAwaited } from './world/missing-guards.ts'

testFault(t, () => deletedPods, [{ missing: () => drainsNotAwaited, shows: 'busy-ended' }])
