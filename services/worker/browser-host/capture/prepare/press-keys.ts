import type { CaptureParameters } from '#shared/capture/options.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'

type Focused = Pick<OpenPage, 'session'>
type KeyName = NonNullable<NonNullable<CaptureParameters['actions']>[number]['key']>
type Key = {
  readonly key: string
  readonly code?: string
  readonly windowsVirtualKeyCode?: number
  readonly text?: string
}

const codes: Readonly<Record<KeyName, number>> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Escape: 27,
  Space: 32,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Delete: 46,
}
const texts: Partial<Record<KeyName, string>> = { Enter: '\r', Space: ' ' }

const toKey = (name: KeyName): Key => {
  const { [name]: text } = texts
  const key = name === 'Space' ? ' ' : name
  return { key, code: name, windowsVirtualKeyCode: codes[name], ...(text !== undefined && { text }) }
}

/** Sends both events at once, as the response to the first waits for the page's handlers. */
const press = async ({ session }: Focused, key: Key): Promise<void> => {
  const down = key.text === undefined ? 'rawKeyDown' : 'keyDown'
  await Promise.all([
    session.send('Input.dispatchKeyEvent', { type: down, ...key }),
    session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key }),
  ])
}

/** Presses a key on the element that has the focus. */
export const pressKey = (open: Focused, name: KeyName): Promise<void> => press(open, toKey(name))

/** Types a text into the element that has the focus, character by character. */
export const typeText = async (open: Focused, text: string): Promise<void> => {
  await Promise.all(Array.from(text, (character) => press(open, { key: character, text: character })))
}
