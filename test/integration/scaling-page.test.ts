import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { checkModel, fitModel, type Measurements, readMeasurements } from '#tools/docs/scaling-model.ts'
import { missReason, promisedDeviation, scalingPage } from '#tools/docs/scaling-page.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/benchmarks.md'), 'utf8')

/** What the model misses of mixed captures on a quiet machine, and no reason is given for. */
const unexplained = ({ points }: Pick<Measurements, 'points'>) =>
  checkModel(points, fitModel({ points }))
    .filter(({ point, deviation }) => point.isQuiet && Math.abs(deviation) > promisedDeviation)
    .filter((check) => missReason(check) === undefined)
    .map(({ quantity }) => quantity)

t.test('scaling: the model predicts mixed captures within 15 %, but for what the page gives a reason', (t) => {
  const measured = readMeasurements(page)
  t.strictSame(unexplained(measured), [])
  t.ok(checkModel(measured.points, fitModel(measured)).some(({ point }) => point.isQuiet))

  t.test('another cost of mixed captures is noticed', (t) => {
    const points = measured.points.map((point) =>
      point.name === 'mixed' ? { ...point, cost: { ...point.cost, ledger: point.cost.ledger * 1.5 } } : point,
    )
    t.strictSame(unexplained({ points }), ['ledger'])
    t.end()
  })
  t.end()
})

t.test('scaling: at the rate to which the model is fitted it returns what was measured', (t) => {
  const { points } = readMeasurements(page)
  const model = fitModel({ points })
  const slow = points.find(({ name }) => name === 'mixed, 20 per second')
  t.ok(slow && Math.abs(model('gateway', slow.rate) - slow.cost.gateway) < 1e-9)
  t.ok(model('gateway', 10) > model('gateway', 1000))
  t.ok(model('gateway', 10, 3) > model('gateway', 10))
  t.end()
})

t.test('scaling: a column that two tables share is read from the first', (t) => {
  const { oneAccount, manyAccounts, removed } = readMeasurements(page)
  for (const rate of [oneAccount, manyAccounts, removed]) t.ok(rate > 100, `${rate}`)
  t.end()
})

t.test('scaling: every cell of sizes says whether it is measured, and the page what no database carries', (t) => {
  const text = scalingPage(page)
  const rows = text.split('\n').filter((line) => /^\| (?:gateway|PostgreSQL|WAL|slots)/.test(line))
  t.ok(rows.length >= 5)
  for (const row of rows.slice(0, 5)) t.match(row, /^\| [^|]+\|(?: [\d,.]+ [mc] \|){6}$/)
  t.match(text, /\n\| ledger \| [\d.]+ \| [\d.]+ \|\n/)
  t.match(text, '10,000 a second is past one database')
  t.end()
})

t.test('scaling: a page without a table of the model is reported by its name', (t) => {
  t.throws(() => scalingPage(page.replace('## Accepting\n', '## Accepted\n')), /no table below "Accepting"/)
  t.throws(
    () => scalingPage(page.replace('| mixed, 20 per second |', '| mixed, slow |')),
    /no case "mixed, 20 per second"/,
  )
  t.end()
})
