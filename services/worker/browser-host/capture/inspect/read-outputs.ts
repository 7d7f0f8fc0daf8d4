import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Protocol } from 'devtools-protocol'
import { within } from '#shared/process/within.ts'
import { maskUrl } from '#shared/capture/mask-url.ts'
import { type OutputName, outputBytesMax } from '#shared/capture/files.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { everyElement } from '#worker/browser-host/capture/page/open-roots.ts'
import type { PageLog, RecordedName } from '#worker/browser-host/capture/record/page-log.ts'
import { runInIsolatedWorld } from '#worker/browser-host/capture/page/world.ts'

/** Most links of an output, and characters of their addresses and texts; most elements of a document whose tree is read. */
const linksMax = 5000
const [hrefMax, linkTextMax] = [2048, 1000]
const nodesMax = 50_000

type Page = Pick<OpenPage, 'session' | 'mainFrameId' | 'frameSessions'>

/** An output of the page; undefined if it could not be read, or is too large. `cut`: the part that it has, if that is not all. */
export type ReadOutput = {
  readonly name: OutputName
  readonly content: Buffer | undefined
  readonly cut?: string | undefined
}

const readLibrary = (url: string) => readFileSync(fileURLToPath(url), 'utf8')

/**
 * Expression that converts the page to Markdown, in an isolated world. A copy in a document of its own loads nothing and runs
 * nothing; a form's fields can hide methods of elements.
 */
const readMarkdown = `(() => {
    ${readLibrary(import.meta.resolve('turndown/dist/turndown.js'))}
    const plugin = ((exports) => { ${readLibrary(import.meta.resolve('@joplin/turndown-plugin-gfm'))}
      return exports })({})
    const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
    service.use(plugin.gfm)
    service.remove(['script', 'style', 'noscript', 'template', 'iframe'])
    const copy = document.implementation.createHTMLDocument('').importNode(document.body, true)
    const originals = [...document.body.querySelectorAll('*')]
    const { checkVisibility, remove } = Element.prototype
    for (const [at, element] of [...copy.querySelectorAll('*')].entries()) {
      const original = originals[at]
      if (!checkVisibility.call(original, { visibilityProperty: true })) remove.call(element)
      if (original.localName === 'img') element.setAttribute('src', original.src)
      if (original.localName !== 'a' || !original.hasAttribute('href')) continue
      if (/^(?:https?|mailto):$/.test(original.protocol)) element.setAttribute('href', original.href)
      else element.removeAttribute('href')
    }
    return service.turndown(copy)
  })()`

/** Expressions for the isolated world of the document that give the text of an output. */
const expressions: Record<Exclude<OutputName, RecordedName | 'accessibility' | 'mhtml'>, string> = {
  html: `(document.doctype ? new XMLSerializer().serializeToString(document.doctype) + '\\n' : '') + document.documentElement.outerHTML`,
  text: 'document.body.innerText',
  markdown: readMarkdown,
  links: `[...document.links].filter(({ protocol, href }) => /^https?:$/.test(protocol) && href.length <= ${hrefMax})
    .slice(0, ${linksMax}).map(({ href, innerText }) => ({ url: href, text: innerText.trim().slice(0, ${linkTextMax}) }))`,
}

type Link = { readonly url: string; readonly text: string }

const maskLinks = (links: readonly Link[]) => links.map(({ url, text }) => ({ url: maskUrl(url), text }))

/** The accessibility tree of the main frame: role, name, value, description and children of each element that is not ignored. */
const readAccessibility = async ({ session }: Page) => {
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const present = (fields: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))
  const buildTree = (id: string): unknown[] => {
    const node = byId.get(id)
    if (!node) return []
    const children = (node.childIds ?? []).flatMap(buildTree)
    if (node.ignored || node.role?.value === 'InlineTextBox') return children
    const { role, name, value, description } = node
    const texts = { role: role?.value, name: name?.value, value: value?.value, description: description?.value }
    return [{ ...present(texts), ...(children.length > 0 && { children }) }]
  }
  const [root] = nodes
  return root ? buildTree(root.nodeId)[0] : undefined
}

const bytesOf = ({ resources, childFrames = [] }: Protocol.Page.FrameResourceTree): number =>
  resources.reduce((sum, { contentSize = 0 }) => sum + contentSize, 0) +
  childFrames.reduce((sum, frame) => sum + bytesOf(frame), 0)

const readMhtml = async ({ session, frameSessions }: Page) => {
  const trees = await Promise.all(frameSessions().map((each) => each.send('Page.getResourceTree')))
  if (trees.reduce((sum, { frameTree }) => sum + bytesOf(frameTree), 0) > outputBytesMax) return undefined
  return (await session.send('Page.captureSnapshot', { format: 'mhtml' })).data
}

/** Whether the document is small enough to convert and to hold in memory. */
const isBounded = `(${everyElement})(document).length <= ${nodesMax} && document.documentElement.outerHTML.length <= ${outputBytesMax}`

const read = async (open: Page, name: Exclude<OutputName, RecordedName>, endsAt: number): Promise<unknown> => {
  const run = (expression: string) =>
    runInIsolatedWorld(
      { session: open.session, frameId: open.mainFrameId },
      expression,
      Math.max(1, endsAt - performance.now()),
    )
  const needsBound = name === 'accessibility' || name === 'markdown' || name === 'mhtml'
  if (needsBound && (await run(isBounded)) !== true) return undefined
  if (name === 'accessibility') return readAccessibility(open)
  if (name === 'mhtml') return readMhtml(open)
  if (name === 'links') return maskLinks((await run(expressions.links)) as Link[])
  return await run(`(${expressions[name]}).slice(0, ${outputBytesMax + 1})`)
}

/** Undefined if there is nothing, or too much. */
const encode = (value: unknown): Buffer | undefined => {
  const content = Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
  return content.length > 0 && content.length <= outputBytesMax ? content : undefined
}

/**
 * Reads the outputs of a page one after the other, in `waitMs` at most; those for which no time is left are unread. `log` has those
 * that were recorded while it loaded.
 */
export const readOutputs = async (
  open: Page,
  { names, log }: { readonly names: readonly OutputName[]; readonly log: PageLog },
  waitMs: number,
): Promise<ReadOutput[]> => {
  const endsAt = performance.now() + waitMs
  const late = () => new Error('the page did not respond in time')
  const readContent = async (name: OutputName): Promise<Omit<ReadOutput, 'name'>> => {
    if (name !== 'har' && name !== 'console') return { content: encode(await read(open, name, endsAt)) }
    const recorded = await log(name)
    return { content: encode(recorded?.text), cut: recorded?.cut }
  }
  const outputs: ReadOutput[] = []
  for (const name of names) {
    const leftMs = endsAt - performance.now()
    const unread = { content: undefined }
    const found = leftMs > 0 ? await within(readContent(name), leftMs, late).catch(() => unread) : unread
    outputs.push({ name, ...found })
  }
  return outputs
}
