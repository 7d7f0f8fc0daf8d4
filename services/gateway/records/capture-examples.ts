import { exampleIds, exampleTimes } from './example-values.ts'

const exampleOptions = { width: 1280, height: 800, format: 'png' }

/** Example of a screenshot just accepted. */
export const acceptedExample = {
  id: exampleIds.screenshot,
  status: 'pending',
  url: 'https://example.com/',
  options: exampleOptions,
  created_at: exampleTimes.created,
} as const

/** Example of a completed screenshot. */
export const completedExample = {
  ...acceptedExample,
  status: 'completed',
  options: {
    ...exampleOptions,
    quality: 80,
    device: 'desktop',
    block_ads: false,
    block_cookies: true,
    dark_mode: false,
    delay: 0,
    timeout: 30,
    retina: false,
    full_page: false,
    extract_metadata: true,
  },
  started_at: '2026-03-01T09:30:00.223456Z',
  completed_at: exampleTimes.completed,
  expires_at: '2026-03-08T09:30:01.823456Z',
  timings: {
    queue: 100,
    claim: 10,
    open: 40,
    navigate: 610,
    prepare: 30,
    settle: 220,
    shoot: 420,
    encode: 170,
    inspect: 10,
    store: 60,
    commit: 20,
    total: 1600,
  },
  file_size: 48_211,
  mime_type: 'image/png',
  width: 1280,
  height: 800,
  processing_time_ms: 1600,
  image_url: `https://shots.example.com/v1/screenshots/${exampleIds.screenshot}/image`,
  cached: false,
  target_status: 200,
  final_url: 'https://example.com/',
  metadata: {
    title: 'Example Domain',
    language: 'en',
    favicon: 'https://example.com/icon.svg',
    og: { title: 'Example Domain', image: 'https://example.com/card.png' },
  },
  warnings: [],
} as const
