import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { evalSnippets, filterCompactRules, type IndexedCMPRuleset } from '@duckduckgo/autoconsent'

/** Addresses are cut to this before rules are selected. */
const urlCharactersMax = 2048
/** Most queued messages; the rules send about fifty at once. */
const messagesMax = 200

const config = {
  enabled: true,
  autoAction: 'optOut',
  // Banners are hidden by our own style afterwards.
  enablePrehide: false,
  enableCosmeticRules: false,
  enableHeuristicDetection: false,
  heuristicMode: 'reject',
  // The second attempt includes the heuristics.
  detectRetries: 1,
  logs: { errors: false },
}

/** Passes on only the messages that the host handles: snippets to run, a banner found, and the end. */
const wrap = (script: string, rules: string) => `(() => {
  if (globalThis.shutterfleetConsent) return
  const messages = []
  let notify = () => {}
  const put = (message) => {
    if (messages.length < ${messagesMax}) messages.push(message)
    notify()
  }
  globalThis.autoconsentSendMessage = (message) => {
    if (message.type === 'eval') put({ id: message.id, snippet: message.snippetId })
    else if (message.type === 'popupFound') put({ found: true })
    else if (message.type === 'optOutResult') put({ end: message.result ? 'opted-out' : 'failed' })
    else if (message.type === 'report' && message.state.lifecycle === 'nothingDetected') put({ end: 'nothing-found' })
    return Promise.resolve()
  }
  ${script}
  globalThis.shutterfleetConsent = {
    next: async (results) => {
      for (const { id, result } of results) autoconsentReceiveMessage({ type: 'evalResp', id, result })
      if (messages.length === 0) await new Promise((resolve) => { notify = resolve })
      return messages.splice(0)
    },
  }
  autoconsentReceiveMessage({ type: 'initResp', config: ${JSON.stringify(config)}, rules: { autoconsent: [], compact: ${rules} } })
})()`

const snippets: Readonly<Record<string, unknown>> = evalSnippets

/** Reads autoconsent's script, which operates a page's consent platform, and its rules, which are parsed on first use. */
export const readConsentScript = () => {
  const readModule = (path: string) => readFileSync(fileURLToPath(import.meta.resolve(path)), 'utf8')
  const script = readFileSync(
    fileURLToPath(new URL('./autoconsent.playwright.js', import.meta.resolve('@duckduckgo/autoconsent'))),
    'utf8',
  )
  const text = readModule('@duckduckgo/autoconsent/rules/compact-rules.json')
  let parsed: IndexedCMPRuleset | undefined
  return {
    /**
     * Returns a script that opts out of the banner of a document at `url`: the page's, or a frame's. Run it in an isolated
     * world; it defines `shutterfleetConsent`, whose `next(results)` resolves to the script's next messages.
     */
    scriptFor: (url: string, { isMain }: { readonly isMain: boolean }): string => {
      parsed ??= JSON.parse(text) as IndexedCMPRuleset
      const rules = filterCompactRules(parsed, { url: url.slice(0, urlCharactersMax), mainFrame: isMain })
      return wrap(script, JSON.stringify(rules))
    },
    /** Source of the named autoconsent function, for the page's main world; undefined if autoconsent has none of that name. */
    snippet: (name: string): string | undefined => {
      const found = Object.hasOwn(snippets, name) ? snippets[name] : undefined
      return typeof found === 'function' ? found.toString() : undefined
    },
  }
}

/** See `readConsentScript`. */
export type ConsentScript = Readonly<ReturnType<typeof readConsentScript>>
