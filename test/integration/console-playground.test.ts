import type { Page } from 'playwright'
import t from 'tap'
import { violationsOn } from '#test/helpers/axe.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { buildConsole, consolePages, openPage } from '#test/helpers/console-pages.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startSystem } from '#test/helpers/system.ts'

const captureMs = 60_000

buildConsole()
const system = await startSystem(['--workers-max', '1'])
const browser = await startBareBrowser()
t.teardown(async () => {
  await browser.close()
  await system.stop()
})
const { openContext, signIn, complaints } = consolePages(browser, system)

const openEditor = async (page: Page) => {
  await openPage(page, 'Playground')
  await page.getByRole('radio', { name: 'HTML' }).check()
  return page.getByRole('textbox', { name: 'HTML' })
}

const storedRequests = (page: Page) =>
  page.evaluate<string>(`JSON.stringify(Object.entries(localStorage).filter(([key]) => key.includes('playground')))`)

t.test('playground editor: Tab indents and is undone, Escape then Tab leaves it', async (t) => {
  const page = await openContext()
  await signIn(page)
  const editor = await openEditor(page)
  await editor.fill('<p>\n<b>bold</b>\n  \n</p>')
  await editor.press('Control+Home')
  for (const key of ['ArrowDown', 'Tab']) await editor.press(key)
  t.equal(await editor.inputValue(), '<p>\n  <b>bold</b>\n  \n</p>')
  await editor.press('Control+z')
  t.equal(await editor.inputValue(), '<p>\n<b>bold</b>\n  \n</p>')
  for (const key of ['Control+Home', 'Shift+ArrowDown', 'Shift+ArrowDown', 'Tab']) await editor.press(key)
  t.equal(await editor.inputValue(), '  <p>\n  <b>bold</b>\n  \n</p>')
  for (const key of ['Shift+Tab', 'Control+Home', 'ArrowDown', 'ArrowDown', 'Shift+Tab']) await editor.press(key)
  t.equal(await editor.inputValue(), '<p>\n<b>bold</b>\n\n</p>', 'a line of spaces becomes empty')
  t.equal(await page.evaluate('document.activeElement.tagName'), 'TEXTAREA')
  for (const key of ['Escape', 'Shift+Tab']) await page.keyboard.press(key)
  t.equal(await page.evaluate('document.activeElement.type'), 'radio', 'out of the box, backwards')
  await editor.focus()
  for (const key of ['Escape', 'Tab']) await page.keyboard.press(key)
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Capture', 'and forwards')
})

for (const [width, colorScheme] of [
  [360, 'dark'],
  [1280, 'light'],
] as const)
  t.test(`playground editor: lines are numbered and scroll together at ${width} px in ${colorScheme}`, async (t) => {
    const page = await openContext({ width, colorScheme })
    await signIn(page)
    const editor = await openEditor(page)
    await editor.fill(Array.from({ length: 300 }, (_, line) => `<p>${line} ${'wide '.repeat(40)}</p>`).join('\n'))
    const numbers = page.locator('.editor-numbers')
    t.match(await numbers.textContent(), /^1\n2\n[^]*\n300$/)
    const heightOf = (selector: string) => page.locator(selector).evaluate((element) => element.clientHeight)
    t.equal(await heightOf('.editor-numbers'), await heightOf('.editor'), 'as high as the box')
    await editor.press('Control+End')
    const topOf = (selector: string) => page.locator(selector).evaluate((element) => element.scrollTop)
    await eventually(async () => (await topOf('.editor-numbers')) === (await topOf('.editor textarea')))
    t.ok((await numbers.evaluate((box) => box.scrollTop)) > 1000)
    t.same(await violationsOn(page), [])
    t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
  })

t.test(
  'playground history: a request is restored without secrets, leads to its capture, and goes at sign-out',
  async (t) => {
    const page = await openContext({ width: 360 })
    await signIn(page)
    const editor = await openEditor(page)
    await editor.fill('<h1>Confidential</h1>')
    await page.getByRole('searchbox', { name: 'Find a parameter' }).fill('width')
    await page.getByRole('spinbutton', { name: 'width', exact: true }).fill('640')
    await page.getByRole('searchbox', { name: 'Find a parameter' }).fill('headers')
    await page.getByRole('textbox', { name: 'headers' }).fill('{"Authorization": "Bearer secret"}')
    await page.getByRole('button', { name: 'Capture' }).click()
    await page.getByRole('heading', { name: 'Your latest requests' }).waitFor()
    const stored = await storedRequests(page)
    t.match(stored, 'width=640')
    t.notMatch(stored, /Confidential|secret/)
    t.same(await violationsOn(page), [])
    t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    await page.getByRole('img', { name: 'Capture result' }).waitFor({ timeout: captureMs })

    await page.reload()
    await page.getByRole('button', { name: 'Restore HTML' }).click()
    t.ok(await page.getByRole('radio', { name: 'HTML' }).isChecked())
    t.equal(await page.evaluate('document.activeElement.ariaLabel'), 'HTML', 'the focus is on the source')
    t.match(await page.getByRole('region', { name: 'curl' }).textContent(), '"width": 640')
    t.equal(await editor.inputValue(), '', 'contents of pages are not kept')
    await page.getByRole('radio', { name: 'Web page' }).check()
    await editor.waitFor({ state: 'detached' })
    await page.getByRole('table').getByRole('link', { name: 'HTML' }).click()
    await page.getByRole('img', { name: 'Captured picture' }).waitFor()

    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    t.equal(await storedRequests(page), '[]')
  },
)

t.test('playground history: a refused request is not kept, and the list is cleared by its button', async (t) => {
  const page = await openContext()
  await signIn(page)
  await openPage(page, 'Playground')
  const url = page.getByRole('textbox', { name: 'URL' })
  await url.fill('nowhere')
  await page.getByRole('button', { name: 'Capture' }).click()
  await page.getByRole('alert').waitFor()
  t.equal(await storedRequests(page), '[]')
  await url.fill('https://user:password@not-there.invalid/')
  await page.getByRole('button', { name: 'Capture' }).click()
  await page.getByRole('button', { name: 'Restore https://not-there.invalid/' }).waitFor()
  t.notMatch(await storedRequests(page), 'password')
  await page.getByRole('button', { name: 'Clear' }).click()
  t.equal(await page.getByRole('heading', { name: 'Your latest requests' }).count(), 0)
  t.equal(await storedRequests(page), '[]')
  t.same(complaints, [])
})
