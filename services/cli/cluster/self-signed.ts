import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A certificate that is its own authority, and its private key, as PEM. */
export type SelfSigned = { readonly certificate: string; readonly key: string }

/** DER (X.690): a tag, the length of the content, the content. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const size = content.length < 128 ? [] : [...Buffer.from(content.length.toString(16).padStart(4, '0'), 'hex')]
  return Buffer.concat([Buffer.of(tag, size.length === 0 ? content.length : 0x80 + size.length, ...size), content])
}
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
const oid = (...bytes: readonly number[]) => der(0x06, Buffer.from(bytes))
const bits = (content: Uint8Array) => der(0x03, Buffer.of(0), content)
/** A UTCTime until 2049, then a GeneralizedTime (RFC 5280 §4.1.2.5). */
const time = (ms: number) => {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}
const yes = der(0x01, Buffer.of(0xff))

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const [commonName, serialNumber] = [oid(0x55, 0x04, 0x03), oid(0x55, 0x04, 0x05)]
const named = (attribute: Buffer, tag: number, value: string) =>
  der(0x31, sequence(attribute, der(tag, Buffer.from(value))))
const [subjectAltName, basicConstraints, keyUsage] = [
  oid(0x55, 0x1d, 0x11),
  oid(0x55, 0x1d, 0x13),
  oid(0x55, 0x1d, 0x0f),
]
/** Bit 0 of X.509's key usage. */
const digitalSignature = Buffer.of(0x03, 0x02, 0x07, 0x80)

/**
 * Makes a certificate of a server (RFC 5280) with a P-256 key, which signs nothing else: it is no authority. `dnsNames`: ASCII, together
 * less than 60 KB; the first is the common name too, of which only 64 characters are used.
 */
export const makeSelfSigned = (dnsNames: readonly string[], fromMs: number, untilMs: number): SelfSigned => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const serial = randomBytes(16)
  // Positive, and without a leading zero.
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f)
  // The serial number makes it unique: of several trusted certificates with one name OpenSSL takes any for the issuer.
  const name = sequence(
    named(commonName, 0x0c, (dnsNames[0] ?? '').slice(0, 64)),
    named(serialNumber, 0x13, serial.toString('hex')),
  )
  const names = sequence(...dnsNames.map((each) => der(0x82, Buffer.from(each))))
  const extensions = [
    sequence(subjectAltName, der(0x04, names)),
    sequence(basicConstraints, yes, der(0x04, sequence())),
    sequence(keyUsage, yes, der(0x04, digitalSignature)),
  ]
  const content = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    ecdsaWithSha256,
    name,
    sequence(time(fromMs), time(untilMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signed = sequence(content, ecdsaWithSha256, bits(sign('sha256', content, privateKey)))
  const lines = signed.toString('base64').replaceAll(/.{64}/g, '$&\n').trim()
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
