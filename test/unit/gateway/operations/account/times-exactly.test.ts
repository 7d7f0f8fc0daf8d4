import t from 'tap'
import { timesExactly } from '#gateway/operations/account/times-exactly.ts'
import { seeded } from '#test/helpers/seeded.ts'

t.test('a product has as many decimals as the price, and no error', async (t) => {
  t.equal(timesExactly('0.009', 0), '0.000')
  t.equal(timesExactly('0.009', 3), '0.027')
  t.equal(timesExactly('0.1', 3), '0.3', 'not 0.30000000000000004')
  t.equal(timesExactly('0.006', 15_001), '90.006')
  t.equal(timesExactly('29.90', 10), '299.00')
  t.equal(timesExactly('119', 10), '1190')
  t.equal(timesExactly('0', 10), '0')
  t.equal(timesExactly('999999999.999999999', 2_147_483_647), '2147483646999999997.852516353')
})

t.test('any product is that of the smallest units, which are whole numbers', async (t) => {
  const below = seeded(3)
  for (let turn = 0; turn < 1000; turn += 1) {
    const decimals = 1 + below(9)
    const [whole, units, times] = [below(1_000_000_000), below(10 ** decimals), below(2_147_483_648)]
    const [before = '', after = ''] = timesExactly(`${whole}.${String(units).padStart(decimals, '0')}`, times).split(
      '.',
    )
    const scale = 10n ** BigInt(decimals)
    t.equal(after.length, decimals)
    t.match(before, /^(0|[1-9]\d*)$/)
    t.equal(BigInt(before) * scale + BigInt(after), (BigInt(whole) * scale + BigInt(units)) * BigInt(times))
  }
})
