import t from 'tap'
import { waitSeconds } from '#gateway/wait/wait-seconds.ts'

t.test('a wait is a whole number of seconds from 0 to 60', async (t) => {
  t.same([undefined, '0', '1', '60'].map(waitSeconds), [0, 0, 1, 60])
  for (const given of ['', '61', '-1', '1.5', '1s', ' 1', '1e1', '0x1', '9999999999']) {
    t.throws(() => waitSeconds(given), { code: 'VALIDATION_ERROR', details: { wait: [/from 0 to 60/] } }, given)
  }
})
