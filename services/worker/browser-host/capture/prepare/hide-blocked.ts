import type { Warning } from '#shared/queue/messages.ts'
import type { Blocker, HidingRule, Tokens } from '#worker/browser-host/blocking/blocker.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { followCausedNavigation } from '#worker/browser-host/capture/page/watch-document.ts'
import { runInEveryRoot, runInOwnWorld } from '#worker/browser-host/capture/page/world.ts'
import { consentLeft } from '#worker/browser-host/capture/warnings.ts'
import { hideMatches, readTokens, showsAny } from './blocking-scripts.ts'
import { optOut } from './opt-out.ts'

/** Of the time for getting rid of a banner: for opting out. The rest is for a document to which that leads. */
const optOutPart = 1 / 3

const rootsMax = 200
const tokensMax = 20_000

/** How banners are opted out of, and milliseconds that this may take from the moment of asking. */
type OptingOut = { readonly script: ConsentScript; readonly waitMs: () => number }

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value.slice(0, tokensMax) : []).filter((each): each is string => typeof each === 'string')

/** The tokens of all roots together, whatever a page made of them. */
const joinTokens = (read: readonly unknown[]): Tokens & { readonly hasFrames: boolean } => {
  const each = read.slice(0, rootsMax).map((one) => (typeof one === 'object' && one !== null ? one : {}))
  const all = (name: keyof Tokens) => [...new Set(each.flatMap((one) => texts((one as Record<string, unknown>)[name])))]
  return {
    ids: all('ids'),
    classes: all('classes'),
    hrefs: all('hrefs'),
    bases: all('bases'),
    hasFrames: each.some((one) => Number((one as { frames?: unknown }).frames) > 0),
  }
}

type Steps = Pick<Blocker, 'hidingFor' | 'bases'>

/** The rules for what the page shows by now. Its document is looked at by itself: most pages have no frames. */
const findRules = async (open: OpenPage, blocker: Steps): Promise<ReturnType<Blocker['hidingFor']>> => {
  const argument = JSON.stringify(blocker.bases)
  const own = joinTokens([await runInOwnWorld(open, `(${readTokens}).call(document, ${argument})`)])
  const tokens = own.hasFrames ? joinTokens(await runInEveryRoot(open, readTokens, blocker.bases)) : own
  return blocker.hidingFor(open.document.address(), tokens)
}

const selectorsOf = (rules: readonly HidingRule[]): string[] =>
  rules.filter(({ style }) => style === undefined).map(({ selector }) => selector)

/**
 * Makes the hiding of one capture. Cheap things come first: nothing but a look at ids and classes where no rule is about the
 * page, and the consent rules run only where a known banner is seen. Bounded unless the renderer hangs; a document that
 * goes away meanwhile is left as it is.
 */
export const createHiding = (open: OpenPage, blocker: Blocker, { script, waitMs }: OptingOut) => {
  let isConsentSeen = false

  const getRidOfConsent = async (selectors: readonly string[]): Promise<boolean> => {
    if (isConsentSeen || selectors.length === 0) return false
    isConsentSeen = (await runInEveryRoot(open, showsAny, selectors)).includes(true)
    if (!isConsentSeen) return false
    const leftMs = waitMs()
    const endsAt = performance.now() + leftMs
    await optOut(open, script, leftMs * optOutPart)
    await followCausedNavigation(open, endsAt)
    return true
  }
  const hide = async (): Promise<boolean> => {
    if (!blocker.hides) return false
    const found = await findRules(open, blocker)
    const isChanged = await getRidOfConsent(selectorsOf(found.consent))
    const { consent, others } = isChanged ? await findRules(open, blocker) : found
    const rules = [...consent, ...others]
    if (rules.length === 0 && !isConsentSeen) return false
    const argument = { rules, consent: selectorsOf(consent), isUnlocked: isConsentSeen }
    return (await runInEveryRoot(open, hideMatches, argument)).includes(true)
  }
  return {
    /** Hides what is there by now; a banner that is seen for the first time is opted out of before. May be called again. */
    apply: async (): Promise<void> => void (await hide().catch(() => false)),
    /** Hides once more what has come since, and warns where a banner can be seen even so. */
    finish: async (): Promise<Warning[]> => ((await hide().catch(() => false)) ? [consentLeft] : []),
  }
}

/** Hides what lists name, and gets rid of consent banners; for one capture. */
export type Hiding = Readonly<ReturnType<typeof createHiding>>
