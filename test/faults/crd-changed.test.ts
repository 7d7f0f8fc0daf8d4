import t from 'tap'
import { testFault } from './test-fault.ts'
import { createCrdChanges } from './world/faults-of-objects.ts'
import { createNoRetryAfter404 } from './world/missing-guards.ts'

testFault(t, createCrdChanges, [{ missing: createNoRetryAfter404, shows: 'lost' }])
