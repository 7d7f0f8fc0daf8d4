import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'

/** How to recognise a challenge page: by its elements, the addresses that it loads, or its words. */
type Challenge = {
  readonly vendor: string
  /** Matches an element, or the address of a script or frame that it loads. */
  readonly elements: string
  /** Matches the page's title or text; required in addition if given. */
  readonly words?: RegExp
}

/** Challenge pages, from vendors' documentation and from what such pages have in common. */
const challenges: readonly Challenge[] = [
  {
    vendor: 'Cloudflare',
    elements:
      '#challenge-form, #challenge-running, #challenge-error-text, .cf-browser-verification, script[src*="/cdn-cgi/challenge-platform/"]',
    words:
      /just a moment|checking (?:your browser|if the site connection)|verify(?:ing)? (?:that )?you are (?:a )?human|attention required/i,
  },
  { vendor: 'DataDome', elements: 'script[src*="captcha-delivery.com"], iframe[src*="captcha-delivery.com"]' },
  {
    vendor: 'HUMAN',
    elements:
      '#px-captcha, script[src*="px-cloud.net"][src*="captcha"], meta[name="description"][content="px-captcha"]',
  },
  {
    vendor: 'Imperva',
    elements: 'iframe[src*="_Incapsula_Resource"], script[src*="_Incapsula_Resource"], #main-iframe[src*="Incapsula"]',
  },
  { vendor: 'Akamai', elements: '#sec-if-cpt-container, #sec-cpt-if, script[src*="/_sec/cp_challenge/"]' },
  {
    vendor: 'AWS WAF',
    elements: 'script[src*="awswaf.com"], #captcha-container, #challenge-container',
    words: /human verification|let's confirm you are human|confirm you are human|javascript is disabled/i,
  },
  {
    vendor: 'Google',
    elements: '#captcha-form, form[action*="/sorry/"], .g-recaptcha',
    words: /unusual traffic|our systems have detected/i,
  },
  {
    vendor: 'hCaptcha',
    elements: '.h-captcha, iframe[src*="hcaptcha.com"]',
    words: /one more step|complete the security check|(?:prove|verify|confirm) (?:that )?you(?:'re| are) (?:a )?human/i,
  },
  { vendor: 'Kasada', elements: 'script[src*="/ips.js"], script[src*="149e9513-01fa-4fb0-aad4-566afd725d1b"]' },
  { vendor: 'Sucuri', elements: 'body', words: /sucuri website firewall/i },
  {
    vendor: 'DDoS-Guard',
    elements: 'script[src*="ddos-guard"], #ddg-captcha, [data-ddg-origin]',
    words: /checking your browser|ddos-guard/i,
  },
  { vendor: 'Vercel', elements: 'body', words: /vercel security checkpoint/i },
  { vendor: 'Anubis', elements: '#anubis_challenge, script[src*="/.within.website/x/cmd/anubis/"]' },
  {
    vendor: 'GeeTest',
    elements: '.geetest_captcha, script[src*="geetest.com"]',
    words: /security check|(?:prove|verify|confirm) (?:that )?you(?:'re| are) (?:a )?human/i,
  },
  {
    vendor: 'Arkose Labs',
    elements: 'iframe[src*="arkoselabs.com"], iframe[src*="funcaptcha.com"]',
    words: /(?:prove|verify|confirm) (?:that )?you(?:'re| are) (?:a )?human|not a robot/i,
  },
  {
    vendor: 'F5',
    elements: 'body',
    words: /the requested url was rejected\. please consult with your administrator|your support id is/i,
  },
]

/** A page with more text than this shows real content, even if a captcha guards its forms. */
const charactersMax = 1500

/** Evaluates to the words of a page and which of the selectors match; to null for a page with more text than `charactersMax`. */
const readPage = (selectors: readonly string[]) => `(() => {
  const text = document.body?.innerText ?? ''
  if (text.length > ${charactersMax}) return null
  const found = ${JSON.stringify(selectors)}.map((selector) => document.querySelector(selector) !== null)
  return { words: document.title + '\\n' + text, found }
})()`

type Read = { readonly words: string; readonly found: readonly boolean[] }

/** The vendor of the challenge that the page shows instead of its content; undefined if there is none. */
export const findChallenge = async (open: Pick<OpenPage, 'mainFrameId' | 'session'>): Promise<string | undefined> => {
  const script = readPage(challenges.map(({ elements }) => elements))
  const read = (await runInMainFrame(open, script).catch(() => null)) as Read | null
  if (!read) return undefined
  return challenges.find(({ words }, index) => read.found[index] && (words === undefined || words.test(read.words)))
    ?.vendor
}
