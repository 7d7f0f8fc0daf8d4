import type { Protocol } from 'devtools-protocol'

type Brand = Protocol.Emulation.UserAgentBrandVersion

/** The identity of a browser; without client hints if the named browser has none, such as Safari and Firefox. */
export type Identity = Protocol.Emulation.SetUserAgentOverrideRequest

/** Operating systems by user agent, with `navigator.platform` and their name in client hints; the first match counts. */
const systems = [
  { named: /iPhone/, platform: 'iPhone', hint: 'iOS' },
  { named: /iPad/, platform: 'iPad', hint: 'iOS' },
  { named: /Android (?<version>[\d.]+)/, platform: 'Linux armv81', hint: 'Android' },
  { named: /Windows NT (?<version>[\d.]+)/, platform: 'Win32', hint: 'Windows' },
  { named: /Mac OS X (?<version>[\d_]+)/, platform: 'MacIntel', hint: 'macOS' },
  // Chromium reports no version for Linux.
  { named: /(?:)/, platform: 'Linux x86_64', hint: 'Linux' },
] as const

const detectSystem = (userAgent: string) => {
  for (const { named, platform, hint } of systems) {
    const found = named.exec(userAgent)
    if (found) return { platform, hint, version: found.groups?.['version']?.replaceAll('_', '.') ?? '' }
  }
  throw new Error('the last system matches all')
}

/**
 * The brands of a version of Chromium, with the GREASE brand that keeps sites from expecting a fixed list. Its name and index
 * depend on the version (components/embedder_support/user_agent_utils.cc, GetGreasedUserAgentBrandVersion).
 */
const createBrands = (version: string, greaseSuffix: string): Brand[] => {
  const major = Number.parseInt(version, 10)
  const signs = [' ', '(', ':', '-', '.', '/', ')', ';', '=', '?', '_']
  const name = `Not${signs[major % signs.length]}A${signs[(major + 1) % signs.length]}Brand`
  const grease = { brand: name, version: ['8', '99', '24'][major % 3] + greaseSuffix }
  const chromium = { brand: 'Chromium', version }
  return major % 2 === 0 ? [grease, chromium] : [chromium, grease]
}

const defaultUserAgent = (major: string) =>
  `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`

/**
 * The identity that `userAgent` names, else that of a browser of this version without the word "Headless", which sites take
 * for a bot. User agent, client hints and platform are consistent.
 */
export const createIdentity = (
  version: string,
  { userAgent, locale }: { readonly userAgent: string | undefined; readonly locale: string },
): Identity => {
  const ownMajor = version.split('.')[0] ?? ''
  const named = userAgent?.replace('{major}', ownMajor) ?? defaultUserAgent(ownMajor)
  const major = /(?:^| )Chrome\/(\d+)/.exec(named)?.[1]
  const { platform, hint, version: platformVersion } = detectSystem(named)
  const languages = [...new Set([locale, locale.split('-')[0]])].join()
  // The browser's own languages are those of its start.
  const common = { userAgent: named, platform, ...(locale !== 'en-US' && { acceptLanguage: languages }) }
  if (major === undefined) return common
  const fullVersion = major === ownMajor ? version : `${major}.0.0.0`
  const isArm = hint === 'Android'
  const userAgentMetadata = {
    brands: createBrands(major, ''),
    fullVersionList: createBrands(fullVersion, '.0.0.0'),
    fullVersion,
    platform: hint,
    platformVersion,
    architecture: isArm ? '' : 'x86',
    bitness: isArm ? '' : '64',
    model: '',
    mobile: /\bMobile\b/.test(named),
  }
  return { ...common, userAgentMetadata }
}
