import { Type } from 'typebox'
import { byDefault, enumSchema, flag, line } from '#shared/schema/fields.ts'
import { withDoc } from './kinds.ts'

/** What the page sees of the browser. */
export const emulation = {
  dark_mode: withDoc(byDefault(flag(), false), {
    description: 'Emulates a preference for the dark colour scheme.',
    example: true,
  }),
  reduced_motion: withDoc(byDefault(flag(), false), {
    description: 'Emulates a preference for reduced motion.',
    example: true,
  }),
  animations: withDoc(byDefault(enumSchema(['finish', 'allow']), 'finish'), {
    description:
      '`finish` shows animations and transitions at their end, endless ones at their start, so that the same page gives the same picture; `allow` lets them run.',
    example: 'allow',
    more: 'With `finish`, animated images (GIF, APNG, WebP, AVIF) are shown at their first frame, except with `stealth`, SVG images at the end of their animations, and drawings on a canvas are awaited for up to 1.5 seconds.',
  }),
  user_agent: withDoc(line(1, 500), {
    description: 'User agent of the browser.',
    example: 'Mozilla/5.0 (compatible; Example/1.0)',
    more: 'Defaults to that of the device; on desktop, to that of Chrome.',
  }),
  stealth: withDoc(byDefault(flag(), false), {
    description:
      'Captures with full Chromium, which appears to pages as an ordinary desktop browser. Returns 422 if the installation has no full Chromium.',
    example: true,
  }),
  media_type: withDoc(enumSchema(['screen', 'print']), {
    description: 'Media type of the styles of the page.',
    example: 'print',
    more: 'Defaults to `screen` for images, and for PDFs of a full page or an element; to `print` for other PDFs.',
  }),
  locale: withDoc(line(1, 35), {
    description:
      'Language and region of the browser, as a BCP 47 tag; pages see it in `Accept-Language` and in scripts.',
    example: 'fr-CA',
    more: 'Defaults to en-US.',
  }),
  timezone: withDoc(line(1, 100), {
    description: 'IANA name of the time zone of the browser.',
    example: 'Europe/Paris',
    more: 'Defaults to UTC.',
  }),
  geolocation: withDoc(
    Type.Object(
      {
        latitude: Type.Number({ minimum: -90, maximum: 90 }),
        longitude: Type.Number({ minimum: -180, maximum: 180 }),
        accuracy: Type.Optional(Type.Number({ minimum: 0, maximum: 100_000 })),
      },
      { additionalProperties: false },
    ),
    {
      description: 'Location that the browser reports to the page. It does not change the IP address of the requests.',
      example: { latitude: 48.8566, longitude: 2.3522 },
      more: 'Without it, location requests of the page are denied.',
    },
  ),
  proxy: withDoc(line(1, 2048), {
    description: 'URL of your own proxy: http or socks5, with a port. The password is never returned.',
    example: 'http://user:secret@proxy.example.com:3128',
    more: '`user:password@` is optional. All requests of the page go through the proxy.',
  }),
}
