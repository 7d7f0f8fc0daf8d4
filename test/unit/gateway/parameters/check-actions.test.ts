import t from 'tap'
import type { FieldErrors } from '#shared/errors/app-error.ts'
import { parseCapture } from '#gateway/parameters/parse-capture.ts'

const actionErrors = (actions: unknown, others = {}): FieldErrors => {
  const verdict = parseCapture({ url: 'https://example.com/', actions, ...others }, { allow: [], hasStealth: true })
  return verdict.ok ? {} : verdict.errors
}

t.test('check actions: each type has the fields that it needs', async (t) => {
  const valid = [
    { type: 'click', selector: 'a' },
    { type: 'hover', selector: 'a' },
    { type: 'type', text: 'b' },
    { type: 'type', selector: 'a', text: 'b' },
    { type: 'press', key: 'Enter' },
    { type: 'select', selector: 'a', value: 'b' },
    { type: 'scroll', selector: 'a' },
    { type: 'scroll', y: 0 },
    { type: 'wait', milliseconds: 0 },
    { type: 'wait', selector: 'a' },
  ]
  t.same(actionErrors(valid), {})
  t.same(actionErrors([{ type: 'click' }, { type: 'select', value: 'b' }, { type: 'press', selector: 'a' }]), {
    'actions.0.selector': ['is required to click'],
    'actions.1.selector': ['is required to select'],
    'actions.2.key': ['is required to press'],
  })
  t.same(actionErrors([{ type: 'scroll' }, { type: 'wait' }]), {
    'actions.0': ['needs one of selector, x, y to scroll'],
    'actions.1': ['needs one of selector, milliseconds to wait'],
  })
})

t.test('check actions: other fields, types, keys and selectors are named', async (t) => {
  const faults = actionErrors([
    { type: 'click', selector: 'a', text: 'b' },
    { type: 'dance' },
    { type: 'press', key: 'F13' },
    { type: 'click', selector: 'a >' },
    { selector: 'a' },
  ])
  t.match(faults, {
    'actions.1.type': [/must be one of click, hover/],
    'actions.2.key': [/must be one of Enter, Tab/],
    'actions.3.selector': ['must be a CSS selector'],
    'actions.4.type': ['is required'],
  })
  t.same(actionErrors([{ type: 'click', selector: 'a', text: 'b' }]), {
    'actions.0.text': ['does not belong to click'],
  })
})

t.test('check actions: the waits and the delay are at most ten seconds in all', async (t) => {
  const wait = (milliseconds: number) => ({ type: 'wait', milliseconds })
  t.same(actionErrors([wait(4000), wait(4000)], { delay: 2 }), {})
  t.same(actionErrors([wait(4000), wait(4001)], { delay: 2 }), {
    actions: ['must wait at most 8000 milliseconds in total, in addition to a delay of 2000'],
  })
  t.same(actionErrors([wait(9651)], { delay: 10, delay_ms: 350 }), {
    actions: ['must wait at most 9650 milliseconds in total, in addition to a delay of 350'],
  })
})
