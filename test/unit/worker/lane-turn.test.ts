import t from 'tap'
import { laneOrder } from '#shared/capture/lane.ts'
import { laneTurnOf } from '#worker/lane-turn.ts'

t.test('a name always gives the same turn, and names are spread over all lanes', async (t) => {
  t.equal(laneTurnOf('proxied-abc'), laneTurnOf('proxied-abc'))
  const first = Array.from({ length: 800 }, (_none, index) => laneOrder(laneTurnOf(`proxied-${index}`))[0])
  const count = (lane: string) => first.filter((each) => each === lane).length
  t.ok(count('interactive') > 500 && count('interactive') < 700, `${count('interactive')} begin at interactive`)
  t.ok(count('normal') > 50 && count('bulk') > 50, `${count('normal')} at normal, ${count('bulk')} at bulk`)
})
