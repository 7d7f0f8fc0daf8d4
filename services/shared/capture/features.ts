import { isRequested } from './is-requested.ts'
import type { CaptureParameters, ParameterName } from './options.ts'

/** Features that a plan may have, by the names that plan files and records use. */
export const featureNames = [
  'device_presets',
  'retina',
  'block_ads',
  'block_chats',
  'pdf',
  'html',
  'webhooks',
  'headers',
  'cookies',
  'batch',
  'dark_mode',
  'css',
  'js',
  'signed_urls',
  'stealth',
  'timezone',
  'extract_metadata',
  'markdown',
  'geolocation',
  'proxy',
] as const

/** A feature that a plan may or may not have. */
export type Feature = (typeof featureNames)[number]

/** Features that are used by requesting one parameter. `format` is not included: only its value `pdf` needs a feature. */
export const featureOfParameter: Partial<Record<ParameterName, Feature>> = {
  device: 'device_presets',
  retina: 'retina',
  scale: 'retina',
  block_ads: 'block_ads',
  block_trackers: 'block_ads',
  block_chats: 'block_chats',
  html: 'html',
  webhook_url: 'webhooks',
  upload_to: 'webhooks',
  headers: 'headers',
  header_origins: 'headers',
  cookies: 'cookies',
  local_storage: 'cookies',
  session_storage: 'cookies',
  dark_mode: 'dark_mode',
  css: 'css',
  js: 'js',
  wait_for_function: 'js',
  stealth: 'stealth',
  timezone: 'timezone',
  extract_metadata: 'extract_metadata',
  outputs: 'extract_metadata',
  markdown: 'markdown',
  geolocation: 'geolocation',
  proxy: 'proxy',
}

/** The plan features that a request uses, in the order of `featureNames`. A flag at `false` or its default is not a use. */
export const usedFeatures = (supplied: CaptureParameters): Feature[] => {
  const used = new Set<Feature>()
  for (const [name, feature] of Object.entries(featureOfParameter) as [ParameterName, Feature][]) {
    if (isRequested(name, supplied[name])) used.add(feature)
  }
  if (supplied.format === 'pdf') used.add('pdf')
  return featureNames.filter((feature) => used.has(feature))
}
