import t from 'tap'
import { checkSelectors } from '#gateway/parameters/check-selectors.ts'
import { collectFaults } from '#shared/capture/faults.ts'

t.test('check selectors: a list of too many selectors is not judged, nor a selector that is too long', async (t) => {
  const hidden = ['a', 'b >']
  const one = collectFaults()
  checkSelectors({ hide_selectors: hidden, selector: '!' }, one)
  t.same(one.all(), { 'hide_selectors.1': ['must be a CSS selector'], selector: ['must be a CSS selector'] })
  const known = { hide_selectors: ['must be a list of at most 20 entries'], selector: ['must be shorter'] }
  const other = collectFaults(known)
  checkSelectors({ hide_selectors: hidden, selector: '!' }, other)
  t.same(other.all(), known)
})
