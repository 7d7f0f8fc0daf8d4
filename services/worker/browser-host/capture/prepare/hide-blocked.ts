import type { Warning } from '#shared/capture/result-details.ts'
import type { Blocker, HidingRule, Tokens } from '#worker/browser-host/blocking/blocker.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { followCausedNavigation } from '#worker/browser-host/capture/page/watch-document.ts'
import { runInEveryRoot, runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import { consentLeft } from '#worker/browser-host/capture/shoot/warnings.ts'
import { hideMatches, readTokens, showsAny } from './blocking-scripts.ts'
import { hideBanners } from './consent-banners.ts'
import { optOut } from './opt-out.ts'
import { hidePopups } from './popups.ts'

/** Fraction of the time for a banner that opting out may take. The rest is for a document that it leads to. */
const optOutPart = 1 / 3

const rootsMax = 200
const tokensMax = 20_000

/** How to opt out of banners; `waitMs` returns the milliseconds that this may take from now on. */
type ConsentOptOut = { readonly script: ConsentScript; readonly waitMs: () => number }

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value.slice(0, tokensMax) : []).filter((each): each is string => typeof each === 'string')

/** What was read of the roots of a page; `asksConsent`: their text speaks of what is consented to. */
type PageTokens = Tokens & { readonly hasFrames: boolean; readonly asksConsent: boolean }

/** The tokens of all roots together; drops malformed values, which a page could return. */
const joinTokens = (read: readonly unknown[]): PageTokens => {
  const each = read.slice(0, rootsMax).map((one) => (typeof one === 'object' && one !== null ? one : {}))
  const all = (name: keyof Tokens) => [...new Set(each.flatMap((one) => texts((one as Record<string, unknown>)[name])))]
  return {
    ids: all('ids'),
    classes: all('classes'),
    hrefs: all('hrefs'),
    bases: all('bases'),
    hasFrames: each.some((one) => Number((one as { frames?: unknown }).frames) > 0),
    asksConsent: each.some((one) => (one as { asksConsent?: unknown }).asksConsent === true),
  }
}

type Steps = Pick<Blocker, 'hidingFor' | 'bases'>

/** The rules for the page's current content, and what else was read of it. Reads the main document first, because most pages have none. */
const findRules = async (open: OpenPage, blocker: Steps) => {
  const argument = JSON.stringify(blocker.bases)
  const own = joinTokens([await runInMainFrame(open, `(${readTokens}).call(document, ${argument})`)])
  const tokens = own.hasFrames ? joinTokens(await runInEveryRoot(open, readTokens, blocker.bases)) : own
  const { asksConsent } = tokens
  return { ...blocker.hidingFor(open.document.address(), tokens), hasFrames: own.hasFrames, asksConsent }
}

/** Hides overlays that no rule names by a script for each root; returns whether any is still visible. */
const hideUnlisted = async (open: OpenPage, script: string, hasFrames: boolean): Promise<boolean> => {
  const hidden = hasFrames
    ? await runInEveryRoot(open, script, {})
    : [await runInMainFrame(open, `(${script}).call(document)`)]
  return hidden.some((each) => Number(each) > 0)
}

const listSelectors = (rules: readonly HidingRule[]): string[] =>
  rules.filter(({ style }) => style === undefined).map(({ selector }) => selector)

/**
 * Hides blocked elements for one capture. Cheap steps come first: if no rule applies to the page, only its tokens are read, and
 * the consent script runs only if a known banner is visible. Bounded unless the renderer hangs; a document that is
 * replaced meanwhile is left unchanged.
 */
export const createHider = (open: OpenPage, blocker: Blocker, { script, waitMs }: ConsentOptOut) => {
  let isConsentSeen = false

  const dismissConsent = async (selectors: readonly string[]): Promise<boolean> => {
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
    const isChanged = await dismissConsent(listSelectors(found.consent))
    const { consent, others, hasFrames, asksConsent } = isChanged ? await findRules(open, blocker) : found
    const rules = [...consent, ...others]
    const argument = { rules, consent: listSelectors(consent), isUnlocked: isConsentSeen }
    const hasRules = rules.length > 0 || isConsentSeen
    const isListedLeft = hasRules && (await runInEveryRoot(open, hideMatches, argument)).includes(true)
    const isUnlistedLeft = blocker.hidesConsent && asksConsent && (await hideUnlisted(open, hideBanners, hasFrames))
    if (blocker.hidesPopups) await hideUnlisted(open, hidePopups, hasFrames)
    return isListedLeft || isUnlistedLeft
  }
  return {
    /** Hides current matches; first opts out of a banner that is visible for the first time. May be called again. */
    apply: async (): Promise<void> => void (await hide().catch(() => false)),
    /** Hides matches that were added since, and warns if a banner is visible even then. */
    finish: async (): Promise<Warning[]> => ((await hide().catch(() => false)) ? [consentLeft] : []),
  }
}

/** See `createHider`. */
export type Hider = Readonly<ReturnType<typeof createHider>>
