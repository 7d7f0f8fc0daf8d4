import { Type } from 'typebox'
import { action, selector, withDoc } from './kinds.ts'

/** What is done with the page before the capture. */
export const interaction = {
  selector: withDoc(selector(), {
    description: 'CSS selector of the element to capture.',
    example: 'article',
  }),
  click_selector: withDoc(selector(), {
    description: 'CSS selector of an element to click before the capture.',
    example: '#accept',
  }),
  scroll_to: withDoc(selector(), {
    description: 'CSS selector of an element to scroll into view before the capture.',
    example: 'footer',
  }),
  hide_selectors: withDoc(Type.Array(selector(), { maxItems: 20 }), {
    description: 'CSS selectors of elements to hide.',
    example: ['.banner', '#chat'],
  }),
  actions: withDoc(Type.Array(action, { maxItems: 20 }), {
    description:
      'Steps on the page before the capture, in order: `click`, `hover`, `type` text, `press` a key, `select` an option by value or label, `scroll` to an element or position, `wait` for an element or time.',
    example: [
      { type: 'click', selector: '#search' },
      { type: 'type', text: 'shutter' },
      { type: 'press', key: 'Enter' },
      { type: 'wait', selector: '.result' },
    ],
    more: 'They run after `js`, `click_selector` and `scroll_to`. Each waits up to 2 seconds for its element, a `wait` 5; if it does not appear, the record has a warning and the next step runs. All of them have 10 seconds, besides the times that they `wait`. Texts are never returned.',
  }),
}
