import t from 'tap'
import { testFault } from './test-fault.ts'
import { evictedPods } from './world/faults-of-objects.ts'
import { acknowledgedEarly } from './world/missing-guards.ts'

testFault(t, () => evictedPods, [{ missing: () => acknowledgedEarly, shows: 'lost' }])
