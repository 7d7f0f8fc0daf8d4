import t from 'tap'
import { testFault } from './test-fault.ts'
import { quota } from './world/faults-of-objects.ts'
import { createNoRetryAfterQuota } from './world/missing-guards.ts'

testFault(t, () => quota, [{ missing: createNoRetryAfterQuota, shows: 'lost' }])
