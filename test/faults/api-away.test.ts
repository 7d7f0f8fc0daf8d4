import t from 'tap'
import { testFault } from './test-fault.ts'
import { away } from './world/faults-of-servers.ts'
import { readFailureIsTrouble } from './world/missing-guards.ts'

testFault(t, () => away, [{ missing: () => readFailureIsTrouble, shows: 'lost' }])
