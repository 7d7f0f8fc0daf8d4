import t from 'tap'
import { testFault } from './test-fault.ts'
import { createCrdChanges } from './world/faults-of-objects.ts'
import { createGivingUp } from './world/missing-guards.ts'

testFault(t, createCrdChanges, [{ missing: createGivingUp, shows: 'lost' }])
