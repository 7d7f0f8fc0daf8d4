import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually } from './eventually.ts'

// Speaks WebDriver BiDi with Debian's Firefox. Playwright does too, but its version needs commands that this Firefox lacks
// (emulation.setMediaFeaturesOverride).

/** Debian's Firefox, installed by scripts/install-firefox.sh. */
export const firefoxPath = '/usr/bin/firefox-esr'

const commandMs = 60_000

type Answer = { readonly id?: number; readonly method?: string; readonly params?: object; readonly error?: string }
type Element = { readonly sharedId: string }
type Role = 'heading' | 'link' | 'button' | 'radio' | 'textbox' | 'menuitem' | 'css'
type WindowOptions = { readonly width: number; readonly colorScheme: 'light' | 'dark' }

// Roles and names as far as the console uses them: the locator of WebDriver BiDi takes 0.1 to 4 s, minutes on a loaded machine, and
// never answers if the document is replaced meanwhile. The tests in Chromium use real accessible names.
const findByRole = `(role, name) => {
  if (role === 'css') return document.querySelector(name)
  const selectors = {
    heading: 'h1, h2, h3',
    link: 'a',
    button: 'button',
    radio: '[type=radio]',
    textbox: 'textarea, input:not([type=radio]), [contenteditable=true]',
    menuitem: '[role=menuitem]',
  }
  const nameOf = (element) =>
    element.ariaLabel ??
    document.getElementById(element.getAttribute('aria-labelledby'))?.textContent ??
    element.labels?.[0]?.textContent ??
    element.textContent
  const isShown = (element) => element.checkVisibility() && nameOf(element).trim() === name
  return [...document.querySelectorAll(selectors[role])].find(isShown) ?? null
}`

/** A window of Firefox. Elements are found by their role and whole name, or by `css` and a selector. */
export class Firefox implements AsyncDisposable {
  /** Errors of scripts and of the content security policy. */
  readonly complaints: string[] = []
  readonly #program: ChildProcess
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #lastId = 0
  #context = ''

  constructor(program: ChildProcess, socket: WebSocket) {
    this.#program = program
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data)) as Answer))
  }

  #receive(answer: Answer): void {
    if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer)
    const { level, text } = (answer.params ?? {}) as { level?: string; text?: string }
    if (answer.method === 'log.entryAdded' && level === 'error') this.complaints.push(text ?? '')
  }

  async #send<Result>(method: string, params: object): Promise<Result> {
    const id = (this.#lastId += 1)
    const answered = new Promise<Answer>((resolve, reject) => {
      this.#waiting.set(id, resolve)
      AbortSignal.timeout(commandMs).addEventListener('abort', () =>
        reject(new Error(`Firefox: no answer to ${method}`)),
      )
    })
    this.#socket.send(JSON.stringify({ id, method, params }))
    const answer = (await answered) as Answer & { message?: string; result: Result }
    this.#waiting.delete(id)
    if (answer.error !== undefined) throw new Error(`Firefox: ${method}: ${answer.error}: ${answer.message}`)
    return answer.result
  }

  async openWindow({ width }: WindowOptions): Promise<void> {
    await this.#send('session.new', { capabilities: {} })
    await this.#send('session.subscribe', { events: ['log.entryAdded'] })
    const { context } = await this.#send<{ context: string }>('browsingContext.create', { type: 'tab' })
    this.#context = context
    await this.#send('browsingContext.setViewport', { context, viewport: { width, height: 900 } })
  }

  async goto(url: string): Promise<void> {
    await this.#send('browsingContext.navigate', { context: this.#context, url, wait: 'complete' })
  }

  /** The value of a JavaScript expression, a text, number or boolean. */
  async evaluate(expression: string): Promise<unknown> {
    const target = { context: this.#context }
    const script = { expression, target, awaitPromise: true }
    return (await this.#send<{ result: { value?: unknown } }>('script.evaluate', script)).result.value
  }

  async #call<Result>(functionDeclaration: string, args: readonly object[]): Promise<Result> {
    const call = { functionDeclaration, arguments: args, target: { context: this.#context }, awaitPromise: true }
    return (await this.#send<{ result: Result }>('script.callFunction', call)).result
  }

  /** Waits at most a minute for an element. */
  async find(role: Role, name: string): Promise<Element> {
    let found: Partial<Element> = {}
    const wanted = [role, name].map((value) => ({ type: 'string', value }))
    const look = async () => {
      found = await this.#call(findByRole, wanted)
      return found.sharedId !== undefined
    }
    await eventually(look, { withinMs: commandMs, what: `${role} '${name}' in Firefox` })
    return found as Element
  }

  async click(role: Role, name: string): Promise<void> {
    const element = await this.find(role, name)
    await this.#call(`(element) => element.scrollIntoView({ block: 'center', behavior: 'instant' })`, [element])
    const actions = [
      { type: 'pointerMove', x: 0, y: 0, origin: { type: 'element', element } },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    await this.#send('input.performActions', {
      context: this.#context,
      actions: [{ type: 'pointer', id: 'mouse', actions }],
    })
  }

  async type(role: Role, name: string, text: string): Promise<void> {
    await this.click(role, name)
    const actions = Array.from(text).flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    await this.#send('input.performActions', {
      context: this.#context,
      actions: [{ type: 'key', id: 'keys', actions }],
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#program.exitCode === null ? once(this.#program, 'exit') : undefined
    this.#socket.close()
    this.#program.kill('SIGTERM')
    await ended
  }
}

/** Starts Firefox with a new profile, in the home folder of which it keeps everything. */
export const startFirefox = async (
  t: { readonly teardown: (clean: () => Promise<void>) => void },
  options: WindowOptions,
): Promise<Firefox> => {
  const folder = await mkdtemp(join(tmpdir(), 'firefox-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const scheme = options.colorScheme === 'dark' ? 0 : 1
  const preferences = {
    'layout.css.prefers-color-scheme.content-override': scheme,
    'browser.shell.checkDefaultBrowser': false,
  }
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${value});\n`)
  await writeFile(join(folder, 'user.js'), lines.join(''))
  const program = spawn(firefoxPath, ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder },
  })
  const failed = once(program, 'exit').then(([code]) => Promise.reject(new Error(`Firefox ended with ${code}`)))
  const listening = async () => {
    for await (const line of createInterface({ input: program.stderr })) {
      const [, url] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? []
      if (url !== undefined) return url
    }
    throw new Error('Firefox does not listen')
  }
  const socket = new WebSocket(`${await Promise.race([listening(), failed])}/session`)
  failed.catch(() => {})
  program.stderr.resume()
  const firefox = new Firefox(program, socket)
  t.teardown(() => firefox[Symbol.asyncDispose]())
  await Promise.race([once(socket, 'open'), failed])
  await firefox.openWindow(options)
  return firefox
}
