import t from 'tap'
import { testFault } from './test-fault.ts'
import { skewed } from './world/faults-of-servers.ts'
import { leaseByCalendar } from './world/missing-guards.ts'

testFault(t, () => skewed, [{ missing: () => leaseByCalendar, shows: 'not-leading' }])
