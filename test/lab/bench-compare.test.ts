import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { canCarry } from '#test/bench/compare/carry-in-turns.ts'
import { compareRounds } from '#test/bench/compare/interval.ts'
import { measureStart, runningParts } from '#test/bench/compare/parts.ts'
import { measureRound } from '#test/bench/compare/round.ts'
import { createSide } from '#test/bench/compare/side.ts'
import { ownTree } from '#test/bench/compare/tree.ts'
import { seeded } from '#test/helpers/seeded.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'

/** Logarithms of ratios around `middle`, with about `spread` of noise in each round. */
const noisyRounds = (random: (bound: number) => number, rounds: number, { middle = 0, spread = 0.02 } = {}) => {
  // The sum of twelve uniform numbers is close to normal, with a variance of 1.
  const normal = () => Array.from({ length: 12 }, () => random(1000) / 1000).reduce((sum, each) => sum + each, -6)
  return Array.from({ length: rounds }, () => middle + spread * normal())
}

t.test('comparison: equal versions are hardly ever called different', async (t) => {
  const random = seeded(1)
  const verdicts = Array.from({ length: 100 }, () => compareRounds(noisyRounds(random, 8), 0.01).verdict)
  const wrong = verdicts.filter((verdict) => verdict !== 'not distinguishable').length
  t.ok(wrong <= 4, `${wrong} of 100`)
})

t.test('comparison: a difference above the noise is found, in its direction', async (t) => {
  const random = seeded(2)
  for (let turn = 0; turn < 20; turn += 1) {
    t.equal(compareRounds(noisyRounds(random, 10, { middle: Math.log(1.1) }), 0.01).verdict, 'worse')
    t.equal(compareRounds(noisyRounds(random, 10, { middle: Math.log(0.9) }), 0.01).verdict, 'better')
  }
})

t.test('comparison: names the smallest difference that the same noise would have shown', async (t) => {
  const rounds = noisyRounds(seeded(3), 9)
  const { ratio, from, to, resolution } = compareRounds(rounds, 0.01)
  t.ok(from < 1 && 1 < to && from < ratio && ratio < to)
  const shiftedBy = (share: number) => rounds.map((each) => each - Math.log(ratio) + share * Math.log(1 + resolution))
  t.equal(compareRounds(shiftedBy(0.99), 0.01).verdict, 'not distinguishable')
  t.equal(compareRounds(shiftedBy(1.01), 0.01).verdict, 'worse')
})

t.test('comparison: a round in which something else ran is left out, and others decide', async (t) => {
  const rounds = noisyRounds(seeded(4), 10, { middle: Math.log(1.1) })
  t.match(compareRounds([...rounds, -0.5], 0.01), { verdict: 'worse', leftOut: 1 })
  t.equal(compareRounds(rounds, 0.01).leftOut, 0)
})

t.test('comparison: needs more rounds than a few', async (t) => {
  t.throws(() => compareRounds([0.1, 0.1, 0.1, 0.1], 0.01), /at least 5 rounds/)
})

t.test('comparison: a tree of before the benchmark without browsers cannot be compared by it', async (t) => {
  t.strictSame([canCarry(ownTree), canCarry(join(ownTree, 'docs'))], [true, false])
})

t.test('comparison: a round measures every part of two running systems and of a start', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'compare-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await using site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
  const side = await createSide(ownTree, folder, {
    accounts: 1,
    args: ['--workers-max', '1', '--allow-target', site.host],
  })
  const workload = { warmSeconds: 0.3, loadSeconds: 0.3, captures: 2, idleMs: 2000, flow: { turns: 1, captures: 10 } }
  const surroundings = { workload, pageUrl: `http://${site.host}/index.html` }
  const round = await measureRound([side, side], ['flow', ...Object.keys(runningParts)], surroundings)
  t.strictSame(
    [...round.keys()],
    [
      'flow: processor ms each, without workers',
      'idle: % of a core',
      'idle: MiB',
      'capture: processor ms each',
      'capture: processor ms each, without Chromium',
      'capture: p50 ms',
      'png: processor ms each',
      'png: processor ms each, without Chromium',
      'png: p50 ms',
      'accounts: processor ms each',
      'accept: processor ms each',
      'lists: processor ms each',
    ],
  )
  const start = await measureStart(side)
  for (const value of [...[...round.values()].flat(), ...Object.values(start)]) {
    t.ok(Number.isFinite(value) && value > 0, `${value}`)
  }
})
