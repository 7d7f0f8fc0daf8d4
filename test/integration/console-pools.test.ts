import t from 'tap'
import { violationsOn } from '#test/helpers/axe.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { buildConsole, consolePages, openPage } from '#test/helpers/console-pages.ts'
import { startSystem } from '#test/helpers/system.ts'

buildConsole()
const system = await startSystem(['--workers-max', '1'])
const browser = await startBareBrowser()
t.teardown(async () => {
  await browser.close()
  await system.stop()
})
const { complaints, openContext, signIn } = consolePages(browser, system)
const reason = 'New egress rules, until the network team has finished'

for (const [width, colorScheme] of [
  [360, 'dark'],
  [1280, 'light'],
] as const)
  t.test(`pools: an operator pauses one for a time and resumes it, at ${width} px in ${colorScheme}`, async (t) => {
    const page = await openContext({ width, colorScheme })
    await signIn(page, 'owner', '--operator')
    await openPage(page, 'Pools')
    const fits = async (what: string) => {
      t.same(await violationsOn(page), [], what)
      t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, `${what} is not wider`)
    }
    const pausing = page.getByRole('button', { name: 'Pause stealth' })
    await pausing.click()
    const dialog = page.getByRole('dialog', { name: 'Pause the pool stealth?' })
    const submit = dialog.getByRole('button', { name: 'Pause', exact: true })
    await submit.click()
    t.equal(await dialog.locator('input:invalid').count(), 1, 'a pause without a reason is not sent')
    await fits('the dialog')
    await page.keyboard.press('Escape')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Pause stealth', 'focus returns')

    await pausing.click()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason)
    await dialog.getByRole('combobox', { name: 'Until' }).selectOption('In four hours')
    await submit.click()
    await dialog.waitFor({ state: 'detached' })
    const paused = page.getByRole('paragraph').filter({ hasText: reason })
    await paused.getByText('Paused, nothing runs').waitFor()
    t.match(await paused.textContent(), /Began .*, ends in 4 h.*, by operator:[0-9a-f-]{36}: New egress rules/)
    t.equal(await pausing.count(), 0)
    await fits('a paused pool')

    const reader = await openContext({ width, colorScheme })
    await signIn(reader, 'viewer', '--operator')
    await openPage(reader, 'Pools')
    await reader.getByRole('paragraph').filter({ hasText: reason }).waitFor()
    t.equal(await reader.getByRole('button', { name: /^(?:Pause|Resume) / }).count(), 0, 'a reader only sees it')

    await page.getByRole('button', { name: 'Resume stealth' }).click()
    const resuming = page.getByRole('dialog', { name: 'Resume the pool stealth?' })
    await fits('the question')
    await resuming.getByRole('button', { name: 'Resume', exact: true }).click()
    await pausing.waitFor()
    t.equal(await paused.count(), 0)
    await openPage(page, 'Audit')
    await page.getByRole('cell', { name: 'pool.resume' }).first().waitFor()
    t.same(complaints, [])
  })
