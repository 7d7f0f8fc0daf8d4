import t from 'tap'
import { testFault } from './test-fault.ts'
import { quota } from './world/faults-of-objects.ts'
import { createRefusedForEver } from './world/missing-guards.ts'

testFault(t, () => quota, [{ missing: createRefusedForEver, shows: 'lost' }])
