import t from 'tap'
import { staff } from '#controller/decide/staffing.ts'

const most = 1000

/** Erlang's C formula as it is printed: the share that finds all slots busy. */
const waitShare = (slots: number, load: number): number => {
  let [term, sum] = [1, 0]
  for (let busy = 0; busy < slots; busy += 1) {
    sum += term
    term *= load / (busy + 1)
  }
  const full = (term * slots) / (slots - load)
  return full / (sum + full)
}

t.test('staffing: the fewest slots of which 1 % of captures find all busy, if none may wait', (t) => {
  for (const load of [0.2, 1, 5, 10.5, 20, 50, 99]) {
    const slots = staff(load, { serviceMs: 1000, waitMs: 0, most })
    t.ok(waitShare(slots, load) <= 0.01, `${slots} slots suffice for ${load}`)
    t.ok(slots - 1 <= load || waitShare(slots - 1, load) > 0.01, `${slots - 1} do not`)
  }
  t.end()
})

t.test('staffing: the longer a wait is allowed, the closer to the load', (t) => {
  const slots = [0, 500, 2000, 10_000, 120_000].map((waitMs) => staff(20, { serviceMs: 2000, waitMs, most }))
  t.strictSame(
    slots,
    slots.toSorted((one, other) => other - one),
  )
  t.equal(slots.at(-1), 21, 'more than the load, or the queue would grow')
  t.end()
})

t.test('staffing: nothing for no load, at least one slot for any, and never more than the most', (t) => {
  t.equal(staff(0, { serviceMs: 1000, waitMs: 0, most }), 0)
  t.equal(staff(0.001, { serviceMs: 1000, waitMs: 0, most }), 1)
  t.equal(staff(5000, { serviceMs: 1000, waitMs: 0, most: 40 }), 40)
  t.end()
})
